import { hash } from 'node:crypto'
import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { SealContext, Sealing } from '../../lib/process/sealing.ts'
import type { User } from '../account.ts'
import type { AccountParts } from '../account-parts.ts'
import * as accountStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { type AuditActor, selfTarget, userActor, userTarget } from '../audit/audit-entry.ts'
import { isSameSecret } from '../credentials.ts'
import { removeSessions } from '../sign-in/sessions.store.ts'
import { assertConfirmed } from '../unconfirmed.ts'
import {
  findStep,
  hashRecoveryCode,
  makeRecoveryCode,
  makeTotpSecret,
  parseCode,
  RECOVERY_CODES,
  totpUri,
} from './second-factor.codes.ts'
import * as store from './second-factor.store.ts'

export type SecondFactorsParts = AccountParts & { sealing: Pick<Sealing, 'seal' | 'open'> }

/** A sign-in that is waiting for its code. It becomes invalid if the account's password changes. */
export type SecondStep = { userId: string; credential: string }

const sealContext = (userId: string): SealContext => ({ purpose: 'second-factor', ownerId: userId, name: 'totp' })

const credentialOf = (passwordHash: string | undefined): string => hash('sha256', passwordHash ?? '')

const codeMissing = (): AppError =>
  new AppError('unauthenticated', 'This account has a second factor: send a code as well.', {
    errors: [{ path: 'code', message: 'is missing' }],
  })

/** Completes "before you …" in the error for an unconfirmed email. */
const TURN_ON = 'turn on two-factor authentication'

const WRONG_CODE = 'is wrong or has already been used'
const wrongCode = (code: 'unauthenticated' | 'forbidden'): AppError =>
  new AppError(code, `The code ${WRONG_CODE}.`, { errors: [{ path: 'code', message: WRONG_CODE }] })

