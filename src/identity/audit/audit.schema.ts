import { z } from 'zod'
import { pageQuery } from '../../lib/http/paging.ts'
import { instantSchema, timeSchema } from '../../lib/http/schemas.ts'
import { type AuditEntry, actionsOf } from './audit-entry.ts'

export const AuditQuery = pageQuery.extend({
  action: z
    .string()
    .refine(text => actionsOf(text).length > 0, 'must be an action such as token.created, or a prefix such as token.')
    .optional()
    .describe('one action such as token.created, or a prefix ending in a dot such as token. for all of that kind'),
  actorId: z.uuid('must be a UUID').optional().describe('ID of the user who acted'),
  targetId: z.string().max(256).optional().describe('ID of the target'),
  from: instantSchema.optional().describe('start of the time range, inclusive'),
  to: instantSchema.optional().describe('end of the time range, exclusive'),
  format: z
    .enum(['json', 'ndjson'])
    .default('json')
    .describe('ndjson returns all matching entries as a file, one per line, without paging'),
})
export type AuditQuery = z.infer<typeof AuditQuery>

export const AuditEntryView = z
  .object({
    id: z.uuid(),
    at: timeSchema,
    action: z.string(),
    actor: z
      .object({ id: z.uuid().nullable(), email: z.string().nullable() })
      .nullable()
      .describe('as of the time of the action; null for the command line, Patchbay itself and anonymous users'),
    target: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
    address: z.string().nullable().describe('network address of the actor'),
    change: z.json().describe('what changed; null if there are no details'),
    organizationId: z.uuid().nullable().describe('null for the installation, or if the organization has been deleted'),
  })
  .meta({ id: 'AuditEntry' })

export const toAuditEntryView = (entry: AuditEntry): z.infer<typeof AuditEntryView> => {
  const { id, at, action, actorId, actorEmail, target, address, change, organizationId } = entry
  const isKnown = actorId !== undefined || actorEmail !== undefined
  return {
    id,
    at,
    action,
    actor: isKnown ? { id: actorId ?? null, email: actorEmail ?? null } : null,
    target: { type: target.type, id: target.id ?? null, name: target.name ?? null },
    address: address ?? null,
    change: change ?? null,
    organizationId: organizationId ?? null,
  }
}
