import { MINUTE_MS } from '../kernel/durations.ts'
import type { Database } from './client.ts'
import type { Counters } from './counters.ts'

/** Minimum time between deletions of expired counters. */
const SWEEP_EVERY_MS = 10 * MINUTE_MS

/**
 * Creates counters in the database. All processes share them, and they survive restarts. `now` returns ms since 1970.
 */
export const createDatabaseCounters = (db: Database, now: () => number = Date.now): Counters => {
  let sweptAt = now()

  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await db.counter.deleteMany({ where: { expiresAt: { lte: new Date(now()) } } })
  }

  return {
    increment: async (key, windowMs) => {
      await sweep()
      const at = now()
      // Deletes an expired window, then counts. Each statement is atomic, and any interleaving with other processes is
      // safe.
      await db.counter.deleteMany({ where: { key, expiresAt: { lte: new Date(at) } } })
      const expiresAt = new Date(at + windowMs)
      const row = await db.counter.upsert({
        where: { key },
        create: { key, points: 1, expiresAt },
        update: { points: { increment: 1 } },
      })
      return { count: row.points, resetsInMs: Math.max(0, (row.expiresAt ?? expiresAt).getTime() - at) }
    },
    decrement: async key => {
      await db.counter.updateMany({ where: { key, points: { gt: 0 } }, data: { points: { decrement: 1 } } })
    },
    reset: async key => {
      await db.counter.deleteMany({ where: { key } })
    },
  }
}
