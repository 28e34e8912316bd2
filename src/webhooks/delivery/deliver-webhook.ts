import type { Database } from '../../lib/db/client.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { openContent, secretsOf, type WebhookContent } from '../webhook-content.ts'
import { type AttemptResult, attempt } from './attempt.ts'
import * as store from './due-webhooks.store.ts'
import { lastingMs, pauseAfter, type Schedule } from './schedule.ts'

export type DeliveringParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  http: Pick<HttpClient, 'send'>
  schedule: Schedule
  /** Disables a webhook and tells why. */
  disable: (webhookId: string, reason: string) => Promise<void>
  signal: StopSignal
}

/** Requests to one webhook at the same time, and while the last one failed. */
const MAX_AT_ONCE = 8
const MAX_AT_ONCE_FAILING = 1
/** Failures in a row after which the other deliveries wait too. */
const MAX_FAILURES = 3
const BATCH = 64
/** Starts no request after this time, so that all end before the lease does. */
const STARTING_MS = store.LEASE_MS / 2

const GONE = 410

/** Runs `work` on items, some at a time, until one of them returns false. */
const forEachAtOnce = async <T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<boolean>,
): Promise<boolean> => {
  const left = [...items].reverse()
  let goesOn = true
  const runOne = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined && goesOn; item = left.pop()) {
      if (!(await work(item))) goesOn = false
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, runOne))
  return goesOn
}

/** Delivers what is due of a webhook that this process has leased, and gives the webhook back. */
export const deliverWebhook = async (parts: DeliveringParts, webhook: store.LeasedWebhook): Promise<void> => {
  const { db, schedule, signal } = parts
  const startedAt = performance.now()
  const content = openContent(parts.sealing, webhook.id, webhook.sealed)
  let { failingSince } = webhook
  let failures = 0

  const noteSuccess = async (): Promise<void> => {
    failures = 0
    if (failingSince === undefined) return
    failingSince = undefined
    await store.setFailingSince(db, webhook.id, null)
  }

  /** Returns whether other deliveries may be tried now. */
  const noteFailure = async ({ status }: AttemptResult, isLast: boolean): Promise<boolean> => {
    failures++
    const now = new Date()
    if (failingSince === undefined) {
      failingSince = now
      await store.setFailingSince(db, webhook.id, now)
    }
    const isLasting = now.getTime() - failingSince.getTime() >= lastingMs(schedule.backoffMs)
    if (status === GONE) await parts.disable(webhook.id, 'The receiver responded with the status 410 (Gone).')
    else if (isLast && isLasting) {
      await parts.disable(webhook.id, `No event could be delivered since ${failingSince.toISOString()}.`)
    } else return failures < MAX_FAILURES
    return false
  }

  const deliver = async (delivery: store.DueDelivery): Promise<boolean> => {
    if (signal.aborted || performance.now() - startedAt > STARTING_MS) return false
    const result = await attempt(parts.http, messageOf(webhook, delivery, content), signal)
    // The request did not fail by itself. Another process repeats it.
    if (signal.aborted && !result.isDelivered) return false
    const pauseMs = pauseAfter(delivery.attempts + 1, result.retryAfterMs, schedule)
    const nextAt = result.isDelivered || pauseMs === undefined ? undefined : new Date(Date.now() + pauseMs)
    await store.storeAttempt(db, delivery, result, nextAt)
    if (!result.isDelivered) return noteFailure(result, nextAt === undefined)
    await noteSuccess()
    return true
  }

  try {
    for (let goesOn = true; goesOn; ) {
      const due = await store.listDueDeliveries(db, webhook.id, BATCH)
      const atOnce = failingSince === undefined ? MAX_AT_ONCE : MAX_AT_ONCE_FAILING
      goesOn = (await forEachAtOnce(due, atOnce, deliver)) && due.length === BATCH
    }
  } finally {
    const pauseMs = failures === 0 || signal.aborted ? undefined : pauseAfter(1, undefined, schedule)
    await store.releaseWebhook(db, webhook, pauseMs === undefined ? undefined : new Date(Date.now() + pauseMs))
  }
}

const messageOf = (
  { organizationId }: store.LeasedWebhook,
  { eventId, payload }: store.DueDelivery,
  content: WebhookContent,
) => ({ organizationId, id: eventId, url: content.url, body: payload, secrets: secretsOf(content, Date.now()) })
