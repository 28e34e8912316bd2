import { randomUUID } from 'node:crypto'
import { NO_PASSWORD } from '../identity/accounts.store.ts'
import { removeInBatches } from '../lib/db/batches.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import { MINUTE_MS } from '../lib/kernel/durations.ts'
import { mayRole, ROLES } from '../lib/kernel/roles.ts'
import { fromStoredTypes } from '../outbox/event-types.ts'
import { isFree } from '../outbox/lease.ts'

/** How long a process has the emails of a member for itself: longer than sending one takes. */
const LEASE_MS = 2 * MINUTE_MS

/** Only those who manage the organization may see everything that events tell. */
const MANAGERS = ROLES.filter(role => mayRole(role, 'manage'))

/** Lists who gets events of these organizations by email, with the types that they chose. */
export const listMailReaders = async (db: Database, organizationIds: readonly string[]) => {
  const rows = await db.eventMail.findMany({
    where: {
      events: { not: '[]' },
      membership: { organizationId: { in: [...organizationIds] }, role: { in: MANAGERS } },
    },
    select: { id: true, events: true, membership: { select: { organizationId: true } } },
  })
  return rows.map(({ id, events, membership }) => ({ id, ...membership, types: fromStoredTypes(events) }))
}

/** Lets events wait for the next email of each reader, which is due at `dueAt` unless one is due already. */
export const addWaitingEvents = async (
  tx: Transaction,
  waiting: readonly { mailId: string; eventId: string }[],
  dueAt: Date,
): Promise<void> => {
  if (waiting.length === 0) return
  await tx.mailedEvent.createMany({ data: [...waiting] })
  const ids = { in: [...new Set(waiting.map(({ mailId }) => mailId))] }
  // The first update has no condition, so that it waits for a process that is about to give one back.
  await tx.eventMail.updateMany({ where: { id: ids }, data: { updatedAt: new Date() } })
  await tx.eventMail.updateMany({ where: { id: ids, dueAt: null }, data: { dueAt } })
}

/** Matches emails that are due, not being sent, and the first of their member within `pauseMs`. */
const isDue = (now: Date, pauseMs: number) => {
  // An email that was sent in the future was sent before the clock was set back.
  const rested = {
    OR: [{ sentAt: null }, { sentAt: { lte: new Date(now.getTime() - pauseMs) } }, { sentAt: { gt: now } }],
  }
  return { dueAt: { lte: now }, AND: [rested, isFree(now, LEASE_MS)] }
}

/** Lists the emails that are due, the longest waiting first. A member gets one in `pauseMs` at most. */
export const listDueMails = async (db: Database, pauseMs: number, take: number): Promise<string[]> => {
  const where = isDue(new Date(), pauseMs)
  const rows = await db.eventMail.findMany({ where, orderBy: { dueAt: 'asc' }, take, select: { id: true } })
  return rows.map(({ id }) => id)
}

export type LeasedMail = { id: string; lease: string }

/** Takes a due email for this process alone. Returns undefined if another process has it. */
export const leaseMail = async (db: Database, id: string, pauseMs: number): Promise<LeasedMail | undefined> => {
  const now = new Date()
  const lease = randomUUID()
  const data = { lease, leasedUntil: new Date(now.getTime() + LEASE_MS) }
  const { count } = await db.eventMail.updateMany({ where: { id, ...isDue(now, pauseMs) }, data })
  return count === 0 ? undefined : { id, lease }
}

/** An account without a password signs in with a provider that has confirmed the email. */
const CONFIRMED = { OR: [{ emailVerifiedAt: { not: null } }, { passwordHash: NO_PASSWORD }] }

/** Returns who gets an email, or undefined if the member may not see the events any more, or has not confirmed it. */
export const findReader = async (db: Database, id: string) => {
  const row = await db.eventMail.findFirst({
    where: { id, membership: { role: { in: MANAGERS }, user: { suspendedAt: null, ...CONFIRMED } } },
    select: {
      membership: { select: { organization: { select: { id: true, name: true } }, user: { select: { email: true } } } },
    },
  })
  if (row === null) return undefined
  const { organization, user } = row.membership
  return { organization, email: user.email }
}

/** Waiting events that one email can count. In a flood, the others are dropped: it says that there are more. */
const MAX_COUNTED = 10_000
const IDS_PER_BATCH = 500

export type WaitingEvent = { type: string; data: string; happenedAt: Date }

/** The first events that wait for an email, and the ids of those that it counts. */
export type WaitingEvents = { events: readonly WaitingEvent[]; ids: readonly string[]; hasMore: boolean }

/** Reads the events that wait for an email, with the content of the first ones. */
export const readWaitingEvents = async (db: Database, mailId: string, take: number): Promise<WaitingEvents> => {
  const orderBy = { id: 'asc' } as const
  const rows = await db.mailedEvent.findMany({
    where: { mailId },
    orderBy,
    take: MAX_COUNTED + 1,
    select: { id: true },
  })
  const ids = rows.slice(0, MAX_COUNTED).map(({ id }) => id)
  const event = { select: { type: true, data: true, happenedAt: true } }
  const shown = await db.mailedEvent.findMany({ where: { id: { in: ids.slice(0, take) } }, orderBy, select: { event } })
  return { events: shown.map(one => one.event), ids, hasMore: rows.length > MAX_COUNTED }
}

/** Removes the events that an email has counted, so that none which arrived meanwhile is lost. */
export const removeWaitingEvents = async (
  db: Database,
  mailId: string,
  { ids, hasMore }: Pick<WaitingEvents, 'ids' | 'hasMore'>,
): Promise<void> => {
  if (hasMore) return removeInBatches(limit => db.mailedEvent.deleteMany({ where: { mailId }, limit }), undefined)
  for (let at = 0; at < ids.length; at += IDS_PER_BATCH) {
    await db.mailedEvent.deleteMany({ where: { id: { in: ids.slice(at, at + IDS_PER_BATCH) } } })
  }
}

/** Gives an email back. If events are waiting, the next one is due at `nextAt`. */
export const releaseMail = async (
  db: Database,
  { id, lease }: LeasedMail,
  { sentAt, nextAt }: { sentAt: Date | undefined; nextAt: Date },
): Promise<void> => {
  await db.$transaction(async tx => {
    // Locks the row, so that events which are dispatched meanwhile set its time afterwards.
    const data = { lease: null, leasedUntil: null, dueAt: null, ...(sentAt !== undefined && { sentAt }) }
    const { count } = await tx.eventMail.updateMany({ where: { id, lease }, data })
    if (count === 0) return
    const waiting = await tx.mailedEvent.findFirst({ where: { mailId: id }, select: { id: true } })
    if (waiting !== null) await tx.eventMail.updateMany({ where: { id }, data: { dueAt: nextAt } })
  })
}
