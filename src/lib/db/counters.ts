import { LRUCache } from 'lru-cache'

/**
 * Counters by key. Each counts within a fixed time window that starts at the first increment. `increment` is atomic,
 * even across processes that share the counters. Keys have at most 200 characters.
 */
export type Counters = {
  /** Adds one. Returns the count in the current window and the time until that window ends. */
  increment(key: string, windowMs: number): Promise<{ count: number; resetsInMs: number }>
  /** Undoes one increment. */
  decrement(key: string): Promise<void>
  /** Deletes the counter. */
  reset(key: string): Promise<void>
}

/**
 * Maximum number of counters in memory. The least recently used counters are evicted first. Passed as a size, because
 * `max` would allocate all entries at startup, which takes 20 ms.
 */
const MAX_COUNTERS = 100_000

/** Creates counters in the memory of this process. `now` returns milliseconds since 1970. */
export const createMemoryCounters = (now: () => number = Date.now): Counters => {
  const counters = new LRUCache<string, { count: number; endsAt: number }>({
    maxSize: MAX_COUNTERS,
    sizeCalculation: () => 1,
  })
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
