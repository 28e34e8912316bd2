import { setImmediate } from 'node:timers/promises'
import { AppError } from '../kernel/index.ts'
import type { Logger } from '../platform/logger.ts'
import { createGate, type GateLimits } from './gate.ts'

/** Letters under way at once; a mail server that hangs holds each for its time-out. */
const MOST: GateLimits = { maxAtOnce: 4, maxWaiting: 200 }

const tooMany = (): AppError => new AppError('unavailable', 'Too many letters are waiting to be sent.')

/**
 * Does the work of mail after the request that asked for it is answered, so that the time of the answer tells nothing
 * of whether there was anything to send.
 */
export const createPostbox = (logger: Pick<Logger, 'error'>, limits: GateLimits = MOST) => {
  const gate = createGate(limits, tooMany)
  const underWay = new Set<Promise<void>>()
  return {
    /** `what` names the letter in the log, where it fails. */
    post: (what: string, work: () => Promise<void>): void => {
      const posting = gate
        .pass(async () => {
          // By then the answer is written: on SQLite the work would hold the thread before it.
          await setImmediate()
          await work()
        })
        .catch(error => logger.error({ err: error, letter: what }, 'a letter could not be sent'))
        .finally(() => underWay.delete(posting))
      underWay.add(posting)
    },
    /** Waits for what is under way. */
    settle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}
export type Postbox = ReturnType<typeof createPostbox>
