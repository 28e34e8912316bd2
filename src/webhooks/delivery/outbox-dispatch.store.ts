import { addWaitingEvents, listMailReaders } from '../../event-mails/waiting-mails.store.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import { type EventType, fromStoredTypes, isEventType } from '../../outbox/event-types.ts'

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

type Chooser = { id: string; organizationId: string; types: readonly EventType[] }

/** Returns those who chose events of this type in this organization. */
const choosersOf = ({ organizationId, type }: Undispatched, choosers: readonly Chooser[]): Chooser[] =>
  isEventType(type) ? choosers.filter(one => one.organizationId === organizationId && one.types.includes(type)) : []

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
 * Gives a batch of new events their deliveries, and lets them wait for emails, which are due after `mailDelayMs`
 * (undefined: no emails are sent). Each event is handled by one of the processes that share the database. Returns whether
 * there may be more.
 */
export const dispatchEvents = async (db: Database, mailDelayMs: number | undefined): Promise<boolean> => {
  const events: Undispatched[] = await db.event.findMany({
    where: { isDispatched: false },
    orderBy: { id: 'asc' },
    take: BATCH,
    select: { id: true, organizationId: true, type: true },
  })
  if (events.length === 0) return false
  const organizationIds = [...new Set(events.map(({ organizationId }) => organizationId))]
  const receivers = await listReceivers(db, organizationIds)
  const readers = mailDelayMs === undefined ? [] : await listMailReaders(db, organizationIds)
  const now = new Date()
  // Not serializable, which would conflict with the changes that enter events: the update locks what it takes.
  await db.$transaction(async tx => {
    const taken = await take(tx, events)
    const fresh = events.filter(({ id }) => taken.has(id))
    const mails = fresh.flatMap(event => choosersOf(event, readers).map(one => ({ mailId: one.id, eventId: event.id })))
    await addWaitingEvents(tx, mails, new Date(now.getTime() + (mailDelayMs ?? 0)))
    const data = fresh.flatMap(event =>
      choosersOf(event, receivers).map(one => ({ webhookId: one.id, eventId: event.id, nextAt: now })),
    )
    if (data.length === 0) return
    await tx.delivery.createMany({ data })
    const ids = [...new Set(data.map(({ webhookId }) => webhookId))]
    // Without a condition, so that it waits for a process that is about to give a webhook back.
    await tx.webhook.updateMany({ where: { id: { in: ids } }, data: { dueAt: now } })
  })
  return events.length === BATCH
}
