import { setImmediate, setTimeout } from 'node:timers/promises'
import { bulkhead } from 'cockatiel'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Logger } from '../../lib/process/logger.ts'

/** `maxSettleMs`: how long `settle` waits for pending emails. */
export type MailQueueLimits = { maxAtOnce: number; maxWaiting: number; maxSettleMs: number }

/** An unresponsive mail server delays each email by its ten-second timeout, and shutdown by not much more. */
const LIMITS: MailQueueLimits = { maxAtOnce: 4, maxWaiting: 200, maxSettleMs: 15_000 }

const tooLate = (): AppError => new AppError('unavailable', 'Patchbay stopped before the email could be sent.')

/**
 * Sends emails after the response to the request, so that the response time does not reveal whether there was anything
 * to send.
 */
export const createMailQueue = (logger: Pick<Logger, 'error'>, limits: MailQueueLimits = LIMITS) => {
  const slots = bulkhead(limits.maxAtOnce, limits.maxWaiting)
  const underWay = new Set<Promise<void>>()
  let isOver = false

  const begin = async (work: () => Promise<void>): Promise<void> => {
    // Lets the response go out first: on SQLite the work would block the thread.
    await setImmediate()
    if (isOver) throw tooLate()
    await work()
  }

  return {
    /** Queues work. `what` names the email in the log if it fails. */
    post: (what: string, work: () => Promise<void>): void => {
      const posting = slots
        .execute(() => begin(work))
        .catch(error => logger.error({ err: error, email: what }, 'an email could not be sent'))
        .finally(() => underWay.delete(posting))
      underWay.add(posting)
    },
    /** Waits for pending emails up to `maxSettleMs`. Those still waiting then are not sent. */
    settle: async (): Promise<void> => {
      await Promise.race([Promise.all(underWay), setTimeout(limits.maxSettleMs, undefined, { ref: false })])
      isOver = true
    },
  }
}
export type MailQueue = ReturnType<typeof createMailQueue>
