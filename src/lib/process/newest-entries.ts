import { LRUCache } from 'lru-cache'

/**
 * Values by key, as many as `max`: of more the one goes that was used longest ago. By size, each being 1: of a number of
 * entries the library makes all of the room at once, 30 bytes of each, and most installations use little of it.
 */
export const createNewestEntries = <Value extends {}>(max: number): LRUCache<string, Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
