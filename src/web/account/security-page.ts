import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf, type FormPage, formText } from '../platform/http/index.ts'
import { accountFrame } from './account-tabs.ts'
import type { AccountService } from './accounts.service.ts'
import { PASSWORD_HINT } from './credentials.ts'

export const SECURITY_PATH = '/account/security'

/** Which of the page's forms was sent, and shows what is wrong. */
export type SecurityForm = 'none' | 'password' | 'begin' | 'remove' | 'renew'

const Query = z.object({ done: formText })
const NOTES: ReadonlyMap<string, string> = new Map([
  ['password', 'Your password is changed, and your other sessions have ended.'],
  ['removed', 'Your second factor is off: your password alone signs you in.'],
])

const LABELS: Readonly<Record<SecurityForm, FormPage['labels']>> = {
  none: {},
  password: { currentPassword: 'current password', password: 'new password' },
  begin: { password: 'password' },
  remove: { password: 'password', code: 'code' },
  renew: { password: 'password', code: 'code' },
}

/** The page of one's password and second factor, whose forms several files answer. */
export const securityPage = async (
  accounts: AccountService,
  request: FastifyRequest,
  form: SecurityForm,
): Promise<FormPage> => {
  const actor = actorOf(request)
  const [hasPassword, factor] = await Promise.all([accounts.hasPassword(actor), accounts.getSecondFactor(actor)])
  return {
    view: 'accounts/security',
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
