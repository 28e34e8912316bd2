import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  actorOf,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  sessionIdOf,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import type { AccountService } from './accounts.service.ts'
import { isTotpSecret, totpUri } from './second-factor.codes.ts'
import { Confirmation, NewSecondFactor, Proof } from './second-factor.schema.ts'

const config = { access: 'user' } as const
const PATH = '/account/second-factor'

const Query = z.object({ done: formText })
const PasswordForm = { password: formText }
const ConfirmationForm = { code: formText, secret: formText }
const ProofForm = { password: formText, code: formText }
const LABELS = { password: 'password', code: 'code' }

type FormName = 'none' | 'begin' | 'remove' | 'renew'

/** The secret comes back with the form: shown again by what is typed, not by what is stored. */
const confirmationPage = (secret: string, email: string): FormPage => ({
  view: 'accounts/second-factor-confirm',
  data: { title: 'Second factor', secret, uri: isTotpSecret(secret) ? totpUri(secret, email) : undefined },
  labels: LABELS,
})

const showCodes = (reply: FastifyReply, recoveryCodes: readonly string[]): FastifyReply =>
  reply.page('accounts/second-factor-recovery-codes', { title: 'Recovery codes', recoveryCodes })

/** Putting one's own second factor in force, removing it, and making new recovery codes. */
export const secondFactorAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    /** `form`: which of the page's forms was sent, and shows what is wrong. */
    const statePage = async (request: FastifyRequest, form: FormName): Promise<FormPage> => ({
      view: 'accounts/second-factor',
      data: {
        title: 'Second factor',
        ...(await accounts.getSecondFactor(actorOf(request))),
        form,
        done: Query.parse(request.query).done === 'removed' ? 'Your second factor is removed.' : undefined,
      },
      labels: LABELS,
    })

    app.get(PATH, { config }, async (request, reply) => showForm(reply, await statePage(request, 'none')))

    app.post(PATH, { config }, async (request, reply) => {
      const form = parseForm(PasswordForm, request.body)
      return submitForm(reply, await statePage(request, 'begin'), async () => {
        const { password } = parseInput(NewSecondFactor, form)
        const { secret } = await accounts.beginSecondFactor(actorOf(request), password)
        return showForm(reply, confirmationPage(secret, actorOf(request).email))
      })
    })

    app.post(`${PATH}/confirmation`, { config }, async (request, reply) => {
      const { secret, ...form } = parseForm(ConfirmationForm, request.body)
      return submitForm(reply, confirmationPage(secret, actorOf(request).email), async () => {
        const { code } = parseInput(Confirmation, form)
        return showCodes(reply, await accounts.confirmSecondFactor(actorOf(request), code, sessionIdOf(request)))
      })
    })

    app.post(`${PATH}/removal`, { config }, async (request, reply) => {
      const form = parseForm(ProofForm, request.body)
      return submitForm(reply, await statePage(request, 'remove'), async () => {
        await accounts.removeSecondFactor(actorOf(request), parseInput(Proof, form), sessionIdOf(request))
        return reply.redirect(`${PATH}?done=removed`, 303)
      })
    })

    app.post(`${PATH}/recovery-codes`, { config }, async (request, reply) => {
      const form = parseForm(ProofForm, request.body)
      return submitForm(reply, await statePage(request, 'renew'), async () =>
        showCodes(reply, await accounts.renewRecoveryCodes(actorOf(request), parseInput(Proof, form))),
      )
    })
  }