/** Operations on second factors: codes from an authenticator app, and recovery codes. */
export const createSecondFactors = ({ db, changes, sealing, ownPassword, throttle }: SecondFactorsParts) => {
  const openSecret = (userId: string, { sealed }: store.SecondFactor): string =>
    sealing.open(sealed, sealContext(userId))

  const isInForce = async (tx: Transaction, userId: string): Promise<boolean> =>
    (await store.findSecondFactor(tx, userId))?.confirmedAt !== undefined

  /** Uses up a code of either kind. Returns whether it was valid. */
  const takeCode = async (tx: Transaction, user: User, text: string, actor: AuditActor): Promise<boolean> => {
    const factor = await store.findSecondFactor(tx, user.id)
    const parsed = parseCode(text)
    if (factor?.confirmedAt === undefined || parsed === undefined) return false
    if (parsed.kind === 'time') {
      const step = findStep(openSecret(user.id, factor), parsed.code)
      return step !== undefined && (await store.takeStep(tx, user.id, step))
    }
    if (!(await store.takeRecoveryCode(tx, user.id, hashRecoveryCode(parsed.code), new Date()))) return false
    const left = await store.countRecoveryCodes(tx, user.id)
    await writeAudit(tx, { action: 'user.recovery_code_used', actor, target: userTarget(user), change: { left } })
    return true
  }

  const makeRecoveryCodes = async (tx: Transaction, userId: string): Promise<string[]> => {
    const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode)
    const hashes = codes.map(code => hashRecoveryCode(parseCode(code)?.code ?? code))
    await store.replaceRecoveryCodes(tx, userId, hashes)
    return codes
  }

  const assertOff = async (tx: Transaction, userId: string): Promise<void> => {
    if (!(await isInForce(tx, userId))) return
    throw new AppError('conflict', 'Two-factor authentication is already on. Turn it off first.')
  }

  const assertOn = async (tx: Transaction, userId: string): Promise<void> => {
    if (await isInForce(tx, userId)) return
    throw new AppError('conflict', 'Two-factor authentication is not on for this account.')
  }

  /** Checks the password and the code, and runs `work` in the transaction that uses up the code. */
  const withBoth = <T>(
    actor: Actor,
    { password, code }: { password: string; code: string },
    work: (tx: Transaction, user: User) => Promise<T>,
  ): Promise<T> =>
    ownPassword.prove(actor, password, user =>
      changes.commit(async tx => {
        await assertOn(tx, user.id)
        if (!(await takeCode(tx, user, code, actor))) throw wrongCode('forbidden')
        return work(tx, user)
      }),
    )

  const takeSignInCode = async (user: User, code: string, address: string): Promise<void> => {
    if (await changes.commit(tx => takeCode(tx, user, code, userActor(user, address)))) return
    const change = { reason: 'wrong code' }
    await writeAudit(db, { action: 'user.sign_in_failed', actor: { address }, target: userTarget(user), change })
    throw wrongCode('unauthenticated')
  }

  return {
    getSecondFactor: async ({ userId }: Actor): Promise<{ isOn: boolean; recoveryCodesLeft: number }> => {
      const isOn = await isInForce(db, userId)
      return { isOn, recoveryCodesLeft: isOn ? await store.countRecoveryCodes(db, userId) : 0 }
    },

    /**
     * Creates a secret that takes effect after `confirmSecondFactor`. Throws `conflict` if a second factor is already
     * active, or the email is not confirmed.
     */
    beginSecondFactor: async (actor: Actor, password: string): Promise<{ secret: string; uri: string }> => {
      assertConfirmed(actor, TURN_ON)
      return ownPassword.prove(actor, password, async user => {
        const secret = makeTotpSecret()
        const sealed = sealing.seal(secret, sealContext(user.id))
        await changes.commit(async tx => {
          await assertOff(tx, user.id)
          await store.setUnconfirmed(tx, user.id, sealed)
        })
        return { secret, uri: totpUri(secret, user.email) }
      })
    },

    /** Returns the recovery codes, which cannot be retrieved again. Ends all sessions except `keptSid`. */
    confirmSecondFactor: async (actor: Actor, code: string, keptSid: string | undefined): Promise<string[]> => {
      assertConfirmed(actor, TURN_ON)
      await throttle.countSignIn(actor)
      const confirmed = await changes.commit(async tx => {
        await assertOff(tx, actor.userId)
        const factor = await store.findSecondFactor(tx, actor.userId)
        if (factor === undefined) throw new AppError('conflict', 'There is no second factor to confirm. Start over.')
        const parsed = parseCode(code)
        const step = parsed?.kind === 'time' ? findStep(openSecret(actor.userId, factor), parsed.code) : undefined
        if (step === undefined) throw wrongCode('forbidden')
        await store.confirmSecondFactor(tx, actor.userId, { ...factor, step })
        const codes = await makeRecoveryCodes(tx, actor.userId)
        await removeSessions(tx, actor.userId, keptSid)
        await writeAudit(tx, { action: 'user.second_factor_added', actor, target: selfTarget(actor) })
        return codes
      })
      await throttle.forgiveSignIn(actor)
      return confirmed
    },

    /** Ends all sessions except `keptSid`. */
    removeSecondFactor: (
      actor: Actor,
      proof: { password: string; code: string },
      keptSid: string | undefined,
    ): Promise<void> =>
      withBoth(actor, proof, async (tx, user) => {
        await store.removeSecondFactor(tx, user.id)
        await removeSessions(tx, user.id, keptSid)
        await writeAudit(tx, { action: 'user.second_factor_removed', actor, target: userTarget(user) })
      }),

    /** Creates new recovery codes that replace all previous ones. */
    renewRecoveryCodes: (actor: Actor, proof: { password: string; code: string }): Promise<string[]> =>
      withBoth(actor, proof, async (tx, user) => {
        const codes = await makeRecoveryCodes(tx, user.id)
        await writeAudit(tx, { action: 'user.recovery_codes_made', actor, target: userTarget(user) })
        return codes
      }),

    /**
     * Turns two-factor authentication off from the operator's command line, for users who have lost all their codes.
     * Throws `not_found` if it is already off.
     */
    resetSecondFactor: (user: User): Promise<void> =>
      changes.commit(async tx => {
        if (!(await store.removeSecondFactor(tx, user.id))) {
          throw new AppError('not_found', `Two-factor authentication is not on for the account ${user.email}.`)
        }
        await removeSessions(tx, user.id, undefined)
        await writeAudit(tx, { action: 'user.second_factor_removed', actor: undefined, target: userTarget(user) })
      }),

    /** Returns the second step required after the password or external sign-in, or undefined if none is required. */
    findSecondStep: async (userId: string): Promise<SecondStep | undefined> => {
      if (!(await isInForce(db, userId))) return undefined
      const credentials = await accountStore.findCredentials(db, { id: userId })
      return credentials && { userId, credential: credentialOf(credentials.passwordHash) }
    },

    /** Finishes a sign-in. Throws `unauthenticated` if the code is wrong or the step is no longer valid. */
    passSecondStep: async ({ userId, credential }: SecondStep, code: string, address: string): Promise<User> => {
      const credentials = await accountStore.findCredentials(db, { id: userId })
      if (credentials === undefined || !isSameSecret(credentialOf(credentials.passwordHash), credential)) {
        throw new AppError('unauthenticated', 'This sign-in has expired. Please start over.')
      }
      const { user } = credentials
      await throttle.countSignIn({ email: user.email, address })
      await takeSignInCode(user, code, address)
      await throttle.forgiveSignIn({ email: user.email, address })
      return user
    },

    /**
     * Checks a code sent together with the password. The attempt has already been counted. Does nothing if the user has
     * no second factor.
     */
    assertSecondFactor: async (user: User, code: string | undefined, address: string): Promise<void> => {
      if (!(await isInForce(db, user.id))) return
      if (code === undefined) throw codeMissing()
      await takeSignInCode(user, code, address)
    },
  }
}
export type SecondFactors = ReturnType<typeof createSecondFactors>
