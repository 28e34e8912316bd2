import { openRawSqlite } from '../db/sqlite.ts'
import type { SqliteTarget } from '../db/target.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { Feed, FeedListener } from './feed.ts'

/** A change must reach other processes within 500 ms. A poll takes microseconds. */
const POLL_MS = 100
/** Writers do not block readers, but recovering the file after a crash can. */
const BUSY_TIMEOUT_MS = 10
/** How long events are stored. A process that was suspended for longer than this clears its caches. */
const KEEP_MS = 10 * MINUTE_MS
const PRUNE_EVERY_MS = MINUTE_MS

type ChangeRow = { id: number; origin: string; event: string }

/**
 * Sends events as rows of the `Change` table. When `PRAGMA data_version` shows that another connection has written to
 * the file, reads the new rows on a separate connection.
 */
export const createSqliteFeed = (target: SqliteTarget, origin: string, listener: FeedListener): Feed => {
  const connection = openRawSqlite(target, { busyTimeoutMs: BUSY_TIMEOUT_MS })
  connection.pragma('query_only = ON')
  const readVersion = connection.prepare<[], { data_version: number }>('PRAGMA data_version')
  const readNewest = connection.prepare<[], { seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'Change'`)
  const readRows = connection.prepare<[number], ChangeRow>(
    'SELECT "id", "origin", "event" FROM "Change" WHERE "id" > ? ORDER BY "id"',
  )
  /** Ids have no gaps, so if there are fewer rows than ids, some rows were pruned before they were read. */
  const readAfter = connection.transaction((last: number) => ({
    newest: readNewest.get()?.seq ?? 0,
    rows: readRows.all(last),
  }))

  let version: number | undefined
  let { newest: lastSeen } = readAfter(Number.MAX_SAFE_INTEGER)
  let prunedAt = 0

  const poll = (): void => {
    const current = readVersion.get()?.data_version
    if (current === version) return
    const { newest, rows } = readAfter(lastSeen)
    if (rows.length < newest - lastSeen) listener.onMissed()
    version = current
    lastSeen = newest
    for (const row of rows) if (row.origin !== origin) listener.onEvent(JSON.parse(row.event))
  }
  let isInTrouble = false
  const timer = setInterval(() => {
    try {
      poll()
      isInTrouble = false
    } catch (error) {
      // The next poll reads what this one missed. Reports only the first of several consecutive failures.
      if (!isInTrouble) listener.onTrouble(error)
      isInTrouble = true
    }
  }, POLL_MS)
  timer.unref()

  return {
    send: async (tx, events) => {
      await tx.change.createMany({ data: events.map(event => ({ origin, event })) })
      const now = Date.now()
      if (now - prunedAt < PRUNE_EVERY_MS) return
      prunedAt = now
      await tx.change.deleteMany({ where: { createdAt: { lt: new Date(now - KEEP_MS) } } })
    },
    close: async () => {
      clearInterval(timer)
      connection.close()
    },
  }
}
