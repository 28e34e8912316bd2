import { LRUCache } from 'lru-cache'

export type GroupedLruOptions<Value> = {
  maxSize: number
  /** Size limit of each group, so that a busy group cannot evict the entries of all others. */
  maxGroupSize: number
  /**
   * Time to live, counted from the last read or write of an entry. If missing, `set` takes a separate time to live for
   * each entry, counted from the write.
   */
  ttlMs?: number
  /** Returns the current time in milliseconds, greater than 0. */
  now?: (() => number) | undefined
  /** Called after an entry has been removed to make room. */
  onEvict?: (key: string, value: Value) => void
}

type Entry<Value> = { group: string; value: Value; size: number }
/** Keys in order of use, least recently used first. */
type Group = { keys: Set<string>; size: number }

/** Creates an LRU cache with a time to live, and with limits for the total size and for each group of entries. */
export const createGroupedLru = <Value>(options: GroupedLruOptions<Value>) => {
  const { maxSize, maxGroupSize, ttlMs, now = () => performance.now(), onEvict } = options
  const groups = new Map<string, Group>()

  const leaveGroup = ({ group, size }: Entry<Value>, key: string): void => {
    const own = groups.get(group)
    if (own === undefined) return
    own.keys.delete(key)
    own.size -= size
    if (own.keys.size === 0) groups.delete(group)
  }

  const entries = new LRUCache<string, Entry<Value>>({
    maxSize: Math.max(1, maxSize),
    sizeCalculation: ({ size }) => size,
    ...(ttlMs !== undefined && { ttl: ttlMs, updateAgeOnGet: true }),
    ttlResolution: 0,
    perf: { now },
    dispose: leaveGroup,
    disposeAfter: ({ value }, key, reason) => {
      if (reason === 'evict') onEvict?.(key, value)
    },
  })

  const makeRoomInGroup = (group: string, size: number): void => {
    for (;;) {
      const own = groups.get(group)
      const [oldest] = own?.keys ?? []
      if (own === undefined || oldest === undefined || own.size + size <= maxGroupSize) return
      const entry = entries.peek(oldest)
      entries.delete(oldest)
      if (entry !== undefined) onEvict?.(oldest, entry.value)
    }
  }

  return {
    get: (key: string): Value | undefined => {
      const entry = entries.get(key)
      const own = entry && groups.get(entry.group)
      if (own?.keys.delete(key)) own.keys.add(key)
      return entry?.value
    },
    /** Works like `get`, but does not count as a use. */
    peek: (key: string): Value | undefined => entries.peek(key)?.value,
    /** Stores an entry. Returns false if the entry is too large. `size` is a positive integer. */
    set: (group: string, key: string, value: Value, size: number, entryTtlMs = ttlMs ?? 0): boolean => {
      entries.delete(key)
      if (size > Math.min(maxSize, maxGroupSize)) return false
      makeRoomInGroup(group, size)
      entries.set(key, { group, value, size }, { ttl: entryTtlMs })
      const own = groups.get(group) ?? { keys: new Set(), size: 0 }
      own.keys.add(key)
      own.size += size
      groups.set(group, own)
      return true
    },
    deleteGroup: (group: string): void => {
      for (const key of [...(groups.get(group)?.keys ?? [])]) entries.delete(key)
    },
    deleteWhere: (isObsolete: (value: Value) => boolean): void => {
      for (const [key, { value }] of [...entries.entries()]) if (isObsolete(value)) entries.delete(key)
    },
    /** Deletes expired entries. */
    purge: (): void => void entries.purgeStale(),
    clear: (): void => entries.clear(),
    stats: () => ({ entries: entries.size, size: entries.calculatedSize, groups: groups.size }),
  }
}
