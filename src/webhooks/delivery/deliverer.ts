import type { EventMailing } from '../../event-mails/plugin.ts'
import { MINUTE_MS } from '../../lib/kernel/durations.ts'
import { createStop } from '../../lib/kernel/stop-signal.ts'
import { enterErrorRates } from '../error-rates.store.ts'
import { type DeliveringParts, deliverWebhook } from './deliver-webhook.ts'
import { leaseDueWebhooks } from './due-webhooks.store.ts'
import { dispatchEvents } from './outbox-dispatch.store.ts'

/** Webhooks that a process serves at the same time. A receiver that hangs takes one place, for 30 seconds at most. */
const MAX_WEBHOOKS_AT_ONCE = 64
/** How soon an event is sent, at most, when nothing else is due. */
const POLL_MS = 1_000

export type DelivererOptions = Omit<DeliveringParts, 'signal'> & {
  logger: { warn: (details: object, message: string) => void }
  pollMs?: number | undefined
  /** How often the error rates of servers are looked at. */
  ratesEveryMs?: number | undefined
  /** Undefined if the installation does not send email. */
  mailing?: EventMailing | undefined
}

/**
 * Delivers events from the outbox to webhooks, and by email. Several processes on one database share the work: each event and each
 * webhook is handled by one of them at a time.
 */
export const createDeliverer = ({ logger, mailing, ...parts }: DelivererOptions) => {
  const { db, pollMs = POLL_MS, ratesEveryMs = MINUTE_MS } = parts
  const stop = createStop()
  const underWay = new Map<string, Promise<void>>()
  let polling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isInTrouble = false

  /** Logs the first of several failures in a row: while the database is unavailable, each poll fails. */
  const noteTrouble = (error: unknown): void => {
    if (!isInTrouble) logger.warn({ err: error }, 'events could not be delivered; trying again')
    isInTrouble = true
  }

  const startDue = async (): Promise<void> => {
    const free = MAX_WEBHOOKS_AT_ONCE - underWay.size
    if (free <= 0) return
    for (const webhook of await leaseDueWebhooks(db, free)) {
      const delivering = deliverWebhook({ ...parts, signal: stop }, webhook)
        .catch(noteTrouble)
        .finally(() => underWay.delete(webhook.lease))
      underWay.set(webhook.lease, delivering)
    }
  }

  let ratesCheckedAt = Number.NEGATIVE_INFINITY
  const checkRates = async (): Promise<void> => {
    if (performance.now() - ratesCheckedAt < ratesEveryMs) return
    ratesCheckedAt = performance.now()
    await enterErrorRates(db, Date.now())
  }

  const pollOnce = async (): Promise<void> => {
    try {
      await checkRates()
      while (!stop.aborted && (await dispatchEvents(db, mailing?.delayMs))) await startDue()
      if (!stop.aborted) await startDue()
      if (!stop.aborted) await mailing?.sendDue()
      isInTrouble = false
    } catch (error) {
      noteTrouble(error)
    }
  }

  const poll = (): void => {
    polling ??= pollOnce().finally(() => {
      polling = undefined
    })
  }

  return {
    start: (): void => {
      timer ??= setInterval(poll, pollMs).unref()
    },
    /** Ends requests in progress, which another process or the next start repeats. */
    close: async (): Promise<void> => {
      clearInterval(timer)
      stop.abort()
      await polling
      await Promise.all(underWay.values())
    },
  }
}
