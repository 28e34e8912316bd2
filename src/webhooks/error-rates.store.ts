import { type Database, transact } from '../lib/db/client.ts'
import { isUniqueViolation } from '../lib/db/failures.ts'
import { MINUTE_MS } from '../lib/kernel/durations.ts'
import { eventIdOf } from '../outbox/event-id.ts'
import { type EventType, storedTypeOf } from '../outbox/event-types.ts'
import { enterEvents } from '../outbox/outbox.store.ts'

/** Length of the time in which calls are counted. */
const WINDOW_MINUTES = 5
/** With fewer calls, a rate means little. */
const MIN_CALLS = 20
/** The threshold of an organization that has set none, in percent. */
const DEFAULT_ERROR_RATE_PERCENT = 25
/** While the rate stays over the threshold, another event follows after this time. */
const REPEAT_MINUTES = 60

const TYPE = 'server.error_rate_exceeded' satisfies EventType

const listWatching = async (db: Database) => {
  const events = { contains: storedTypeOf(TYPE) }
  const where = {
    OR: [
      { webhooks: { some: { state: 'active' as const, events } } },
      { memberships: { some: { eventMail: { events } } } },
    ],
  }
  return db.organization.findMany({ where, select: { id: true, errorRatePercent: true } })
}

const sumCalls = async (db: Database, organizationId: string, since: Date) => {
  const sums = await db.callSum.groupBy({
    by: ['serverId'],
    where: { server: { organizationId, removedAt: null }, seconds: 60, by: 'result', startsAt: { gte: since } },
    _sum: { calls: true, failed: true, rejected: true },
  })
  return sums.map(({ serverId, _sum: { calls, failed, rejected } }) => ({
    serverId,
    calls: calls ?? 0,
    failed: (failed ?? 0) + (rejected ?? 0),
  }))
}

type Busy = { serverId: string; calls: number; failed: number }

const enterExceeded = (db: Database, organizationId: string, threshold: number, busy: Busy, now: number) =>
  transact(db, async tx => {
    const { serverId, calls, failed } = busy
    const minute = Math.floor(now / MINUTE_MS)
    // Found by id, because an organization can have any number of events within the hour.
    const recent = Array.from({ length: REPEAT_MINUTES }, (_, before) => eventIdOf(serverId, minute - before))
    if ((await tx.event.findFirst({ where: { id: { in: recent } }, select: { id: true } })) !== null) return
    const server = await tx.server.findUnique({ where: { id: serverId }, select: { name: true } })
    if (server === null) return
    const errorRate = Math.round((1_000 * failed) / calls) / 10
    const data = { serverId, serverName: server.name, calls, failed, errorRate, threshold, minutes: WINDOW_MINUTES }
    await enterEvents(tx, [{ organizationId, type: TYPE, data, id: eventIdOf(serverId, minute) }])
  })

/**
 * Adds an event to the outbox for each server with too many failed calls in the last minutes, at most one an hour.
 * `now` is in milliseconds since 1970. Several processes can do this at the same time.
 */
export const enterErrorRates = async (db: Database, now: number): Promise<void> => {
  const since = new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - WINDOW_MINUTES * MINUTE_MS)
  for (const { id, errorRatePercent } of await listWatching(db)) {
    const threshold = errorRatePercent ?? DEFAULT_ERROR_RATE_PERCENT
    for (const busy of await sumCalls(db, id, since)) {
      if (busy.calls < MIN_CALLS || busy.failed * 100 < threshold * busy.calls) continue
      await enterExceeded(db, id, threshold, busy, now).catch((error: unknown) => {
        // Another process has entered the same event.
        if (!isUniqueViolation(error)) throw error
      })
    }
  }
}
