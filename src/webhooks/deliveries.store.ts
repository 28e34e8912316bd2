import { removeInBatches } from '../lib/db/batches.ts'
import type { Database, Rows, Transaction } from '../lib/db/client.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { DAY_MS } from '../lib/kernel/durations.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import { TEST_EVENT } from '../outbox/event-types.ts'
import type { Delivery, DeliveryState } from './webhook.ts'

/** How long events and their deliveries are kept. Longer than all attempts take. */
const KEPT_DAYS = 14

/** The content of an event, as its receivers get it. */
type SentEvent = Pick<Rows.Event, 'id' | 'organizationId' | 'type' | 'data' | 'happenedAt'>

const EVENT = { select: { id: true, organizationId: true, type: true, data: true, happenedAt: true } } as const

/** Returns the body of the request that delivers an event, as Standard Webhooks recommend. */
export const payloadOf = ({ organizationId, type, data, happenedAt }: SentEvent): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${happenedAt.toISOString()}","organizationId":"${organizationId}","data":${data}}`

const toDelivery = ({ event, ...row }: Rows.Delivery & { event: SentEvent }): Delivery & { payload: string } => ({
  ...withoutNulls(row),
  type: event.type,
  happenedAt: event.happenedAt,
  payload: payloadOf(event),
})

export type DeliveryFilter = { state?: DeliveryState | undefined }

/** Lists deliveries, newest first. Returns one beyond the page's limit if there are more. */
export const listDeliveries = async (
  db: Database,
  webhookId: string,
  { state }: DeliveryFilter,
  { limit, afterId }: IdPage,
): Promise<Delivery[]> => {
  const where = {
    webhookId,
    ...(state !== undefined && { state }),
    ...(afterId !== undefined && { id: { lt: afterId } }),
  }
  const rows = await db.delivery.findMany({
    where,
    orderBy: { id: 'desc' },
    take: limit + 1,
    include: { event: EVENT },
  })
  return rows.map(toDelivery)
}

/** Finds a delivery of a webhook in one of these organizations. */
export const findDelivery = async (tx: Transaction, id: string, organizationIds: readonly string[]) => {
  const where = { id, webhook: { organizationId: { in: [...organizationIds] } } }
  return mapFound(await tx.delivery.findFirst({ where, include: { event: EVENT } }), toDelivery)
}

/** Makes a webhook's deliveries start at this time. */
const makeDue = (tx: Transaction, webhookId: string, dueAt: Date) =>
  tx.webhook.update({ where: { id: webhookId }, data: { dueAt } })

/** Starts a delivery again, as if it were new. */
export const restartDelivery = async (tx: Transaction, { id, webhookId }: Delivery) => {
  const now = new Date()
  const data = { state: 'waiting', attempts: 0, nextAt: now } as const
  const row = await tx.delivery.update({ where: { id }, data, include: { event: EVENT } })
  await makeDue(tx, webhookId, now)
  return toDelivery(row)
}

/** Adds a delivery of a test event, which only this webhook gets. */
export const addTestDelivery = async (
  tx: Transaction,
  { id, organizationId }: { id: string; organizationId: string },
) => {
  const now = new Date()
  const data = JSON.stringify({ webhookId: id })
  const row = await tx.delivery.create({
    data: {
      nextAt: now,
      webhook: { connect: { id } },
      event: { create: { organizationId, type: TEST_EVENT, data, happenedAt: now, isDispatched: true } },
    },
    include: { event: EVENT },
  })
  await makeDue(tx, id, now)
  return toDelivery(row)
}

/** Removes old events, with their deliveries. */
export const removeOldEvents = (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const where = { createdAt: { lt: new Date(now.getTime() - KEPT_DAYS * DAY_MS) } }
  return removeInBatches(limit => db.event.deleteMany({ where, limit }), signal)
}
