import { createNewestEntries } from '../process/newest-entries.ts'

/**
 * Counts per key in a fixed window. `increment` is atomic, also across processes that share the counters; the window
 * starts at the first increment. Keys are up to 200 characters.
 */
export type Counters = {
  /** Counts one more, and says how many that makes in this window and when it ends. */
  increment(key: string, windowMs: number): Promise<{ count: number; resetsInMs: number }>
  /** Takes one increment back. */
  decrement(key: string): Promise<void>
  /** Forgets the key. */
  reset(key: string): Promise<void>
}

/** Counters kept at once in memory; the least used is forgotten first. */
const MAX_COUNTERS = 100_000

/** Counters of this process, gone with it. `now` is in milliseconds since 1970. */
export const createMemoryCounters = (now: () => number = Date.now): Counters => {
  const counters = createNewestEntries<{ count: number; endsAt: number }>(MAX_COUNTERS)
  const current = (key: string) => {
    const counter = counters.get(key)
    return counter !== undefined && counter.endsAt > now() ? counter : undefined
  }
  return {
    increment: async (key, windowMs) => {
      const before = current(key)
      const counter = { count: (before?.count ?? 0) + 1, endsAt: before?.endsAt ?? now() + windowMs }
      counters.set(key, counter)
      return { count: counter.count, resetsInMs: counter.endsAt - now() }
    },
    decrement: async key => {
      const before = current(key)
      if (before && before.count > 0) counters.set(key, { ...before, count: before.count - 1 })
    },
    reset: async key => {
      counters.delete(key)
    },
  }
}
