import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type FormPage,
  formText,
  parseForm,
  parseInput,
  sessionIdOf,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import type { AccountService } from './accounts.service.ts'
import { PASSWORD_HINT } from './credentials.ts'
import { LinkToken, letterMessages, PasswordReset, ResetRequest } from './mail-flows.schema.ts'

/** What their forms do is done in the name of a link. */
const config = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ token: formText })
const TokenForm = { token: formText }

/** A page that does nothing by itself: programs that look at the links in mail only open it. */
const buttonPage = (path: string, token: string, words: { title: string; text: string; button: string }): FormPage => ({
  view: 'accounts/link',
  data: { ...words, path, token },
  labels: {},
})

const verifyPage = (token: string): FormPage =>
  buttonPage('/verify-email', token, {
    title: 'Confirm your e-mail address',
    text: 'This tells Patchbay that the address is yours.',
    button: 'Confirm',
  })

const changePage = (token: string): FormPage =>
  buttonPage('/change-email', token, {
    title: 'Change your e-mail address',
    text: 'From now on you sign in with the address that this link was sent to. Your other sessions end.',
    button: 'Change',
  })

const forgotPage = (email: string): FormPage => ({
  view: 'accounts/forgot-password',
  data: { title: 'Forgotten password', email },
  labels: { email: 'address' },
})

const resetPage = (token: string): FormPage => ({
  view: 'accounts/reset-password',
  data: { title: 'Set a new password', token, passwordHint: PASSWORD_HINT },
  labels: { password: 'password' },
})

/** The token is in the address: no other page may learn it. `no-referrer` would take the Origin out of our forms. */
const showLink = (request: FastifyRequest, reply: FastifyReply, pageFor: (token: string) => FormPage): FastifyReply => {
  reply.header('referrer-policy', 'strict-origin')
  return showForm(reply, pageFor(Query.parse(request.query).token))
}

const showDone = (reply: FastifyReply, title: string, text: string, next = { href: '/', text: 'Go on' }) =>
  reply.page('accounts/done', { title, text, next })

const SIGN_IN = { href: '/sign-in', text: 'Sign in' }

/** Where the links of letters lead, and where one for a new password is asked for. */
export const linkPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const messages = letterMessages(accounts.isMailDelivered)

    app.get('/verify-email', { config }, async (request, reply) => showLink(request, reply, verifyPage))
    app.post('/verify-email', { config }, (request, reply) => {
      const { token } = parseForm(TokenForm, request.body)
      return submitForm(reply, verifyPage(token), async () => {
        const { email } = await accounts.verifyEmail(parseInput(LinkToken, { token }).token, request.ip)
        return showDone(reply, 'Your address is confirmed', `${email} is yours.`)
      })
    })

    app.get('/change-email', { config }, async (request, reply) => showLink(request, reply, changePage))
    app.post('/change-email', { config }, (request, reply) => {
      const { token } = parseForm(TokenForm, request.body)
      return submitForm(reply, changePage(token), async () => {
        const link = parseInput(LinkToken, { token })
        const { email } = await accounts.changeEmail(link.token, request.ip, sessionIdOf(request))
        const text = `From now on you sign in with ${email}. Your other sessions have ended.`
        return showDone(reply, 'Your address is changed', text)
      })
    })

    app.get('/forgot-password', { config }, async (_request, reply) => showForm(reply, forgotPage('')))
    app.post('/forgot-password', { config }, (request, reply) => {
      const form = parseForm({ email: formText }, request.body)
      return submitForm(reply, forgotPage(form.email), async () => {
        await accounts.requestReset({ ...parseInput(ResetRequest, form), address: request.ip })
        return showDone(reply, 'Look into your mail', messages.reset, SIGN_IN)
      })
    })

    app.get('/reset-password', { config }, async (request, reply) => showLink(request, reply, resetPage))
    app.post('/reset-password', { config }, (request, reply) => {
      const form = parseForm({ token: formText, password: formText }, request.body)
      return submitForm(reply, resetPage(form.token), async () => {
        await accounts.resetPassword({ ...parseInput(PasswordReset, form), address: request.ip })
        return showDone(reply, 'Your new password is set', 'Every session has ended: sign in with it.', SIGN_IN)
      })
    })
  }
