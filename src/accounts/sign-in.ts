import { AppError } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { User } from './account.ts'
import { auditFailedSignIn, auditSignIn } from './account-audit.ts'
import * as store from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import type { Passwords } from './passwords.ts'
import type { SecondFactors, SecondStep } from './second-factor.service.ts'
import type { Throttle } from './throttle.ts'

/** Credentials as they come in, with the network address they come from. */
type Credentials = { email: string; password: string; address: string }
export type SignInInput = Credentials & { code?: string | undefined }

/** What the first step of a sign-in comes to: it is done, or waits for a code. */
export type FirstStep = { user: User; secondStep: SecondStep | undefined }

export type SignInParts = { db: Database; passwords: Passwords; throttle: Throttle; secondFactors: SecondFactors }

// One text for every way to fail: whether there is an account is nobody's business.
const wrongCredentials = (): AppError => new AppError('unauthenticated', 'The e-mail address or the password is wrong.')

export const createSignIn = ({ db, passwords, throttle, secondFactors }: SignInParts) => {
  /** Counted as a failure until it is forgiven: a right password may still lack its code. */
  const checkCredentials = async ({ email, password, address }: Credentials): Promise<User> => {
    await throttle.countSignIn({ email, address })
    const found = await store.findUserByEmail(db, email)
    const { isRight, needsRehash } = await passwords.checkPassword(
      password,
      found?.passwordHash === UNUSABLE_PASSWORD_HASH ? undefined : found?.passwordHash,
    )
    if (found === undefined || !isRight) {
      await auditFailedSignIn(db, { email, address }, found)
      throw wrongCredentials()
    }
    const { passwordHash: _, ...user } = found
    if (needsRehash) await store.updatePasswordHash(db, user.id, await passwords.hashPassword(password))
    return user
  }

  return {
    /**
     * In one go. Throws `unauthenticated`, the same and after the same work whether or not there is such an account;
     * after a right password its errors name `code` where the account has a second factor and the code is no good.
     */
    signIn: async ({ code, ...credentials }: SignInInput): Promise<User> => {
      const user = await checkCredentials(credentials)
      await secondFactors.assertSecondFactor(user, code, credentials.address)
      await throttle.forgiveSignIn(credentials)
      await auditSignIn(db, user, credentials.address)
      return user
    },

    /** The password alone: the sign-in is done only where nothing else is waited for. Throws as `signIn` does. */
    beginSignIn: async (credentials: Credentials): Promise<FirstStep> => {
      const user = await checkCredentials(credentials)
      const secondStep = await secondFactors.findSecondStep(user.id)
      if (secondStep !== undefined) {
        // Not forgiven: codes guessed before count on, or the password would buy ten more of them.
        await throttle.uncountSignIn(credentials)
        return { user, secondStep }
      }
      await throttle.forgiveSignIn(credentials)
      await auditSignIn(db, user, credentials.address)
      return { user, secondStep }
    },

    /** The code that a sign-in waits for. Throws `unauthenticated`; see `passSecondStep`. */
    finishSignIn: async (step: SecondStep, code: string, address: string): Promise<User> => {
      const user = await secondFactors.passSecondStep(step, code, address)
      await auditSignIn(db, user, address)
      return user
    },
  }
}
export type SignIns = ReturnType<typeof createSignIn>
