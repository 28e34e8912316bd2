import type { Database } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import * as store from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import type { OwnPassword } from './own-password.ts'

export type SelfProof = {
  password?: string | undefined
  /** The user's own email. Used only in sessions, for accounts without a password. */
  confirm?: string | undefined
}

const lacking = (path: string, message: string): AppError =>
  new AppError('invalid_request', `Confirm that it is you: ${path} ${message}.`, {
    errors: [{ path, message }],
  })

const assertConfirmed = (actor: Actor, confirm: string | undefined): void => {
  if (actor.expiresAt !== undefined) throw new AppError('forbidden', 'A token is not sufficient. Sign in to do this.')
  if (confirm?.trim().toLowerCase() !== actor.email) throw lacking('confirm', 'must be the email of this account')
}

/** Makes signed-in users prove their identity again before irreversible operations. */
export const createSelfProof = ({ db, ownPassword }: { db: Database; ownPassword: OwnPassword }) => {
  const hasPassword = async ({ userId }: Actor): Promise<boolean> => {
    const found = await store.findCredentials(db, userId)
    if (found === undefined) throw new AppError('unauthenticated', 'This account is gone.')
    return found.passwordHash !== UNUSABLE_PASSWORD_HASH
  }
  return {
    /** Accounts created through an external provider may have none. */
    hasPassword,
    /** Throws `forbidden` for a wrong password, `invalid_request` if the required proof is missing. */
    proveSelf: async (actor: Actor, { password, confirm }: SelfProof): Promise<void> => {
      if (!(await hasPassword(actor))) return assertConfirmed(actor, confirm)
      if (password === undefined) throw lacking('password', 'is missing')
      await ownPassword.prove(actor, password, async () => undefined)
    },
  }
}
