import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '../kernel/index.ts'
import { createGate, type GateLimits } from './gate.ts'

/** The work of one hash with argon2id. */
export type HashingCost = { memoryKib: number; passes: number }

/** OWASP's least. Ten milliseconds on one core. */
const COST: HashingCost = { memoryKib: 19_456, passes: 2 }
const THREADS = 1

/**
 * Hashing fills a core and 19 MiB each: so many at once, so many waiting, and the rest is asked to come back. A core is
 * left to calls, and of the four threads that Node works on besides one is left to the look-up of names.
 */
const HASHING: GateLimits = { maxAtOnce: Math.min(3, Math.max(1, availableParallelism() - 1)), maxWaiting: 100 }
const RETRY_AFTER_SECONDS = 5

const tooBusy = (): AppError =>
  new AppError('unavailable', 'Too many people are signing in at this moment: try again in a few seconds.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/** One spelling for what looks the same on every keyboard (RFC 8265 §4.2). */
const normalize = (password: string): string => password.normalize('NFC')

export type PasswordCheck = { isRight: boolean; needsRehash: boolean }

/** Hashes passwords with argon2id; both throw `unavailable` when too much is waiting. */
export const createPasswords = (limits: GateLimits = HASHING, { memoryKib, passes }: HashingCost = COST) => {
  const gate = createGate(limits, tooBusy)
  const parameters = { memoryCost: memoryKib, timeCost: passes, parallelism: THREADS }
  /** How each of our hashes starts; one that does not was made with other parameters. */
  const hashStart = `$argon2id$v=19$m=${memoryKib},t=${passes},p=${THREADS}$`
  /** Stands in where there is no account: the work is the same, and no password is known to lead to it. */
  const nobodysHash = `${hashStart}${'A'.repeat(22)}$${'A'.repeat(43)}`
  return {
    hashPassword: (password: string): Promise<string> => gate.pass(() => hash(normalize(password), parameters)),
    /** `passwordHash` undefined: there is no account; takes as long and is never right. */
    checkPassword: async (password: string, passwordHash: string | undefined): Promise<PasswordCheck> => {
      const isMatch = await gate.pass(() => verify(passwordHash ?? nobodysHash, normalize(password)))
      return {
        isRight: isMatch && passwordHash !== undefined,
        needsRehash: passwordHash !== undefined && !passwordHash.startsWith(hashStart),
      }
    },
  }
}
export type Passwords = ReturnType<typeof createPasswords>
