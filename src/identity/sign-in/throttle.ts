import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Counters } from '../../lib/db/counters.ts'
import { networkOf } from '../../lib/http/network.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'

type Limit = { name: string; most: number; windowMs: number }

/** Limits on failed sign-ins per account and network, per account, and per network. */
const SIGN_IN_HERE: Limit = { name: 'sign-in', most: 10, windowMs: 15 * MINUTE_MS }
const SIGN_IN_ANYWHERE: Limit = { name: 'sign-in-account', most: 100, windowMs: 24 * HOUR_MS }
const SIGN_IN_ADDRESS: Limit = { name: 'sign-in-address', most: 100, windowMs: HOUR_MS }
/** Limit on sign-ups per network: enough for a classroom behind one router, too few for a script. */
const SIGN_UP_ADDRESS: Limit = { name: 'sign-up-address', most: 50, windowMs: HOUR_MS }

/** Limits on requested emails per mailbox and per network. */
const MAIL_ACCOUNT: Limit = { name: 'mail-account', most: 5, windowMs: HOUR_MS }
const MAIL_ADDRESS: Limit = { name: 'mail-address', most: 30, windowMs: HOUR_MS }

/** External sign-ins per network, because each creates a session. Enough for a large office in the morning. */
const EXTERNAL_ADDRESS: Limit = { name: 'external-address', most: 1_000, windowMs: HOUR_MS }

const keyOf = ({ name }: Limit, ...parts: string[]): string => `${name}:${hash('sha256', JSON.stringify(parts))}`

const tooMany = (resetsInMs: number): AppError => {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('rate_limited', `Too many attempts. Try again in ${wait}.`, { retryAfterSeconds })
}

/** A sign-in attempt: the network address and the email, which may not belong to an account. */
export type Attempt = { email: string; address?: string | undefined }

/** Blocks cached by this process. The oldest are evicted first and then read from the counters again. */
const MAX_BLOCKS = 10_000

/** Limits sign-in attempts, sign-ups and requested emails. Every `count…` function throws `rate_limited`. */
export const createThrottle = (counters: Counters, now: () => number = Date.now) => {
  // Spares the database further attempts by blocked clients.
  const blockedUntil = new LRUCache<string, number>({ maxSize: MAX_BLOCKS, sizeCalculation: () => 1 })
  // Counts how often blocks were lifted. A count read before that may be outdated, so its block is not cached.
  let liftings = 0
  const assertNotBlocked = (key: string): void => {
    const until = blockedUntil.get(key)
    if (until === undefined) return
    const resetsInMs = until - now()
    if (resetsInMs > 0) throw tooMany(resetsInMs)
    blockedUntil.delete(key)
  }
  const count = async (limit: Limit, key: string): Promise<void> => {
    assertNotBlocked(key)
    const liftingsBefore = liftings
    const { count, resetsInMs } = await counters.increment(key, limit.windowMs)
    if (count <= limit.most) return
    if (liftings === liftingsBefore) blockedUntil.set(key, now() + resetsInMs)
    throw tooMany(resetsInMs)
  }
  const countBy = (limit: Limit, ...parts: string[]): Promise<void> => count(limit, keyOf(limit, ...parts))
  const keysOf = ({ email, address = '' }: Attempt) => ({
    here: keyOf(SIGN_IN_HERE, email, networkOf(address)),
    anywhere: keyOf(SIGN_IN_ANYWHERE, email),
    address: keyOf(SIGN_IN_ADDRESS, networkOf(address)),
  })
  /** Call after the counters have changed: an attempt in between would cache a block by the old count again. */
  const liftBlocks = (attempt: Attempt): void => {
    liftings += 1
    for (const key of Object.values(keysOf(attempt))) blockedUntil.delete(key)
  }
  return {
    /** Counts the attempt before the password is checked, so that concurrent attempts cannot exceed the limit. */
    countSignIn: async (attempt: Attempt): Promise<void> => {
      const keys = keysOf(attempt)
      for (const key of Object.values(keys)) assertNotBlocked(key)
      // The network is counted first, so that a blocked network creates no more account counters.
      await count(SIGN_IN_ADDRESS, keys.address)
      await count(SIGN_IN_HERE, keys.here)
      await count(SIGN_IN_ANYWHERE, keys.anywhere)
    },
    /** Uncounts a successful sign-in and resets the counter for this account and network. */
    forgiveSignIn: async (attempt: Attempt): Promise<void> => {
      const keys = keysOf(attempt)
      await counters.reset(keys.here)
      await counters.decrement(keys.anywhere)
      await counters.decrement(keys.address)
      liftBlocks(attempt)
    },
    /**
     * Like `forgiveSignIn`, and resets the counter for this account and all networks. For users who have proved in
     * another way that the account is theirs: the failures may be those of others. Other processes must be told
     * afterwards to forget their blocks.
     */
    forgiveAccount: async (attempt: Attempt): Promise<void> => {
      const keys = keysOf(attempt)
      await counters.reset(keys.here)
      await counters.reset(keys.anywhere)
      await counters.decrement(keys.address)
      liftBlocks(attempt)
    },
    /** Uncounts an attempt that did not fail, without resetting previous failures. */
    uncountSignIn: async (attempt: Attempt): Promise<void> => {
      for (const key of Object.values(keysOf(attempt))) await counters.decrement(key)
    },
    /**
     * Counts each kind of email separately. Also counts emails that have no account, because the limit must not reveal
     * which accounts exist.
     */
    countMail: async (kind: string, { email, address = '' }: Attempt): Promise<void> => {
      await countBy(MAIL_ADDRESS, networkOf(address))
      await countBy(MAIL_ACCOUNT, kind, email)
    },
    countExternal: (address: string): Promise<void> => countBy(EXTERNAL_ADDRESS, networkOf(address)),
    /** Clears the cached blocks, so that the next attempt consults the counters again. */
    forgetBlocks: (): void => {
      liftings += 1
      blockedUntil.clear()
    },
    countSignUp: (address: string): Promise<void> => countBy(SIGN_UP_ADDRESS, networkOf(address)),
  }
}
export type Throttle = ReturnType<typeof createThrottle>
