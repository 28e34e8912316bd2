import { randomUUID } from 'node:crypto'
import type { Database } from '../../lib/db/client.ts'
import type { Sealed } from '../../lib/process/sealing.ts'
import { isFree } from '../../outbox/lease.ts'
import { payloadOf } from '../deliveries.store.ts'
import type { AttemptResult } from './attempt.ts'

/**
 * How long a process has a webhook for itself. It starts no request in the second half, which is longer than a request
 * takes. If it ends without giving the webhook back, another process takes over after this time.
 */
export const LEASE_MS = 60_000

export type LeasedWebhook = {
  id: string
  organizationId: string
  lease: string
  sealed: Sealed
  failingSince: Date | undefined
}

export type DueDelivery = { id: string; eventId: string; attempts: number; payload: string }

const toLeased = async (db: Database, id: string, now: Date): Promise<LeasedWebhook | undefined> => {
  const lease = randomUUID()
  const leasedUntil = new Date(now.getTime() + LEASE_MS)
  const where = { id, state: 'active', ...isFree(now, LEASE_MS) } as const
  const [row] = await db.webhook.updateManyAndReturn({ where, data: { lease, leasedUntil } })
  if (row === undefined) return undefined
  const { organizationId, content, keyId, failingSince } = row
  return { id, organizationId, lease, sealed: { text: content, keyId }, failingSince: failingSince ?? undefined }
}

/**
 * Takes up to `limit` webhooks with something to deliver, for this process alone. The longest waiting come first. Those
 * of a suspended organization wait, because attempts that cannot succeed would disable them.
 */
export const leaseDueWebhooks = async (db: Database, limit: number): Promise<LeasedWebhook[]> => {
  const now = new Date()
  const due = await db.webhook.findMany({
    where: { dueAt: { lte: now }, state: 'active', organization: { suspendedAt: null }, ...isFree(now, LEASE_MS) },
    orderBy: { dueAt: 'asc' },
    take: limit,
    select: { id: true },
  })
  const leased = await Promise.all(due.map(({ id }) => toLeased(db, id, now)))
  return leased.flatMap(webhook => webhook ?? [])
}

/** Lists deliveries of a webhook that are due, the longest waiting first. */
export const listDueDeliveries = async (db: Database, webhookId: string, limit: number): Promise<DueDelivery[]> => {
  const rows = await db.delivery.findMany({
    where: { webhookId, state: 'waiting', nextAt: { lte: new Date() } },
    orderBy: { nextAt: 'asc' },
    take: limit,
    include: { event: true },
  })
  return rows.map(({ id, eventId, attempts, event }) => ({ id, eventId, attempts, payload: payloadOf(event) }))
}

/** Stores the result of an attempt. Without `nextAt` a delivery that failed is given up. */
export const storeAttempt = async (
  db: Database,
  { id, attempts }: DueDelivery,
  { isDelivered, ms, status, error, response }: AttemptResult,
  nextAt: Date | undefined,
): Promise<void> => {
  const state = isDelivered ? 'delivered' : nextAt === undefined ? 'failed' : 'waiting'
  await db.delivery.updateMany({
    where: { id, state: 'waiting' },
    data: {
      state,
      attempts: attempts + 1,
      nextAt: nextAt ?? null,
      triedAt: new Date(),
      lastMs: ms,
      lastStatus: status ?? null,
      lastError: error ?? null,
      lastResponse: response ?? null,
    },
  })
}

/** Notes since when deliveries fail, or that they succeed again. */
export const setFailingSince = async (db: Database, id: string, failingSince: Date | null): Promise<void> => {
  await db.webhook.updateMany({ where: { id }, data: { failingSince } })
}

/** Gives a webhook back and notes when its next delivery is due, but not before `notBefore`. */
export const releaseWebhook = async (
  db: Database,
  { id, lease }: LeasedWebhook,
  notBefore: Date | undefined,
): Promise<void> => {
  await db.$transaction(async tx => {
    // Locks the row, so that events which are dispatched meanwhile set its time afterwards.
    const free = { lease: null, leasedUntil: null, dueAt: null }
    const { count } = await tx.webhook.updateMany({ where: { id, lease }, data: free })
    if (count === 0) return
    const next = await tx.delivery.findFirst({
      where: { webhookId: id, state: 'waiting' },
      orderBy: { nextAt: 'asc' },
      select: { nextAt: true },
    })
    const nextAt = next?.nextAt ?? undefined
    if (nextAt === undefined) return
    const dueAt = notBefore !== undefined && notBefore > nextAt ? notBefore : nextAt
    await tx.webhook.updateMany({ where: { id }, data: { dueAt } })
  })
}
