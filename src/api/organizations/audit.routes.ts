import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { assertMay } from '../kernel/index.ts'
import { type AuditLog, AuditPage, AuditQuery, answerAudit } from '../platform/audit/index.ts'
import { actorOf, uuidParams } from '../platform/http/index.ts'

/** What was done in an organization, for those who manage it. */
export const organizationAuditRoutes =
  ({ audit }: { audit: AuditLog }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/organizations/:id/audit',
      {
        config: { access: 'user' },
        schema: {
          tags: ['audit'],
          summary: 'What was done in an organization, newest first',
          params: uuidParams,
          querystring: AuditQuery,
          response: { 200: AuditPage },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        assertMay(actorOf(request), id, 'manage')
        return answerAudit(reply, audit, { kind: 'organization', organizationId: id }, request.query)
      },
    )
  }
