import type { Rows, Transaction } from '../lib/db/client.ts'
import type { DomainEvent } from '../lib/events/domain-event.ts'
import { type EventType, type NewEvent, storedTypeOf } from './event-types.ts'

/** Returns whether anybody in the organization wants to know about events of this type. */
const isWanted = async (tx: Transaction, organizationId: string, type: EventType): Promise<boolean> => {
  const events = { contains: storedTypeOf(type) }
  const select = { id: true }
  const webhook = await tx.webhook.findFirst({ where: { organizationId, state: 'active', events }, select })
  return (
    webhook !== null ||
    (await tx.eventMail.findFirst({ where: { events, membership: { organizationId } }, select })) !== null
  )
}

/**
 * Puts events into the outbox, in the transaction of what they tell about. Leaves out those that nobody wants to know
 * about, so that an organization without webhooks stores nothing.
 */
export const enterEvents = async (tx: Transaction, events: readonly NewEvent[]): Promise<void> => {
  const wanted = new Map<string, boolean>()
  const happenedAt = new Date()
  const rows: Rows.Prisma.EventCreateManyInput[] = []
  for (const { organizationId, type, data, id } of events) {
    const key = `${organizationId} ${type}`
    if (!wanted.has(key)) wanted.set(key, await isWanted(tx, organizationId, type))
    if (wanted.get(key) !== true) continue
    rows.push({ organizationId, type, data: JSON.stringify(data), happenedAt, ...(id !== undefined && { id }) })
  }
  // In one statement: a toolkit can be in thousands of servers, and the transaction has ten seconds for all of it.
  if (rows.length > 0) await tx.event.createMany({ data: rows })
}

const serverChanges = async (tx: Transaction, ids: readonly string[], change: 'changed' | 'removed') => {
  if (ids.length === 0) return []
  const select = { id: true, name: true, organizationId: true }
  const rows = await tx.server.findMany({ where: { id: { in: [...ids] } }, select })
  return rows.map(
    ({ id, name, organizationId }): NewEvent => ({
      type: 'server.changed',
      organizationId,
      data: { serverId: id, serverName: name, change },
    }),
  )
}

const toolkitChanges = async (tx: Transaction, ids: readonly string[]): Promise<NewEvent[]> => {
  if (ids.length === 0) return []
  const select = { id: true, title: true, organizationId: true }
  // A snapshot is a part of its server, not a toolkit that people know.
  const rows = await tx.toolkit.findMany({ where: { id: { in: [...ids] }, snapshotOfId: null }, select })
  return rows.map(({ id, title, organizationId }) => ({
    type: 'toolkit.changed',
    organizationId,
    data: { toolkitId: id, toolkitTitle: title, change: 'changed' },
  }))
}

/**
 * Puts the changes that a transaction announces into the outbox. A server that was changed and removed counts as
 * removed.
 */
export const enterChanges = async (tx: Transaction, announced: readonly DomainEvent[]): Promise<void> => {
  const removed = announced.flatMap(event => (event.type === 'server_removed' ? event.serverId : []))
  const changed = announced.flatMap(event =>
    event.type === 'server_changed' && !removed.includes(event.serverId) ? event.serverId : [],
  )
  const toolkits = announced.flatMap(event => (event.type === 'toolkit_changed' ? event.toolkitId : []))
  await enterEvents(tx, [
    ...(await serverChanges(tx, removed, 'removed')),
    ...(await serverChanges(tx, changed, 'changed')),
    ...(await toolkitChanges(tx, toolkits)),
  ])
}
