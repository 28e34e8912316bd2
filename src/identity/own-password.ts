import type { Database } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { accountGone, type User } from './account.ts'
import * as store from './accounts.store.ts'
import type { Passwords } from './passwords.ts'
import type { Throttle } from './sign-in/throttle.ts'

export type OwnPasswordParts = { db: Database; passwords: Passwords; throttle: Throttle }

const noPassword = (path: string): AppError =>
  new AppError('conflict', 'This account has no password yet. Set one first, using “Forgot your password?”.', {
    errors: [{ path, message: 'is not set yet; set one using “Forgot your password?”' }],
  })

const wrongPassword = (path: string): AppError =>
  new AppError('forbidden', 'The password is wrong.', { errors: [{ path, message: 'is wrong' }] })

/** Requires signed-in users to enter their password again before sensitive operations. */
export const createOwnPassword = ({ db, passwords, throttle }: OwnPasswordParts) => ({
  /**
   * Runs `work` if the password is the actor's. Counts as a failed sign-in until `work` succeeds, so that a code
   * checked by `work` cannot be guessed either. Throws `forbidden`, or `conflict` if the account has no password.
   */
  prove: async <T>(
    actor: Actor,
    password: string,
    work: (user: User, passwordHash: string) => Promise<T>,
    /** Path of the password in the input, used in error messages. */
    path = 'password',
  ): Promise<T> => {
    await throttle.countSignIn(actor)
    const { user, passwordHash } = orThrow(await store.findCredentials(db, { email: actor.email }), accountGone)
    if (user.id !== actor.userId) throw accountGone()
    if (passwordHash === undefined) throw noPassword(path)
    if (!(await passwords.checkPassword(password, passwordHash)).isRight) throw wrongPassword(path)
    const result = await work(user, passwordHash)
    await throttle.forgiveSignIn(actor)
    return result
  },
})
export type OwnPassword = ReturnType<typeof createOwnPassword>

export type SelfProof = {
  password?: string | undefined
  /** The user's own email. Used only in sessions of accounts without a password. */
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
    const { passwordHash } = orThrow(await store.findCredentials(db, { id: userId }), accountGone)
    return passwordHash !== undefined
  }
  return {
    /** Whether the actor has a password. Accounts created through an external provider may not. */
    hasPassword,
    /** Throws `forbidden` for a wrong password, and `invalid_request` if the required proof is missing. */
    proveSelf: async (actor: Actor, { password, confirm }: SelfProof): Promise<void> => {
      if (!(await hasPassword(actor))) return assertConfirmed(actor, confirm)
      if (password === undefined) throw lacking('password', 'is missing')
      await ownPassword.prove(actor, password, async () => undefined)
    },
  }
}
