import { AppError } from '../kernel/index.ts'
import { type Database, transact } from '../platform/db/index.ts'
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

/** Somebody who gave the right password, with the hash that it fits. */
type Proven = { user: User; passwordHash: string }

/** What the first step of a sign-in comes to: it is done, or waits for a code. */
export type FirstStep = { user: User; secondStep: SecondStep | undefined }

export type SignInParts = { db: Database; passwords: Passwords; throttle: Throttle; secondFactors: SecondFactors }

// One text for every way to fail: whether there is an account is nobody's business.
const wrongCredentials = (): AppError => new AppError('unauthenticated', 'The e-mail address or the password is wrong.')

export const createSignIn = ({ db, passwords, throttle, secondFactors }: SignInParts) => {
  /** `user`: whose address it is, whether or not the password is right. */
  const prove = async (email: string, password: string): Promise<{ user?: User; passwordHash?: string }> => {
    const found = await store.findUserByEmail(db, email)
    const { isRight, needsRehash } = await passwords.checkPassword(
      password,
      found?.passwordHash === UNUSABLE_PASSWORD_HASH ? undefined : found?.passwordHash,
    )
    if (found === undefined) return {}
    const { passwordHash, ...user } = found
    if (!isRight) return { user }
    if (!needsRehash) return { user, passwordHash }
    const newHash = await passwords.hashPassword(password)
    const isReplaced = await store.replacePasswordHash(db, user.id, { from: passwordHash, to: newHash })
    // Another sign-in may have been quicker, or the password is another by now.
    return isReplaced ? { user, passwordHash: newHash } : prove(email, password)
  }

  /** Counted as a failure until it is forgiven: a right password may still lack its code. */
  const checkCredentials = async ({ email, password, address }: Credentials): Promise<Proven> => {
    await throttle.countSignIn({ email, address })
    const { user, passwordHash } = await prove(email, password)
    if (user !== undefined && passwordHash !== undefined) return { user, passwordHash }
    await auditFailedSignIn(db, { email, address }, user)
    throw wrongCredentials()
  }

  /** Comparing takes a while. Where the password was changed meanwhile, nothing begins of what that has just ended. */
  const noteSignIn = ({ user, passwordHash }: Proven, address: string): Promise<void> =>
    transact(db, async tx => {
      const found = await store.findCredentials(tx, user.id)
      if (found?.passwordHash !== passwordHash) throw wrongCredentials()
      await auditSignIn(tx, user, address)
    })

  return {
    /**
     * In one go. Throws `unauthenticated`, the same and after the same work whether or not there is such an account;
     * after a right password its errors name `code` where the account has a second factor and the code is no good.
     */
    signIn: async ({ code, ...credentials }: SignInInput): Promise<User> => {
      const proven = await checkCredentials(credentials)
      await secondFactors.assertSecondFactor(proven.user, code, credentials.address)
      await noteSignIn(proven, credentials.address)
      await throttle.forgiveSignIn(credentials)
      return proven.user
    },

    /** The password alone: the sign-in is done only where nothing else is waited for. Throws as `signIn` does. */
    beginSignIn: async (credentials: Credentials): Promise<FirstStep> => {
      const proven = await checkCredentials(credentials)
      const { user } = proven
      const secondStep = await secondFactors.findSecondStep(user.id)
      if (secondStep !== undefined) {
        // Not forgiven: codes guessed before count on, or the password would buy ten more of them.
        await throttle.uncountSignIn(credentials)
        return { user, secondStep }
      }
      await noteSignIn(proven, credentials.address)
      await throttle.forgiveSignIn(credentials)
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
