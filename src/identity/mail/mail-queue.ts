import { setImmediate, setTimeout } from 'node:timers/promises'
import { AppError } from '../kernel/index.ts'
import type { Logger } from '../platform/logger.ts'
import { createGate, type GateLimits } from './gate.ts'

/** `maxSettleMs`: how long an end waits for letters. */
export type PostboxLimits = GateLimits & { maxSettleMs: number }

/** A mail server that hangs holds each letter for its time-out of ten seconds, and a stop for not much longer. */
const LIMITS: PostboxLimits = { maxAtOnce: 4, maxWaiting: 200, maxSettleMs: 15_000 }

const tooMany = (): AppError => new AppError('unavailable', 'Too many letters are waiting to be sent.')
const tooLate = (): AppError => new AppError('unavailable', 'Patchbay stopped before the letter could be sent.')

/**
 * Does the work of mail after the request that asked for it is answered, so that the time of the answer tells nothing
 * of whether there was anything to send.
 */
export const createPostbox = (logger: Pick<Logger, 'error'>, limits: PostboxLimits = LIMITS) => {
  const gate = createGate(limits, tooMany)
  const underWay = new Set<Promise<void>>()
  let isOver = false

  const begin = async (work: () => Promise<void>): Promise<void> => {
    // By then the answer is written: on SQLite the work would hold the thread before it.
    await setImmediate()
    if (isOver) throw tooLate()
    await work()
  }

  return {
    /** `what` names the letter in the log, where it fails. */
    post: (what: string, work: () => Promise<void>): void => {
      const posting = gate
        .pass(() => begin(work))
        .catch(error => logger.error({ err: error, letter: what }, 'a letter could not be sent'))
        .finally(() => underWay.delete(posting))
      underWay.add(posting)
    },
    /** Waits for what is under way, but not for ever: what still waits then is not sent. */
    settle: async (): Promise<void> => {
      await Promise.race([Promise.all(underWay), setTimeout(limits.maxSettleMs, undefined, { ref: false })])
      isOver = true
    },
  }
}
export type Postbox = ReturnType<typeof createPostbox>
