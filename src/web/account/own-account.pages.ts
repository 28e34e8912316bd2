import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { EmailChange, mailMessages } from '../../identity/mail/mail-flows.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { doneText, ownForm, userRoute } from '../frame/user-page.ts'
import { accountFrame } from './account-tabs.ts'

const PATH = '/account'

/** Registers the profile page: the user's email, whether it is confirmed, and the form that changes it. */
export const ownAccountPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  const messages = mailMessages(accounts.isMailDelivered)
  const notes = { email: messages.emailChange, verification: messages.verification }

  const profilePage = async (request: FastifyRequest, actor: Actor, typed = ''): Promise<FormPage> => {
    const { user } = await accounts.getMe(actor)
    return {
      view: 'account/profile',
      data: {
        ...accountFrame('profile'),
        user: {
          email: user.email,
          isVerified: user.emailVerifiedAt !== undefined,
          isUnconfirmed: actor.isUnconfirmed,
          isOperator: user.isOperator,
          since: user.createdAt.toISOString().slice(0, 10),
        },
        asksToConfirm: user.emailVerifiedAt === undefined,
        typed,
        done: doneText(request, notes),
      },
      labels: { email: 'new email', password: 'password' },
    }
  }

  app.get(PATH, userRoute, async (request, reply) => showForm(reply, await profilePage(request, actorOf(request))))

  postForm(app, `${PATH}/email-verification`, {
    ...ownForm,
    fields: {},
    page: (request, actor) => profilePage(request, actor),
    save: async (_request, actor) => {
      await accounts.resendVerification(actor)
      return `${PATH}?done=verification`
    },
  })

  postForm(app, `${PATH}/email`, {
    ...ownForm,
    fields: { email: formText, password: formText },
    page: (request, actor, typed) => profilePage(request, actor, typed?.email),
    save: async (_request, actor, typed) => {
      await accounts.requestEmailChange(actor, parseInput(EmailChange, typed))
      return `${PATH}?done=email`
    },
  })
}
