import type { Database, Transaction } from '../../lib/db/client.ts'
import { fromStoredTypes, isEventType } from '../../outbox/event-types.ts'

/** Events that get their deliveries in one transaction. */
const BATCH = 500

type Undispatched = { id: string; organizationId: string; type: string }

const listReceivers = async (db: Database, organizationIds: readonly string[]) => {
  const rows = await db.webhook.findMany({
    where: { organizationId: { in: [...organizationIds] }, state: 'active' },
    select: { id: true, organizationId: true, events: true },
  })
  return rows.map(({ events, ...rest }) => ({ ...rest, types: fromStoredTypes(events) }))
}

/** Marks events as dispatched. Returns the ids of those that no other process has taken. */
const take = async (tx: Transaction, events: readonly Undispatched[]): Promise<Set<string>> => {
  const taken = await tx.event.updateManyAndReturn({
    where: { id: { in: events.map(({ id }) => id) }, isDispatched: false },
    data: { isDispatched: true },
    select: { id: true },
  })
  return new Set(taken.map(({ id }) => id))
}

/**
 * Gives a batch of new events their deliveries. Each event is handled by one of the processes that share the database.
 * Returns whether there may be more.
 */
export const dispatchEvents = async (db: Database): Promise<boolean> => {
  const events: Undispatched[] = await db.event.findMany({
    where: { isDispatched: false },
    orderBy: { id: 'asc' },
    take: BATCH,
    select: { id: true, organizationId: true, type: true },
  })
  if (events.length === 0) return false
  const receivers = await listReceivers(db, [...new Set(events.map(({ organizationId }) => organizationId))])
  const now = new Date()
  // Not serializable, which would conflict with the changes that enter events: the update locks what it takes.
  await db.$transaction(async tx => {
    const taken = await take(tx, events)
    const data = events.flatMap(({ id, organizationId, type }) => {
      if (!taken.has(id) || !isEventType(type)) return []
      const chosen = receivers.filter(one => one.organizationId === organizationId && one.types.includes(type))
      return chosen.map(one => ({ webhookId: one.id, eventId: id, nextAt: now }))
    })
    if (data.length === 0) return
    await tx.delivery.createMany({ data })
    const ids = [...new Set(data.map(({ webhookId }) => webhookId))]
    // Without a condition, so that it waits for a process that is about to give a webhook back.
    await tx.webhook.updateMany({ where: { id: { in: ids } }, data: { dueAt: now } })
  })
  return events.length === BATCH
}
