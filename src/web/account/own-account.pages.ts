import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  actorOf,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import { accountFrame } from './account-tabs.ts'
import type { AccountService } from './accounts.service.ts'
import { EmailChange, letterMessages } from './mail-flows.schema.ts'

const config = { access: 'user' } as const
const PATH = '/account'

const Query = z.object({ done: formText })
const EmailForm = { email: formText, password: formText }

/** Who one is here: the address, whether it is confirmed, and changing it. */
export const ownAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const messages = letterMessages(accounts.isMailDelivered)
    const notes: ReadonlyMap<string, string> = new Map([
      ['email', messages.emailChange],
      ['verification', messages.verification],
    ])

    const profilePage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const { user } = await accounts.getMe(actorOf(request))
      return {
        view: 'accounts/profile',
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
        labels: { email: 'new address', password: 'password' },
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
