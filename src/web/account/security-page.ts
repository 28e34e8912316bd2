import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText } from '../../lib/http/pages/forms.ts'
import { accountFrame } from './account-tabs.ts'

export const SECURITY_PATH = '/account/security'

/** The form that was submitted and shows its errors. */
export type SecurityForm = 'none' | 'password' | 'begin' | 'remove' | 'renew'

const Query = z.object({ done: formText })
const NOTES: ReadonlyMap<string, string> = new Map([
  ['password', 'Password changed. You have been signed out everywhere else.'],
  ['removed', 'Two-factor authentication is off. You sign in with your password only.'],
])

const LABELS: Readonly<Record<SecurityForm, FormPage['labels']>> = {
  none: {},
  password: { currentPassword: 'current password', password: 'new password' },
  begin: { password: 'password' },
  remove: { password: 'password', code: 'code' },
  renew: { password: 'password', code: 'code' },
}

/** Builds the password and two-factor page. Several files handle its forms. */
export const securityPage = async (
  accounts: AccountService,
  request: FastifyRequest,
  form: SecurityForm,
): Promise<FormPage> => {
  const actor = actorOf(request)
  const [hasPassword, factor] = await Promise.all([accounts.hasPassword(actor), accounts.getSecondFactor(actor)])
  return {
    view: 'account/security',
    data: {
      ...accountFrame('security'),
      section: 'account',
      email: actor.email,
      hasPassword,
      factor,
      form,
      passwordHint: PASSWORD_HINT,
      done: NOTES.get(Query.parse(request.query).done),
    },
    labels: LABELS[form],
  }
}
