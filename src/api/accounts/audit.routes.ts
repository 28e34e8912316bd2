import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AuditQuery } from '../../identity/audit/audit.schema.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { actorOf } from '../../lib/http/access.ts'
import { organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AuditPage, sendAudit } from '../organizations/audit-response.ts'

const tags = ['audit']
const querystring = AuditQuery
const response = { 200: AuditPage }

/** The installation's audit log for the operator, and the user's own entries. */
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
}
