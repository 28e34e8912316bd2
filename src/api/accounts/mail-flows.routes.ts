import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  EmailView,
  LinkToken,
  MessageView,
  mailMessages,
  PasswordReset,
  ResetRequest,
} from '../../identity/mail/mail-flows.schema.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'

const config = { access: 'anyone' } as const
const tags = ['account']
/** Anyone may send these requests, and an address, a password and a token are short. */
const bodyLimit = 16 * 1_024

/** Requests with a link from an email, and the request for one by a user who cannot sign in. */
export const mailFlowRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const messages = mailMessages(accounts.isMailDelivered)

  app.post(
    '/email-verifications',
    {
      bodyLimit,
      config,
      schema: {
        tags,
        summary: 'Confirm an email address with the link sent to it',
        body: LinkToken,
        response: { 200: EmailView },
      },
    },
    async request => ({ email: (await accounts.verifyEmail(request.body.token, request.ip)).email }),
  )

  app.post(
    '/password-resets',
    {
      bodyLimit,
      config,
      schema: {
        tags,
        summary: 'Request a link to set a new password; the response is the same whether or not the account exists',
        body: ResetRequest,
        response: { 202: MessageView },
      },
    },
    async (request, reply) => {
      await accounts.requestReset({ email: request.body.email, address: request.ip })
      return reply.code(202).send({ message: messages.reset })
    },
  )

  app.put(
    '/password-resets',
    {
      bodyLimit,
      config,
      schema: {
        tags,
        summary: 'Set a new password with the link; ends all sessions and revokes all applications',
        body: PasswordReset,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      await accounts.resetPassword({ ...request.body, address: request.ip })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/email-changes',
    {
      bodyLimit,
      config,
      schema: {
        tags,
        summary: 'Change the email address with the link sent to the new one; ends all other sessions',
        body: LinkToken,
        response: { 200: EmailView },
      },
    },
    async request => {
      const { email } = await accounts.changeEmail(request.body.token, request.ip, sessionIdOf(request))
      return { email }
    },
  )
}
