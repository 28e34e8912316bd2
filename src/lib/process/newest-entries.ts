import { LRUCache } from 'lru-cache'

/**
 * Creates an LRU cache of at most `max` entries. Uses `maxSize` with entries of size 1: with its `max` option the
 * library allocates 30 bytes per possible entry at once, and most installations use few of them.
 */
export const createNewestEntries = <Value extends {}>(max: number): LRUCache<string, Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
