import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AuditQuery } from '../../identity/audit/audit.schema.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { AuditPage, sendAudit } from './audit-response.ts'

export const organizationAuditRoutes: FastifyPluginAsyncZod<{ audit: AuditLog }> = async (app, { audit }) => {
  app.get(
    '/organizations/:id/audit',
    {
      config: { access: 'user' },
      schema: {
        tags: ['audit'],
        summary: 'List the audit log of an organization, newest first',
        params: uuidParams,
        querystring: AuditQuery,
        response: { 200: AuditPage },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      assertMay(actorOf(request), id, 'manage')
      return sendAudit(reply, audit, { kind: 'organization', organizationId: id }, request.query)
    },
  )
}
