import type { FastifyInstance, FastifyReply } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { isTotpSecret, totpUri } from '../../identity/second-factor/second-factor.codes.ts'
import { Confirmation, NewSecondFactor, Proof } from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { accountFrame } from './account-tabs.ts'
import { drawQrCode } from './qr-code.ts'
import { SECURITY_PATH, securityPage } from './security-page.ts'

const config = { access: 'user' } as const
const PATH = '/account/second-factor'

const PasswordForm = { password: formText }
const ConfirmationForm = { code: formText, secret: formText }
const ProofForm = { password: formText, code: formText }

/** The form carries the secret, so a second attempt shows it without storing it. */
const confirmationPage = (secret: string, email: string): FormPage => {
  const uri = isTotpSecret(secret) ? totpUri(secret, email) : undefined
  return {
    view: 'account/second-factor-confirm',
    data: { ...accountFrame('security'), section: 'account', secret, uri, qr: uri && drawQrCode(uri) },
    labels: { code: 'code' },
  }
}

const showCodes = (reply: FastifyReply, recoveryCodes: readonly string[]): FastifyReply =>
  reply.page('account/second-factor-recovery-codes', {
    ...accountFrame('security'),
    section: 'account',
    recoveryCodes,
  })

/** Registers the forms that turn the second factor on and off and create new recovery codes. */
export const secondFactorAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.post(PATH, { config }, async (request, reply) => {
      const form = parseForm(PasswordForm, request.body)
      return submitForm(reply, await securityPage(accounts, request, 'begin'), async () => {
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
      return submitForm(reply, await securityPage(accounts, request, 'remove'), async () => {
        await accounts.removeSecondFactor(actorOf(request), parseInput(Proof, form), sessionIdOf(request))
        return reply.redirect(`${SECURITY_PATH}?done=removed`, 303)
      })
    })

    app.post(`${PATH}/recovery-codes`, { config }, async (request, reply) => {
      const form = parseForm(ProofForm, request.body)
      return submitForm(reply, await securityPage(accounts, request, 'renew'), async () =>
        showCodes(reply, await accounts.renewRecoveryCodes(actorOf(request), parseInput(Proof, form))),
      )
    })
  }
