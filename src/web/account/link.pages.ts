import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { LinkToken, mailMessages, PasswordReset, ResetRequest } from '../../identity/mail/mail-flows.schema.ts'
import { isSafeMethod } from '../../lib/http/access.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'

/** The token in the link authorizes these forms, so they need no session. */
const config = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ token: formText })
const TokenForm = { token: formText }

const SIGN_IN = { href: '/sign-in', text: 'Sign in' }
const showDone = (reply: FastifyReply, title: string, text: string, next = { href: '/', text: 'Continue' }) =>
  reply.page('account/done', { title, text, next })

/** Registers the pages opened from links in emails, and the page where users request a password reset. */
export const linkPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  const messages = mailMessages(accounts.isMailDelivered)

  // The URL contains the token, so it must not leak through the referrer. `no-referrer` would also strip the Origin
  // header from Patchbay's own forms.
  app.addHook('onRequest', async (request, reply) => {
    if (isSafeMethod(request.method)) reply.header('referrer-policy', 'strict-origin')
  })

  const load = (request: FastifyRequest) => Query.parse(request.query).token

  /** Registers a page that acts only when its button is pressed, because mail scanners open the links in emails. */
  const buttonPage = (
    path: string,
    words: { title: string; text: string; button: string },
    work: (request: FastifyRequest, token: string) => Promise<{ title: string; text: string }>,
  ): void =>
    formPage(app, path, {
      config,
      fields: TokenForm,
      load,
      page: (_request, token, typed) => ({
        view: 'account/link',
        data: { ...words, path, token: typed?.token ?? token },
      }),
      save: async (request, _token, typed, reply) => {
        const { title, text } = await work(request, parseInput(LinkToken, typed).token)
        return showDone(reply, title, text)
      },
    })

  buttonPage(
    '/verify-email',
    {
      title: 'Confirm your email',
      text: 'This confirms that the email address is yours.',
      button: 'Confirm',
    },
    async ({ ip }, token) => {
      const { email } = await accounts.verifyEmail(token, ip)
      return { title: 'Email confirmed', text: `${email} is confirmed.` }
    },
  )

  buttonPage(
    '/change-email',
    {
      title: 'Change your email',
      text: 'You will sign in with the address this link was sent to, and be signed out everywhere else.',
      button: 'Change',
    },
    async (request, token) => {
      const { email } = await accounts.changeEmail(token, request.ip, sessionIdOf(request))
      return {
        title: 'Email changed',
        text: `You now sign in with ${email}. You have been signed out everywhere else.`,
      }
    },
  )

  formPage(app, '/forgot-password', {
    config,
    fields: { email: formText },
    load,
    page: (_request, _token, typed) => ({
      view: 'account/forgot-password',
      data: { title: 'Forgot password', email: typed?.email ?? '' },
      labels: { email: 'email' },
    }),
    save: async (request, _token, typed, reply) => {
      await accounts.requestReset({ ...parseInput(ResetRequest, typed), address: request.ip })
      return showDone(reply, 'Check your email', messages.reset, SIGN_IN)
    },
  })

  formPage(app, '/reset-password', {
    config,
    fields: { ...TokenForm, password: formText },
    load,
    page: (_request, token, typed) => ({
      view: 'account/reset-password',
      data: { title: 'Set a new password', token: typed?.token ?? token, passwordHint: PASSWORD_HINT },
      labels: { password: 'password' },
    }),
    save: async (request, _token, typed, reply) => {
      await accounts.resetPassword({ ...parseInput(PasswordReset, typed), address: request.ip })
      const text = 'You have been signed out everywhere. Sign in with your new password.'
      return showDone(reply, 'Password changed', text, SIGN_IN)
    },
  })
}
