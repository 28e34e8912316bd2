import { z } from 'zod'
import { instantSchema, pageQuery, timeSchema } from '../http/index.ts'
import type { AuditFilter } from './audit.store.ts'
import { AUDIT_ACTIONS, type AuditEntry } from './audit-entry.ts'

/** The one action named, or those that begin with a name that ends in a dot. */
const actionsOf = (text: string) =>
  AUDIT_ACTIONS.filter(action => action === text || (text.endsWith('.') && action.startsWith(text)))

export const AuditQuery = pageQuery.extend({
  action: z
    .string()
    .refine(text => actionsOf(text).length > 0, 'is no action such as token.created, nor the start of some, as token.')
    .optional()
    .describe('one action such as token.created, or all of a kind with the dot at the end: token.'),
  actorId: z.uuid('is no UUID').optional().describe('id of the user who did it'),
  targetId: z.string().max(256).optional().describe('id of what it was done to'),
  from: instantSchema.optional().describe('from this instant on'),
  to: instantSchema.optional().describe('up to this instant, without it'),
  format: z
    .enum(['json', 'ndjson'])
    .default('json')
    .describe('ndjson: all that match as a file, one entry a line; then there are no pages'),
})
export type AuditQuery = z.infer<typeof AuditQuery>

export const filterOf = ({ action, actorId, targetId, from, to }: AuditQuery): AuditFilter => ({
  actions: action === undefined ? undefined : actionsOf(action),
  actorId,
  targetId,
  from,
  to,
})

export const AuditEntryView = z
  .object({
    id: z.uuid(),
    at: timeSchema,
    action: z.string(),
    actor: z
      .object({ id: z.uuid().nullable(), email: z.string().nullable() })
      .nullable()
      .describe('as known then; null for the command line, Patchbay itself and strangers'),
    target: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
    address: z.string().nullable().describe('the network address it was done from'),
    change: z.json().describe('what is different since; null where the action says it all'),
    organizationId: z.uuid().nullable().describe('null: of the installation, or of an organization that is gone'),
  })
  .meta({ id: 'AuditEntry' })

export const toAuditEntryView = (entry: AuditEntry): z.infer<typeof AuditEntryView> => {
  const { id, at, action, actorId, actorEmail, target, address, change, organizationId } = entry
  const isKnown = actorId !== undefined || actorEmail !== undefined
  return {
    id,
    at: at.toISOString(),
    action,
    actor: isKnown ? { id: actorId ?? null, email: actorEmail ?? null } : null,
    target: { type: target.type, id: target.id ?? null, name: target.name ?? null },
    address: address ?? null,
    change: change ?? null,
    organizationId: organizationId ?? null,
  }
}
