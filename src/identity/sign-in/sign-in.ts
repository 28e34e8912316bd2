import { transact } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { assertNotSuspended } from '../../lib/kernel/suspensions.ts'
import type { User } from '../account.ts'
import { auditFailedSignIn, auditSignIn } from '../account-audit.ts'
import type { AccountParts } from '../account-parts.ts'
import * as store from '../accounts.store.ts'
import type { SecondFactors, SecondStep } from '../second-factor/second-factor.service.ts'

/** Credentials and the network address they were sent from. */
type Credentials = { email: string; password: string; address: string }
export type SignInInput = Credentials & { code?: string | undefined }

/** A user who entered the correct password, and the hash it matched. */
type Proven = { user: User; passwordHash: string }

/** Result of the first sign-in step: either complete or waiting for a code. */
export type FirstStep = { user: User; secondStep: SecondStep | undefined }

export type SignInParts = AccountParts & { secondFactors: SecondFactors }

// The same message for every failure, so that it does not reveal whether the account exists.
const wrongCredentials = (): AppError => new AppError('unauthenticated', 'The email or the password is wrong.')

export const createSignIn = ({ db, passwords, throttle, secondFactors }: SignInParts) => {
  /** Checks the password. `user` is set if the account exists, `passwordHash` only if the password is correct. */
  const prove = async (email: string, password: string): Promise<{ user?: User; passwordHash?: string }> => {
    const found = await store.findCredentials(db, { email })
    const { isRight, needsRehash } = await passwords.checkPassword(password, found?.passwordHash)
    if (found === undefined) return {}
    const { user, passwordHash } = found
    if (!isRight || passwordHash === undefined) return { user }
    if (!needsRehash) return { user, passwordHash }
    const newHash = await passwords.hashPassword(password)
    const isReplaced = await store.replacePasswordHash(db, user.id, { from: passwordHash, to: newHash })
    // If the hash was not replaced, a concurrent sign-in has rehashed it or the password has changed.
    return isReplaced ? { user, passwordHash: newHash } : prove(email, password)
  }

  /** Counts the attempt as a failure until `forgiveSignIn`, because the code may still be missing. */
  const checkCredentials = async ({ email, password, address }: Credentials): Promise<Proven> => {
    await throttle.countSignIn({ email, address })
    const { user, passwordHash } = await prove(email, password)
    if (user !== undefined && passwordHash !== undefined) return { user, passwordHash }
    await auditFailedSignIn(db, { email, address }, user)
    throw wrongCredentials()
  }

  /**
   * Records the sign-in and forgives the attempts. Fails if the password changed while it was being checked, or if the
   * account is suspended.
   */
  const complete = async ({ user, passwordHash }: Proven, credentials: Credentials): Promise<void> => {
    await transact(db, async tx => {
      const found = await store.findCredentials(tx, { id: user.id })
      if (found?.passwordHash !== passwordHash) throw wrongCredentials()
      assertNotSuspended('account', found.user.suspendedReason)
      await auditSignIn(tx, user, credentials.address)
    })
    await throttle.forgiveSignIn(credentials)
  }

  return {
    /**
     * Signs in with password and code together. Whether or not the account exists, does the same work and throws the
     * same `unauthenticated` error. If the password is correct but a valid code is still required, the error names
     * `code`.
     */
    signIn: async ({ code, ...credentials }: SignInInput): Promise<User> => {
      const proven = await checkCredentials(credentials)
      await secondFactors.assertSecondFactor(proven.user, code, credentials.address)
      await complete(proven, credentials)
      return proven.user
    },

    /** Checks the password. The sign-in is complete only if no second step is required. Throws like `signIn`. */
    beginSignIn: async (credentials: Credentials): Promise<FirstStep> => {
      const proven = await checkCredentials(credentials)
      const { user } = proven
      const secondStep = await secondFactors.findSecondStep(user.id)
      if (secondStep !== undefined) {
        // Uncounts only this attempt. Resetting the counter would allow ten more code guesses per password entry.
        await throttle.uncountSignIn(credentials)
        return { user, secondStep }
      }
      await complete(proven, credentials)
      return { user, secondStep }
    },

    /** Finishes a sign-in with its code. Throws `unauthenticated`; see `passSecondStep`. */
    finishSignIn: async (step: SecondStep, code: string, address: string): Promise<User> => {
      const user = await secondFactors.passSecondStep(step, code, address)
      assertNotSuspended('account', user.suspendedReason)
      await auditSignIn(db, user, address)
      return user
    },
  }
}
export type SignIns = ReturnType<typeof createSignIn>
