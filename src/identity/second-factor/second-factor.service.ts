import { hash } from 'node:crypto'
import { type Actor, AppError } from '../kernel/index.ts'
import { type AuditActor, writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { SealContext, Sealing } from '../platform/sealing.ts'
import type { User } from './account.ts'
import * as accountStore from './accounts.store.ts'
import { isSameSecret } from './credentials.ts'
import type { OwnPassword } from './own-password.ts'
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
import { removeSessions } from './sessions.store.ts'
import type { Throttle } from './throttle.ts'

export type SecondFactorsParts = {
  db: Database
  changes: Changes
  sealing: Pick<Sealing, 'seal' | 'open'>
  ownPassword: OwnPassword
  throttle: Throttle
  /** Milliseconds since 1970. */
  now: () => number
}

/** A sign-in that waits for its code. It is over when the password that began it is no longer the account's. */
export type SecondStep = { userId: string; credential: string }

const sealContext = (userId: string): SealContext => ({ purpose: 'second-factor', ownerId: userId, name: 'totp' })

const credentialOf = (passwordHash: string): string => hash('sha256', passwordHash)

const codeMissing = (): AppError =>
  new AppError('unauthenticated', 'This account has a second factor: send a code of it as well.', {
    errors: [{ path: 'code', message: 'is missing' }],
  })

const WRONG_CODE = 'is wrong, or has been used'
const wrongCode = (code: 'unauthenticated' | 'forbidden'): AppError =>
  new AppError(code, `The code ${WRONG_CODE}.`, { errors: [{ path: 'code', message: WRONG_CODE }] })

const targetOf = ({ id, email }: Pick<User, 'id' | 'email'>) => ({ type: 'user', id, name: email })

/** Second factors: codes of an app, and recovery codes for who has lost it. */
export const createSecondFactors = ({ db, changes, sealing, ownPassword, throttle, now }: SecondFactorsParts) => {
  const openSecret = (userId: string, { sealed }: store.SecondFactor): string =>
    sealing.open(sealed, sealContext(userId))

  const isInForce = async (tx: Transaction, userId: string): Promise<boolean> =>
    (await store.findSecondFactor(tx, userId))?.confirmedAt !== undefined

  /** Uses up a code of either kind. Answers whether it was good. */
  const takeCode = async (tx: Transaction, user: User, text: string, actor: AuditActor): Promise<boolean> => {
    const factor = await store.findSecondFactor(tx, user.id)
    const parsed = parseCode(text)
    if (factor?.confirmedAt === undefined || parsed === undefined) return false
    if (parsed.kind === 'time') {
      const step = findStep(openSecret(user.id, factor), parsed.code, now())
      return step !== undefined && (await store.takeStep(tx, user.id, step))
    }
    if (!(await store.takeRecoveryCode(tx, user.id, hashRecoveryCode(parsed.code), new Date(now())))) return false
    const left = await store.countRecoveryCodes(tx, user.id)
    await writeAudit(tx, { action: 'user.recovery_code_used', actor, target: targetOf(user), change: { left } })
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
    throw new AppError('conflict', 'A second factor is on already: remove it first.')
  }

  const assertOn = async (tx: Transaction, userId: string): Promise<void> => {
    if (await isInForce(tx, userId)) return
    throw new AppError('conflict', 'There is no second factor on this account.')
  }

  /** Does what takes the password and a code, in the transaction that uses the code up. */
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
    const actor = { userId: user.id, email: user.email, address }
    if (await changes.commit(tx => takeCode(tx, user, code, actor))) return
    await writeAudit(db, {
      action: 'user.sign_in_failed',
      actor: { address },
      target: targetOf(user),
      change: { reason: 'wrong code' },
    })
    throw wrongCode('unauthenticated')
  }

  return {
    getSecondFactor: async ({ userId }: Actor): Promise<{ isOn: boolean; recoveryCodesLeft: number }> => {
      const isOn = await isInForce(db, userId)
      return { isOn, recoveryCodesLeft: isOn ? await store.countRecoveryCodes(db, userId) : 0 }
    },

    /** Makes a secret, which is in force once `confirmSecondFactor` has seen a code of it. Throws `conflict` if one is. */
    beginSecondFactor: (actor: Actor, password: string): Promise<{ secret: string; uri: string }> =>
      ownPassword.prove(actor, password, async user => {
        const secret = makeTotpSecret()
        const sealed = sealing.seal(secret, sealContext(user.id))
        await changes.commit(async tx => {
          await assertOff(tx, user.id)
          await store.setUnconfirmed(tx, user.id, sealed)
        })
        return { secret, uri: totpUri(secret, user.email) }
      }),

    /** Answers the recovery codes: the only time that they are seen. Ends all sessions but `keptSid`. */
    confirmSecondFactor: async (actor: Actor, code: string, keptSid: string | undefined): Promise<string[]> => {
      const attempt = { email: actor.email, address: actor.address ?? '' }
      await throttle.countSignIn(attempt)
      const confirmed = await changes.commit(async tx => {
        await assertOff(tx, actor.userId)
        const factor = await store.findSecondFactor(tx, actor.userId)
        if (factor === undefined) throw new AppError('conflict', 'There is no second factor to confirm: begin anew.')
        const parsed = parseCode(code)
        const step =
          parsed?.kind === 'time' ? findStep(openSecret(actor.userId, factor), parsed.code, now()) : undefined
        if (step === undefined) throw wrongCode('forbidden')
        await store.confirmSecondFactor(tx, actor.userId, { ...factor, confirmedAt: new Date(now()), step })
        const codes = await makeRecoveryCodes(tx, actor.userId)
        await removeSessions(tx, actor.userId, keptSid)
        const target = targetOf({ id: actor.userId, email: actor.email })
        await writeAudit(tx, { action: 'user.second_factor_added', actor, target })
        return codes
      })
      await throttle.forgiveSignIn(attempt)
      return confirmed
    },

    /** Ends all sessions but `keptSid`. */
    removeSecondFactor: (
      actor: Actor,
      proof: { password: string; code: string },
      keptSid: string | undefined,
    ): Promise<void> =>
      withBoth(actor, proof, async (tx, user) => {
        await store.removeSecondFactor(tx, user.id)
        await removeSessions(tx, user.id, keptSid)
        await writeAudit(tx, { action: 'user.second_factor_removed', actor, target: targetOf(user) })
      }),

    /** Makes new recovery codes, in the place of all before. */
    renewRecoveryCodes: (actor: Actor, proof: { password: string; code: string }): Promise<string[]> =>
      withBoth(actor, proof, async (tx, user) => {
        const codes = await makeRecoveryCodes(tx, user.id)
        await writeAudit(tx, { action: 'user.recovery_codes_made', actor, target: targetOf(user) })
        return codes
      }),

    /** As the operator at the command line, for who has lost everything. Throws `not_found` where there is none. */
    resetSecondFactor: (user: User): Promise<void> =>
      changes.commit(async tx => {
        if (!(await store.removeSecondFactor(tx, user.id))) {
          throw new AppError('not_found', `There is no second factor on the account of ${user.email}.`)
        }
        await removeSessions(tx, user.id, undefined)
        await writeAudit(tx, { action: 'user.second_factor_removed', actor: undefined, target: targetOf(user) })
      }),

    /** What a sign-in waits for once the password, or the external provider, has said who it is; undefined: nothing. */
    findSecondStep: async (userId: string): Promise<SecondStep | undefined> => {
      if (!(await isInForce(db, userId))) return undefined
      const credentials = await accountStore.findCredentials(db, userId)
      return credentials && { userId, credential: credentialOf(credentials.passwordHash) }
    },

    /** Finishes a sign-in. Throws `unauthenticated` where the code is no good, or the step is not to be taken any more. */
    passSecondStep: async ({ userId, credential }: SecondStep, code: string, address: string): Promise<User> => {
      const credentials = await accountStore.findCredentials(db, userId)
      if (credentials === undefined || !isSameSecret(credentialOf(credentials.passwordHash), credential)) {
        throw new AppError('unauthenticated', 'This sign-in is over: begin it anew.')
      }
      const { user } = credentials
      await throttle.countSignIn({ email: user.email, address })
      await takeSignInCode(user, code, address)
      await throttle.forgiveSignIn({ email: user.email, address })
      return user
    },

    /** The same for who sent password and code together, and is counted already. No second factor: nothing to do. */
    assertSecondFactor: async (user: User, code: string | undefined, address: string): Promise<void> => {
      if (!(await isInForce(db, user.id))) return
      if (code === undefined) throw codeMissing()
      await takeSignInCode(user, code, address)
    },
  }
}
export type SecondFactors = ReturnType<typeof createSecondFactors>
