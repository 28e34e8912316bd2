import { type Actor, AppError } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { User } from './account.ts'
import * as store from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import type { Passwords } from './passwords.ts'
import type { Throttle } from './throttle.ts'

export type OwnPasswordParts = { db: Database; passwords: Passwords; throttle: Throttle }

const noPassword = (path: string): AppError =>
  new AppError('conflict', 'This account has no password yet: set one first, by “Forgotten password”.', {
    errors: [{ path, message: 'is not set yet: set one by “Forgotten password”' }],
  })

const wrongPassword = (path: string): AppError =>
  new AppError('forbidden', 'The password is wrong.', { errors: [{ path, message: 'is wrong' }] })

/** Asks who is signed in for their password again: a session left open, or a token, is not enough for everything. */
export const createOwnPassword = ({ db, passwords, throttle }: OwnPasswordParts) => ({
  /**
   * Does `work` for who gives the actor's own password. Counted as a sign-in until `work` is done, so that what else
   * it asks for cannot be guessed either. Throws `forbidden`, or `conflict` where the account has no password.
   */
  prove: async <T>(
    actor: Actor,
    password: string,
    work: (user: User, passwordHash: string) => Promise<T>,
    /** Where the password came in, for the errors. */
    path = 'password',
  ): Promise<T> => {
    const attempt = { email: actor.email, address: actor.address ?? '' }
    await throttle.countSignIn(attempt)
    const found = await store.findUserByEmail(db, actor.email)
    if (found === undefined || found.id !== actor.userId) throw new AppError('unauthenticated', 'This account is gone.')
    const { passwordHash, ...user } = found
    if (passwordHash === UNUSABLE_PASSWORD_HASH) throw noPassword(path)
    if (!(await passwords.checkPassword(password, passwordHash)).isRight) throw wrongPassword(path)
    const result = await work(user, passwordHash)
    await throttle.forgiveSignIn(attempt)
    return result
  },
})
export type OwnPassword = ReturnType<typeof createOwnPassword>
