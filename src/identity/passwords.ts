import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { BulkheadRejectedError, bulkhead } from 'cockatiel'
import { AppError } from '../lib/kernel/errors.ts'

export type HashingLimits = { maxAtOnce: number; maxWaiting: number }

/** Cost parameters of one argon2id hash. */
export type HashingCost = { memoryKib: number; passes: number }

/** The minimum that OWASP recommends. Takes ten milliseconds on one core. */
const COST: HashingCost = { memoryKib: 19_456, passes: 2 }
const THREADS = 1

/**
 * Limits on running and waiting hashes: each hash occupies a core and 19 MiB of memory. Leaves one core for calls, and
 * one of the four threads in Node's pool for DNS lookups.
 */
const HASHING: HashingLimits = { maxAtOnce: Math.min(3, Math.max(1, availableParallelism() - 1)), maxWaiting: 100 }
const RETRY_AFTER_SECONDS = 5

const tooBusy = (): AppError =>
  new AppError('unavailable', 'Too many people are signing in right now. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/** Normalizes characters that look the same but are encoded differently (RFC 8265 §4.2). */
const normalize = (password: string): string => password.normalize('NFC')

export type PasswordCheck = { isRight: boolean; needsRehash: boolean }

/** Hashes and checks passwords with argon2id. Both operations throw `unavailable` if too many requests are waiting. */
export const createPasswords = (limits: HashingLimits = HASHING, { memoryKib, passes }: HashingCost = COST) => {
  const slots = bulkhead(limits.maxAtOnce, limits.maxWaiting)
  const whenFree = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await slots.execute(work)
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? tooBusy() : error
    }
  }
  const parameters = { memoryCost: memoryKib, timeCost: passes, parallelism: THREADS }
  /** Prefix of hashes with the current parameters. */
  const hashStart = `$argon2id$v=19$m=${memoryKib},t=${passes},p=${THREADS}$`
  /** Hash to check when there is no account, so that the check takes the same time. No known password matches it. */
  const nobodysHash = `${hashStart}${'A'.repeat(22)}$${'A'.repeat(43)}`
  return {
    hashPassword: (password: string): Promise<string> => whenFree(() => hash(normalize(password), parameters)),
    /** Without `passwordHash` (no account), takes the same time and never succeeds. */
    checkPassword: async (password: string, passwordHash: string | undefined): Promise<PasswordCheck> => {
      const isMatch = await whenFree(() => verify(passwordHash ?? nobodysHash, normalize(password)))
      return {
        isRight: isMatch && passwordHash !== undefined,
        needsRehash: passwordHash !== undefined && !passwordHash.startsWith(hashStart),
      }
    },
  }
}
export type Passwords = ReturnType<typeof createPasswords>
