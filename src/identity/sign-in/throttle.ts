import { hash } from 'node:crypto'
import { AppError } from '../kernel/index.ts'
import { type Counters, networkOf } from '../platform/counters/index.ts'
import { createNewestEntries } from '../platform/newest-entries.ts'

type Limit = { name: string; most: number; windowMs: number }

const MINUTE_MS = 60 * 1_000
const HOUR_MS = 60 * MINUTE_MS

/** Failed sign-ins: guessing one password, guessing it from many addresses, guessing many from one address. */
const SIGN_IN_HERE: Limit = { name: 'sign-in', most: 10, windowMs: 15 * MINUTE_MS }
const SIGN_IN_ANYWHERE: Limit = { name: 'sign-in-account', most: 100, windowMs: 24 * HOUR_MS }
const SIGN_IN_ADDRESS: Limit = { name: 'sign-in-address', most: 100, windowMs: HOUR_MS }
/** Sign-ups from one address: a classroom behind one router gets in, a script does not get far. */
const SIGN_UP_ADDRESS: Limit = { name: 'sign-up-address', most: 50, windowMs: HOUR_MS }

/** Letters asked for: to one mailbox, and from one network address. */
const MAIL_ACCOUNT: Limit = { name: 'mail-account', most: 5, windowMs: HOUR_MS }
const MAIL_ADDRESS: Limit = { name: 'mail-address', most: 30, windowMs: HOUR_MS }

/** Ways to the external provider from one address: each makes a session; an office that comes to work gets in. */
const EXTERNAL_ADDRESS: Limit = { name: 'external-address', most: 1_000, windowMs: HOUR_MS }

const keyOf = ({ name }: Limit, ...parts: string[]): string => `${name}:${hash('sha256', JSON.stringify(parts))}`

const tooMany = (resetsInMs: number): AppError => {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('rate_limited', `Too many attempts: try again in ${wait}.`, { retryAfterSeconds })
}

/** Who tries to sign in: the account they name, which may not exist, and the network address they come from. */
export type Attempt = { email: string; address: string }

/** Blocks remembered at once by this process; the least used is forgotten first, and asked of the counters again. */
const MAX_BLOCKS = 10_000

/** Slows down who tries passwords, makes accounts or asks for letters in bulk. Every `count…` throws `rate_limited`. */
export const createThrottle = (counters: Counters, now: () => number) => {
  // Who is blocked and goes on trying costs the database nothing.
  const blockedUntil = createNewestEntries<number>(MAX_BLOCKS)
  const assertNotBlocked = (key: string): void => {
    const until = blockedUntil.get(key)
    if (until === undefined) return
    const resetsInMs = until - now()
    if (resetsInMs > 0) throw tooMany(resetsInMs)
    blockedUntil.delete(key)
  }
  const count = async (limit: Limit, key: string): Promise<void> => {
    assertNotBlocked(key)
    const { count, resetsInMs } = await counters.increment(key, limit.windowMs)
    if (count <= limit.most) return
    blockedUntil.set(key, now() + resetsInMs)
    throw tooMany(resetsInMs)
  }
  const keysOf = ({ email, address }: Attempt) => ({
    here: keyOf(SIGN_IN_HERE, email, networkOf(address)),
    anywhere: keyOf(SIGN_IN_ANYWHERE, email),
    address: keyOf(SIGN_IN_ADDRESS, networkOf(address)),
  })
  return {
    /** Counts before the password is looked at, so that attempts made at once do not slip through together. */
    countSignIn: async (attempt: Attempt): Promise<void> => {
      const keys = keysOf(attempt)
      for (const key of Object.values(keys)) assertNotBlocked(key)
      // The address first: one that is blocked makes no more counters of accounts.
      await count(SIGN_IN_ADDRESS, keys.address)
      await count(SIGN_IN_HERE, keys.here)
      await count(SIGN_IN_ANYWHERE, keys.anywhere)
    },
    /** A sign-in that went well was no failure. */
    forgiveSignIn: async (attempt: Attempt): Promise<void> => {
      const keys = keysOf(attempt)
      // It was counted before others were blocked: the counters say whether they still are.
      for (const key of Object.values(keys)) blockedUntil.delete(key)
      await counters.reset(keys.here)
      await counters.decrement(keys.anywhere)
      await counters.decrement(keys.address)
    },
    /** What was counted was no failure, and proved nothing about those before it. */
    uncountSignIn: async (attempt: Attempt): Promise<void> => {
      for (const key of Object.values(keysOf(attempt))) await counters.decrement(key)
    },
    /** Each kind of letter apart; also where there is no such account, which must not show. */
    countMail: async (kind: string, { email, address }: Attempt): Promise<void> => {
      await count(MAIL_ADDRESS, keyOf(MAIL_ADDRESS, networkOf(address)))
      await count(MAIL_ACCOUNT, keyOf(MAIL_ACCOUNT, kind, email))
    },
    countExternal: (address: string): Promise<void> =>
      count(EXTERNAL_ADDRESS, keyOf(EXTERNAL_ADDRESS, networkOf(address))),
    countSignUp: (address: string): Promise<void> => count(SIGN_UP_ADDRESS, keyOf(SIGN_UP_ADDRESS, networkOf(address))),
  }
}
export type Throttle = ReturnType<typeof createThrottle>
