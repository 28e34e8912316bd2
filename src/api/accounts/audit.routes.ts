import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AuditQuery } from '../../identity/audit/audit.schema.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { actorOf } from '../../lib/http/access.ts'
import { organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AuditPage, answerAudit } from '../organizations/audit-answer.ts'

const tags = ['audit']
const querystring = AuditQuery
const response = { 200: AuditPage }

/** The audit log as the operator sees it, and what one did oneself. */
export const auditRoutes =
  ({ audit }: { audit: AuditLog }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/audit',
      {
        config: { access: 'operator' },
        schema: { tags, summary: 'What was done on this installation, newest first', querystring, response },
      },
      async (request, reply) => answerAudit(reply, audit, { kind: 'installation' }, request.query),
    )

    app.get(
      '/me/audit',
      {
        config: { access: 'user' },
        schema: { tags, summary: 'What one did oneself, sign-ins among it, newest first', querystring, response },
      },
      async (request, reply) => {
        const actor = actorOf(request)
        const scope = { kind: 'own', userId: actor.userId, organizationIds: organizationIdsOf(actor) } as const
        return answerAudit(reply, audit, scope, request.query)
      },
    )
  }
