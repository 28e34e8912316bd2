import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  ChangedPasswordView,
  EmailChange,
  MessageView,
  mailMessages,
  OwnSessionView,
  PasswordChange,
  toOwnSessionView,
} from '../../identity/mail/mail-flows.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, sessionIdOf } from '../../lib/http/sessions.ts'

const config = { access: 'user' } as const
const tags = ['account']

export const ownAccountRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const routes = resourceRoutes(app, { ...config, tags })
  const ofSessions = resourceRoutes(app, { ...config, tags: ['sessions'] })
  const messages = mailMessages(accounts.isMailDelivered)

  app.post(
    '/me/email-verification',
    {
      config,
      schema: { tags, summary: 'Resend the link that confirms your email address', response: { 202: MessageView } },
    },
    async (request, reply) => {
      await accounts.resendVerification(actorOf(request))
      return reply.code(202).send({ message: messages.verification })
    },
  )

  app.put(
    '/me/email',
    {
      config,
      schema: {
        tags,
        summary: 'Request a change of your email address; it changes once you use the link sent to the new one',
        body: EmailChange,
        response: { 202: MessageView },
      },
    },
    async (request, reply) => {
      await accounts.requestEmailChange(actorOf(request), request.body)
      return reply.code(202).send({ message: messages.emailChange })
    },
  )

  routes.put(
    '/me/password',
    {
      summary: 'Change your password; ends all other sessions and revokes all applications',
      body: PasswordChange,
    },
    viewAsIs(ChangedPasswordView),
    async ({ actor, body, request, reply }) => {
      await accounts.changePassword(actor, body)
      const isBySession = request.signedInBy === 'session'
      return { csrfToken: isBySession ? await beginSession(request, reply, actor.userId) : null }
    },
  )

  ofSessions.list(
    '/me/sessions',
    { summary: 'List your sessions' },
    { schema: OwnSessionView, toView: toOwnSessionView },
    ({ actor, page, request }) => accounts.listSessions(actor, page, sessionIdOf(request)),
  )
  ofSessions.remove('/me/sessions', { summary: 'End all sessions except the current one' }, ({ actor, request }) =>
    accounts.endOtherSessions(actor, sessionIdOf(request)),
  )
  ofSessions.remove('/me/sessions/:id', { summary: 'End a session', params: uuidParams }, ({ actor, params }) =>
    accounts.endOwnSession(actor, params.id),
  )
}
