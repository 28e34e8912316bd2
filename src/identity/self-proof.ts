import { type Actor, AppError } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import * as store from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import type { OwnPassword } from './own-password.ts'

export type SelfProof = {
  password?: string | undefined
  /** One's own address: all that an account without a password can be asked for, and only of a session. */
  confirm?: string | undefined
}

const lacking = (path: string, message: string): AppError =>
  new AppError('invalid_request', `This needs a proof that it is you: ${path} ${message}.`, {
    errors: [{ path, message }],
  })

const assertConfirmed = (actor: Actor, confirm: string | undefined): void => {
  if (actor.expiresAt !== undefined) throw new AppError('forbidden', 'A token is not enough for this: sign in.')
  if (confirm?.trim().toLowerCase() !== actor.email)
    throw lacking('confirm', 'must be the e-mail address of this account')
}

/** For what cannot be undone: who is signed in shows once more that it is them. */
export const createSelfProof = ({ db, ownPassword }: { db: Database; ownPassword: OwnPassword }) => {
  const hasPassword = async ({ userId }: Actor): Promise<boolean> => {
    const found = await store.findCredentials(db, userId)
    if (found === undefined) throw new AppError('unauthenticated', 'This account is gone.')
    return found.passwordHash !== UNUSABLE_PASSWORD_HASH
  }
  return {
    /** Accounts of an external provider may have none. */
    hasPassword,
    /** Throws `forbidden` for a wrong password, `invalid_request` where what is needed is missing. */
    proveSelf: async (actor: Actor, { password, confirm }: SelfProof): Promise<void> => {
      if (!(await hasPassword(actor))) return assertConfirmed(actor, confirm)
      if (password === undefined) throw lacking('password', 'is missing')
      await ownPassword.prove(actor, password, async () => undefined)
    },
  }
}
