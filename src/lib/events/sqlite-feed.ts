import { openRawSqlite } from '../db/sqlite.ts'
import type { SqliteTarget } from '../db/target.ts'
import type { Feed, FeedListener } from './feed.ts'

/** A change must show in other processes within 500 ms. A look takes some microseconds. */
const POLL_MS = 100
/** Writers keep no reader waiting; a file that is being recovered after a crash may. */
const BUSY_TIMEOUT_MS = 10
/** A process that sleeps longer drops all it keeps in memory instead of reading what it missed. */
const KEEP_MS = 10 * 60 * 1_000
const PRUNE_EVERY_MS = 60 * 1_000

type ChangeRow = { id: number; origin: string; event: string }

/**
 * Events as rows of the table `Change`. SQLite says by `PRAGMA data_version` that somebody else has written to the
 * file; then the rows after the last one seen are read, on a connection of their own.
 */
export const createSqliteFeed = (target: SqliteTarget, origin: string, listener: FeedListener): Feed => {
  const connection = openRawSqlite(target, { busyTimeoutMs: BUSY_TIMEOUT_MS })
  connection.pragma('query_only = ON')
  const readVersion = connection.prepare<[], { data_version: number }>('PRAGMA data_version')
  const readNewest = connection.prepare<[], { seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'Change'`)
  const readRows = connection.prepare<[number], ChangeRow>(
    'SELECT "id", "origin", "event" FROM "Change" WHERE "id" > ? ORDER BY "id"',
  )
  /** Ids leave no gaps, so fewer rows than ids means that some were pruned before they were seen. */
  const readAfter = connection.transaction((last: number) => ({
    newest: readNewest.get()?.seq ?? 0,
    rows: readRows.all(last),
  }))

  let version: number | undefined
  let { newest: lastSeen } = readAfter(Number.MAX_SAFE_INTEGER)
  let prunedAt = 0

  const look = (): void => {
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
      look()
      isInTrouble = false
    } catch (error) {
      // The next look reads what this one did not; ten lines a second would say no more than one.
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
