import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { AuditEntryView, AuditQuery, toAuditEntryView } from '../../identity/audit/audit.schema.ts'
import type { AuditScope } from '../../identity/audit/audit-entry.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { sendNdjson } from '../../lib/http/ndjson.ts'
import { type Page, pageOf } from '../../lib/http/paging.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { assertMay, organizationIdsOf } from '../../lib/kernel/actor.ts'

/** The audit log as JSON, unless `format=ndjson` requests a file. */
const AuditPage = pageOf(AuditEntryView)

async function* viewsOf(log: AuditLog, scope: AuditScope, query: AuditQuery) {
  for await (const batch of log.readAll(scope, query)) yield batch.map(toAuditEntryView)
}

/** Sends a page of the log, or all of it as a file. The caller must have checked that the user may read `scope`. */
const sendAudit = async (
  reply: FastifyReply,
  log: AuditLog,
  scope: AuditScope,
  query: AuditQuery,
): Promise<Page<z.infer<typeof AuditEntryView>> | FastifyReply> => {
  if (query.format === 'ndjson') return sendNdjson(reply, 'audit.ndjson', viewsOf(log, scope, query))
  const page = idPageOf(query)
  return toIdPage(await log.list(scope, query, page), page, toAuditEntryView)
}

const tags = ['audit']
const querystring = AuditQuery
const response = { 200: AuditPage }

/** Routes for the audit log of the installation, of an organization, and for the user's own entries. */
export const auditRoutes: FastifyPluginAsyncZod<{ audit: AuditLog }> = async (app, { audit }) => {
  app.get(
    '/audit',
    {
      config: { access: 'operator' },
      schema: { tags, summary: 'List the audit log of the installation, newest first', querystring, response },
    },
    async (request, reply) => sendAudit(reply, audit, { kind: 'installation' }, request.query),
  )

  app.get(
    '/me/audit',
    {
      config: { access: 'user' },
      schema: { tags, summary: 'List your own actions, including sign-ins, newest first', querystring, response },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const scope = { kind: 'own', userId: actor.userId, organizationIds: organizationIdsOf(actor) } as const
      return sendAudit(reply, audit, scope, request.query)
    },
  )

  app.get(
    '/organizations/:id/audit',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'List the audit log of an organization, newest first',
        params: uuidParams,
        querystring,
        response,
      },
    },
    async (request, reply) => {
      const { id } = request.params
      assertMay(actorOf(request), id, 'manage')
      return sendAudit(reply, audit, { kind: 'organization', organizationId: id }, request.query)
    },
  )
}
