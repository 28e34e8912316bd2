import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  actorOf,
  beginSession,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  sessionIdOf,
  showForm,
  submitForm,
  timeText,
  uuidParam,
} from '../platform/http/index.ts'
import type { AccountService } from './accounts.service.ts'
import { PASSWORD_HINT } from './credentials.ts'
import { describeBrowser } from './describe-browser.ts'
import { EmailChange, letterMessages, PasswordChange } from './mail-flows.schema.ts'
import type { OwnSession } from './sessions.store.ts'

const config = { access: 'user' } as const
/** Sessions shown; who has more ends them all at once. */
const MAX_SESSIONS_SHOWN = 100

const Query = z.object({ done: formText })
const EmailForm = { email: formText, password: formText }
const PasswordForm = { currentPassword: formText, password: formText }
const LABELS = {
  email: { email: 'new address', password: 'password' },
  password: { currentPassword: 'current password', password: 'new password' },
  none: {},
}

const describeSession = (session: OwnSession) => ({
  id: session.id,
  isCurrent: session.isCurrent,
  browser: describeBrowser(session.userAgent),
  address: session.address ?? 'unknown',
  lastSeen: timeText(session.lastSeenAt),
  began: timeText(session.createdAt),
})

/** One's own account: address, password, sessions. */
export const ownAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const messages = letterMessages(accounts.isMailDelivered)
    const notes: ReadonlyMap<string, string> = new Map([
      ['email', messages.emailChange],
      ['verification', messages.verification],
      ['password', 'Your password is changed, and your other sessions have ended.'],
      ['sessions', 'Ended.'],
    ])

    /** `form`: which of the page's forms was sent, and shows what is wrong. */
    const accountPage = async (request: FastifyRequest, form: keyof typeof LABELS, email = ''): Promise<FormPage> => {
      const page = { limit: MAX_SESSIONS_SHOWN, afterId: undefined }
      const [{ user }, sessions] = await Promise.all([
        accounts.getMe(actorOf(request)),
        accounts.listSessions(actorOf(request), page, sessionIdOf(request)),
      ])
      return {
        view: 'accounts/account',
        data: {
          title: 'Account',
          user: { email: user.email, isVerified: user.emailVerifiedAt !== undefined },
          sessions: sessions.slice(0, MAX_SESSIONS_SHOWN).map(describeSession),
          hasOtherSessions: sessions.some(({ isCurrent }) => !isCurrent),
          form,
          email,
          passwordHint: PASSWORD_HINT,
          done: notes.get(Query.parse(request.query).done),
        },
        labels: LABELS[form],
      }
    }
    const showDone = (reply: FastifyReply, done: string): FastifyReply => reply.redirect(`/account?done=${done}`, 303)

    app.get('/account', { config }, async (request, reply) => showForm(reply, await accountPage(request, 'none')))

    app.post('/account/email-verification', { config }, async (request, reply) =>
      submitForm(reply, await accountPage(request, 'none'), async () => {
        await accounts.resendVerification(actorOf(request))
        return showDone(reply, 'verification')
      }),
    )

    app.post('/account/email', { config }, async (request, reply) => {
      const form = parseForm(EmailForm, request.body)
      return submitForm(reply, await accountPage(request, 'email', form.email), async () => {
        await accounts.requestEmailChange(actorOf(request), parseInput(EmailChange, form))
        return showDone(reply, 'email')
      })
    })

    app.post('/account/password', { config }, async (request, reply) => {
      const form = parseForm(PasswordForm, request.body)
      return submitForm(reply, await accountPage(request, 'password'), async () => {
        const { userId } = actorOf(request)
        await accounts.changePassword(actorOf(request), parseInput(PasswordChange, form))
        if (request.signedInBy === 'session') await beginSession(request, reply, userId)
        return showDone(reply, 'password')
      })
    })

    app.post('/account/sessions/end', { config }, async (request, reply) => {
      await accounts.endOtherSessions(actorOf(request), sessionIdOf(request))
      return showDone(reply, 'sessions')
    })

    app.post(
      '/account/sessions/:id/end',
      { config, schema: { params: z.object({ id: uuidParam }) } },
      async (request, reply) => {
        const { id } = z.object({ id: uuidParam }).parse(request.params)
        await accounts.endOwnSession(actorOf(request), id)
        return showDone(reply, 'sessions')
      },
    )
  }
