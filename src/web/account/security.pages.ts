import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { PasswordChange } from '../../identity/mail/mail-flows.schema.ts'
import { isTotpSecret, totpUri } from '../../identity/second-factor/second-factor.codes.ts'
import { Confirmation, NewSecondFactor, Proof } from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { beginSession, sessionIdOf } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { doneText, ownForm, userRoute } from '../frame/user-page.ts'
import { accountFrame } from './account-tabs.ts'
import { drawQrCode } from './qr-code.ts'

const PATH = '/account/security'
const SECOND_FACTOR_PATH = '/account/second-factor'

const ProofForm = { password: formText, code: formText }

const NOTES = {
  password: 'Password changed. You have been signed out everywhere else.',
  removed: 'Two-factor authentication is off. You sign in with your password only.',
}

/** The page's forms, with the name of each field as used in error messages. */
const LABELS = {
  none: {},
  password: { currentPassword: 'current password', password: 'new password' },
  begin: { password: 'password' },
  remove: { password: 'password', code: 'code' },
  renew: { password: 'password', code: 'code' },
} satisfies Record<string, FormPage['labels']>

/** The form submits the secret, so that the page can show it again after a wrong code. */
const confirmationPage = (secret: string, email: string): FormPage => {
  const uri = isTotpSecret(secret) ? totpUri(secret, email) : undefined
  return {
    view: 'account/second-factor-confirm',
    data: { ...accountFrame('security'), secret, uri, qr: uri && drawQrCode(uri) },
    labels: { code: 'code' },
  }
}

const showCodes = (reply: FastifyReply, recoveryCodes: readonly string[]): FastifyReply =>
  reply.page('account/second-factor-recovery-codes', { ...accountFrame('security'), recoveryCodes })

/** Registers the page where users change their password and manage two-factor authentication. */
export const securityPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  /** Builds the page. `form` names the submitted form, which shows the errors. */
  const pageOf =
    (form: keyof typeof LABELS) =>
    async (request: FastifyRequest, actor: Actor): Promise<FormPage> => {
      const [hasPassword, factor] = await Promise.all([accounts.hasPassword(actor), accounts.getSecondFactor(actor)])
      return {
        view: 'account/security',
        data: {
          ...accountFrame('security'),
          email: actor.email,
          hasPassword,
          factor,
          form,
          passwordHint: PASSWORD_HINT,
          done: doneText(request, NOTES),
        },
        labels: LABELS[form],
      }
    }

  app.get(PATH, userRoute, async (request, reply) => showForm(reply, await pageOf('none')(request, actorOf(request))))

  postForm(app, '/account/password', {
    ...ownForm,
    fields: { currentPassword: formText, password: formText },
    page: pageOf('password'),
    save: async (request, actor, typed, reply) => {
      await accounts.changePassword(actor, parseInput(PasswordChange, typed))
      if (request.signedInBy === 'session') await beginSession(request, reply, actor.userId)
      return `${PATH}?done=password`
    },
  })

  postForm(app, SECOND_FACTOR_PATH, {
    ...ownForm,
    fields: { password: formText },
    page: pageOf('begin'),
    save: async (_request, actor, typed, reply) => {
      const { secret } = await accounts.beginSecondFactor(actor, parseInput(NewSecondFactor, typed).password)
      return showForm(reply, confirmationPage(secret, actor.email))
    },
  })

  postForm(app, `${SECOND_FACTOR_PATH}/confirmation`, {
    ...ownForm,
    fields: { code: formText, secret: formText },
    page: (_request, actor, typed) => confirmationPage(typed?.secret ?? '', actor.email),
    save: async (request, actor, { code }, reply) => {
      const input = parseInput(Confirmation, { code })
      return showCodes(reply, await accounts.confirmSecondFactor(actor, input.code, sessionIdOf(request)))
    },
  })

  postForm(app, `${SECOND_FACTOR_PATH}/removal`, {
    ...ownForm,
    fields: ProofForm,
    page: pageOf('remove'),
    save: async (request, actor, typed) => {
      await accounts.removeSecondFactor(actor, parseInput(Proof, typed), sessionIdOf(request))
      return `${PATH}?done=removed`
    },
  })

  postForm(app, `${SECOND_FACTOR_PATH}/recovery-codes`, {
    ...ownForm,
    fields: ProofForm,
    page: pageOf('renew'),
    save: async (_request, actor, typed, reply) =>
      showCodes(reply, await accounts.renewRecoveryCodes(actor, parseInput(Proof, typed))),
  })
}
