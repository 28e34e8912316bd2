import type { FastifyContextConfig, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { LinkToken, mailMessages, PasswordReset, ResetRequest } from '../../identity/mail/mail-flows.schema.ts'
import { actorOf, isSafeMethod } from '../../lib/http/access.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { sessionIdOf, sessionUserIdOf } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'

/** The token in the link authorizes these forms, so they need no session. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const
const USERS = { access: 'user' } as const

const Query = z.object({ token: formText })
const TokenForm = { token: formText }

type TextOf = (request: FastifyRequest, token: string) => Promise<string>

const CONFIRMS = 'This confirms that the email address is yours.'
const CONFIRMS_ELSEWHERE =
  `${CONFIRMS} You are not signed in to its account here, so someone else may have created it. Its password, sessions, ` +
  'access tokens, connected applications, two-factor authentication and linked identities will end, and you will set ' +
  'a new password. To keep them, open this link in the browser where you are signed in.'

/** As many connected applications as the reset page lists. */
const FIRST_PAGE: IdPage = { limit: 100, afterId: undefined }

const SIGN_IN = { href: '/sign-in', text: 'Sign in' }
const SET_PASSWORD = { href: '/forgot-password', text: 'Set a new password' }
const showDone = (reply: FastifyReply, title: string, text: string, next = { href: '/', text: 'Continue' }) =>
  reply.page('account/done', { title, text, next })

/** Registers the pages opened from links in emails, and the page where users request a password reset. */
export const linkPages: FastifyPluginAsync<{ accounts: AccountService; grants: GrantService }> = async (
  app,
  { accounts, grants },
) => {
  const messages = mailMessages(accounts.isMailDelivered)

  // The URL contains the token, so it must not leak through the referrer. `no-referrer` would also strip the Origin
  // header from Patchbay's own forms.
  app.addHook('onRequest', async (request, reply) => {
    if (isSafeMethod(request.method)) reply.header('referrer-policy', 'strict-origin')
  })

  const load = (request: FastifyRequest) => Query.parse(request.query).token

  /** Returns what can use the account of a reset link. Nothing if the link is not valid. */
  const accessFor = async (token: string) => {
    const reset = await accounts.findReset(token)
    const applications = reset === undefined ? [] : await grants.listApplications(reset, FIRST_PAGE)
    return {
      isFirstProof: reset?.isFirstProof === true,
      tokens: (reset?.tokens ?? []).map(({ name, expiresAt }) => ({ name, expires: shownTime(expiresAt) })),
      applications: applications.slice(0, FIRST_PAGE.limit).map(({ client }) => client.name),
    }
  }

  /** Registers a page that acts only when its button is pressed, because mail scanners open the links in emails. */
  const buttonPage = (
    path: string,
    words: { title: string; text: TextOf; button: string },
    work: (request: FastifyRequest, token: string) => Promise<{ title: string; text: string; next?: typeof SIGN_IN }>,
    config: FastifyContextConfig = STRANGERS,
  ): void =>
    formPage(app, path, {
      config,
      fields: TokenForm,
      load,
      page: async (request, loaded, typed) => {
        const token = typed?.token ?? loaded
        return { view: 'account/link', data: { ...words, text: await words.text(request, token), path, token } }
      },
      save: async (request, _token, typed, reply) => {
        const { title, text, next } = await work(request, parseInput(LinkToken, typed).token)
        return showDone(reply, title, text, next)
      },
    })

  buttonPage(
    '/verify-email',
    {
      title: 'Confirm your email',
      text: async (request, token) =>
        (await accounts.endsAccess(token, sessionUserIdOf(request))) ? CONFIRMS_ELSEWHERE : CONFIRMS,
      button: 'Confirm',
    },
    async (request, token) => {
      const { email, hasEndedAccess } = await accounts.verifyEmail(token, request.ip, sessionUserIdOf(request))
      const title = 'Email confirmed'
      if (!hasEndedAccess) return { title, text: `${email} is confirmed.` }
      return { title, text: `${email} is confirmed. Set a new password to sign in.`, next: SET_PASSWORD }
    },
  )

  buttonPage(
    '/change-email',
    {
      title: 'Change your email',
      text: async (request, token) => {
        await accounts.assertOwnEmailChange(actorOf(request), token)
        return 'You will sign in with the address this link was sent to, and be signed out everywhere else.'
      },
      button: 'Change',
    },
    async (request, token) => {
      const { email } = await accounts.changeEmail(actorOf(request), token, sessionIdOf(request))
      return {
        title: 'Email changed',
        text: `You now sign in with ${email}. You have been signed out everywhere else.`,
      }
    },
    USERS,
  )

  formPage(app, '/forgot-password', {
    config: STRANGERS,
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
    config: STRANGERS,
    fields: { ...TokenForm, password: formText, revokeAll: formText },
    load,
    page: async (_request, loaded, typed) => {
      const token = typed?.token ?? loaded
      const revokesAll = typed === undefined || typed.revokeAll !== ''
      return {
        view: 'account/reset-password',
        data: {
          title: 'Set a new password',
          token,
          passwordHint: PASSWORD_HINT,
          revokesAll,
          ...(await accessFor(token)),
        },
        labels: { password: 'password' },
      }
    },
    save: async (request, _token, typed, reply) => {
      const input = parseInput(PasswordReset, { ...typed, revokeAll: typed.revokeAll !== '' })
      await accounts.resetPassword({ ...input, address: request.ip })
      const text = 'You have been signed out everywhere. Sign in with your new password.'
      return showDone(reply, 'Password changed', text, SIGN_IN)
    },
  })
}
