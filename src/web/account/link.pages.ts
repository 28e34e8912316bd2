import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { LinkToken, mailMessages, PasswordReset, ResetRequest } from '../../identity/mail/mail-flows.schema.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'

/** The token in the link authorizes these forms, not a session. */
const config = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ token: formText })
const TokenForm = { token: formText }

/** Builds a page that acts only when its button is pressed, because mail scanners open the links in emails. */
const buttonPage = (path: string, token: string, words: { title: string; text: string; button: string }): FormPage => ({
  view: 'account/link',
  data: { ...words, path, token },
  labels: {},
})

const verifyPage = (token: string): FormPage =>
  buttonPage('/verify-email', token, {
    title: 'Confirm your email',
    text: 'This confirms that the email address is yours.',
    button: 'Confirm',
  })

const changePage = (token: string): FormPage =>
  buttonPage('/change-email', token, {
    title: 'Change your email',
    text: 'You will sign in with the address this link was sent to, and be signed out everywhere else.',
    button: 'Change',
  })

const forgotPage = (email: string): FormPage => ({
  view: 'account/forgot-password',
  data: { title: 'Forgot password', email },
  labels: { email: 'email' },
})

const resetPage = (token: string): FormPage => ({
  view: 'account/reset-password',
  data: { title: 'Set a new password', token, passwordHint: PASSWORD_HINT },
  labels: { password: 'password' },
})

/**
 * The URL contains the token, so the referrer must not leak it. `no-referrer` would strip the Origin from our forms.
 */
const showLink = (request: FastifyRequest, reply: FastifyReply, pageFor: (token: string) => FormPage): FastifyReply => {
  reply.header('referrer-policy', 'strict-origin')
  return showForm(reply, pageFor(Query.parse(request.query).token))
}

const showDone = (reply: FastifyReply, title: string, text: string, next = { href: '/', text: 'Continue' }) =>
  reply.page('account/done', { title, text, next })

const SIGN_IN = { href: '/sign-in', text: 'Sign in' }

/** Registers the pages that links in emails open, and the page that requests a password reset. */
export const linkPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const messages = mailMessages(accounts.isMailDelivered)

    app.get('/verify-email', { config }, async (request, reply) => showLink(request, reply, verifyPage))
    app.post('/verify-email', { config }, (request, reply) => {
      const { token } = parseForm(TokenForm, request.body)
      return submitForm(reply, verifyPage(token), async () => {
        const { email } = await accounts.verifyEmail(parseInput(LinkToken, { token }).token, request.ip)
        return showDone(reply, 'Email confirmed', `${email} is confirmed.`)
      })
    })

    app.get('/change-email', { config }, async (request, reply) => showLink(request, reply, changePage))
    app.post('/change-email', { config }, (request, reply) => {
      const { token } = parseForm(TokenForm, request.body)
      return submitForm(reply, changePage(token), async () => {
        const link = parseInput(LinkToken, { token })
        const { email } = await accounts.changeEmail(link.token, request.ip, sessionIdOf(request))
        const text = `You now sign in with ${email}. You have been signed out everywhere else.`
        return showDone(reply, 'Email changed', text)
      })
    })

    app.get('/forgot-password', { config }, async (_request, reply) => showForm(reply, forgotPage('')))
    app.post('/forgot-password', { config }, (request, reply) => {
      const form = parseForm({ email: formText }, request.body)
      return submitForm(reply, forgotPage(form.email), async () => {
        await accounts.requestReset({ ...parseInput(ResetRequest, form), address: request.ip })
        return showDone(reply, 'Check your email', messages.reset, SIGN_IN)
      })
    })

    app.get('/reset-password', { config }, async (request, reply) => showLink(request, reply, resetPage))
    app.post('/reset-password', { config }, (request, reply) => {
      const form = parseForm({ token: formText, password: formText }, request.body)
      return submitForm(reply, resetPage(form.token), async () => {
        await accounts.resetPassword({ ...parseInput(PasswordReset, form), address: request.ip })
        return showDone(
          reply,
          'Password changed',
          'You have been signed out everywhere. Sign in with your new password.',
          SIGN_IN,
        )
      })
    })
  }
