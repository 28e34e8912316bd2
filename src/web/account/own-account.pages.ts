import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { EmailChange, mailMessages } from '../../identity/mail/mail-flows.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { accountFrame } from './account-tabs.ts'

const config = { access: 'user' } as const
const PATH = '/account'

const Query = z.object({ done: formText })
const EmailForm = { email: formText, password: formText }

/** Registers the profile page: the user's email, whether it is confirmed, and the form that changes it. */
export const ownAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const messages = mailMessages(accounts.isMailDelivered)
    const notes: ReadonlyMap<string, string> = new Map([
      ['email', messages.emailChange],
      ['verification', messages.verification],
    ])

    const profilePage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const { user } = await accounts.getMe(actorOf(request))
      return {
        view: 'account/profile',
        data: {
          ...accountFrame('profile'),
          section: 'account',
          user: {
            email: user.email,
            isVerified: user.emailVerifiedAt !== undefined,
            isOperator: user.isOperator,
            since: user.createdAt.toISOString().slice(0, 10),
          },
          typed,
          done: notes.get(Query.parse(request.query).done),
        },
        labels: { email: 'new email', password: 'password' },
      }
    }

    app.get(PATH, { config }, async (request, reply) => showForm(reply, await profilePage(request)))

    app.post(`${PATH}/email-verification`, { config }, async (request, reply) =>
      submitForm(reply, await profilePage(request), async () => {
        await accounts.resendVerification(actorOf(request))
        return reply.redirect(`${PATH}?done=verification`, 303)
      }),
    )

    app.post(`${PATH}/email`, { config }, async (request, reply) => {
      const form = parseForm(EmailForm, request.body)
      return submitForm(reply, await profilePage(request, form.email), async () => {
        await accounts.requestEmailChange(actorOf(request), parseInput(EmailChange, form))
        return reply.redirect(`${PATH}?done=email`, 303)
      })
    })
  }
