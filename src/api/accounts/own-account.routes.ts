import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  ChangedPasswordView,
  EmailChange,
  EmailView,
  LinkToken,
  MessageView,
  mailMessages,
  OwnSessionView,
  PasswordChange,
  toOwnSessionView,
} from '../../identity/mail/mail-flows.schema.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, sessionIdOf } from '../../lib/http/sessions.ts'

export const ownAccountRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['account'] })
  const ofSessions = resourceRoutes(app, { access: 'user', tags: ['sessions'] })
  const messages = mailMessages(accounts.isMailDelivered)

  routes.route('POST', 202)(
    '/me/email-verification',
    { summary: 'Resend the link that confirms your email address' },
    viewAsIs(MessageView),
    async ({ actor }) => {
      await accounts.resendVerification(actor)
      return { message: messages.verification }
    },
  )
  routes.route('PUT', 202)(
    '/me/email',
    {
      summary:
        'Request a change of your email address; it changes once you are signed in and use the link sent to the new one',
      body: EmailChange,
    },
    viewAsIs(MessageView),
    async ({ actor, body }) => {
      await accounts.requestEmailChange(actor, body)
      return { message: messages.emailChange }
    },
  )
  routes.perform(
    '/email-changes',
    {
      summary: 'Change your email address with the link sent to the new one; ends all other sessions',
      body: LinkToken,
    },
    viewAsIs(EmailView),
    ({ actor, body, request }) => accounts.changeEmail(actor, body.token, sessionIdOf(request)),
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
