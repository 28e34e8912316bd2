import { setImmediate, setTimeout } from 'node:timers/promises'
import { bulkhead } from 'cockatiel'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Logger } from '../../lib/process/logger.ts'

/** `maxSettleMs` is how long `settle` waits for pending emails. */
export type MailQueueLimits = { maxAtOnce: number; maxWaiting: number; maxSettleMs: number }

/** An unresponsive mail server delays each email by its ten-second timeout, and a shutdown by only slightly more. */
const LIMITS: MailQueueLimits = { maxAtOnce: 4, maxWaiting: 200, maxSettleMs: 15_000 }

const tooLate = (): AppError => new AppError('unavailable', 'Patchbay stopped before the email could be sent.')

/**
 * Sends emails after the response to the request, so that the response time does not reveal whether there was an email
 * to send.
 */
export const createMailQueue = (logger: Pick<Logger, 'error'>, limits: MailQueueLimits = LIMITS) => {
  const slots = bulkhead(limits.maxAtOnce, limits.maxWaiting)
  const underWay = new Set<Promise<void>>()
  let isOver = false

  const begin = async (work: () => Promise<void>): Promise<void> => {
    // Lets the response be sent first, because on SQLite the work would block the thread.
    await setImmediate()
    if (isOver) throw tooLate()
    await work()
  }

  return {
    /** Queues work. If the work fails, `what` names the email in the log. */
    post: (what: string, work: () => Promise<void>): void => {
      const posting = slots
        .execute(() => begin(work))
        .catch(error => logger.error({ err: error, email: what }, 'an email could not be sent'))
        .finally(() => underWay.delete(posting))
      underWay.add(posting)
    },
    /** Waits up to `maxSettleMs` for pending emails. Emails still pending after that are not sent. */
    settle: async (): Promise<void> => {
      await Promise.race([Promise.all(underWay), setTimeout(limits.maxSettleMs, undefined, { ref: false })])
      isOver = true
    },
  }
}
export type MailQueue = ReturnType<typeof createMailQueue>
