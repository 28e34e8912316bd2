import type { Database } from './client.ts'
import type { Counters } from './counters.ts'

/** How often counters whose window is over are swept out, at most. */
const SWEEP_EVERY_MS = 10 * 60 * 1_000

/** Counters in the database: shared by its processes, and no restart resets them. `now` is in ms since 1970. */
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
      // Two statements, each atomic: a window that is over goes, then this one counts, whoever came in between.
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
