import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  EmailView,
  LinkToken,
  MessageView,
  mailMessages,
  PasswordReset,
  ResetRequest,
} from '../../identity/mail/mail-flows.schema.ts'
import { noContent, resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { sessionUserIdOf } from '../../lib/http/sessions.ts'

/** Maximum body size. Anyone may send these requests, and an email address, a password and a token are short. */
const bodyLimit = 16 * 1_024

/** Routes that use a link from an email, and that request such a link for a user who cannot sign in. */
export const mailFlowRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const messages = mailMessages(accounts.isMailDelivered)
  const routes = resourceRoutes(app, { access: 'anyone', tags: ['account'], bodyLimit })

  routes.perform(
    '/email-verifications',
    {
      summary:
        'Confirm an email address with the link sent to it; outside a session of the account this ends its password, sessions, tokens, applications, second factor and identities',
      body: LinkToken,
    },
    viewAsIs(EmailView),
    ({ body, request }) => accounts.verifyEmail(body.token, request.ip, sessionUserIdOf(request)),
  )
  routes.route('POST', 202)(
    '/password-resets',
    {
      summary: 'Request a link to set a new password; the response is the same whether or not the account exists',
      body: ResetRequest,
    },
    viewAsIs(MessageView),
    async ({ body, request }) => {
      await accounts.requestReset({ email: body.email, address: request.ip })
      return { message: messages.reset }
    },
  )
  routes.route('PUT', 204)(
    '/password-resets',
    {
      summary:
        'Set a new password with the link; ends all sessions, and everything else that was set up if the email was not confirmed',
      body: PasswordReset,
    },
    noContent,
    ({ body, request }) => accounts.resetPassword({ ...body, address: request.ip }),
  )
}
