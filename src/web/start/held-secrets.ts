import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** How long the secrets of a pasted request are held. Afterwards, the form asks for them again. */
const HELD_MS = 15 * 60 * 1_000
/** Only the operator pastes requests here, once per installation. */
const MAX_HELD = 20

type Held = { userId: string; values: ReadonlyMap<string, string> }

/**
 * Holds the secrets of pasted requests, by parameter, until the form that they filled in is submitted. They are kept in
 * the memory of this process only, so that neither the page nor the database contains them.
 */
export const createHeldSecrets = () => {
  const entries = new LRUCache<string, Held>({ max: MAX_HELD, ttl: HELD_MS })
  return {
    /** Returns the ID to find the values with. */
    hold: (userId: string, values: ReadonlyMap<string, string>): string => {
      const id = randomUUID()
      entries.set(id, { userId, values })
      return id
    },
    /** Returns the values; none if they are not held any more, or are another user's. */
    find: (userId: string, id: string): ReadonlyMap<string, string> => {
      const held = entries.get(id)
      return held?.userId === userId ? held.values : new Map()
    },
    /** Replaces the values, and holds them for another while. */
    update: (userId: string, id: string, values: ReadonlyMap<string, string>): void => {
      if (entries.get(id)?.userId === userId) entries.set(id, { userId, values })
    },
    drop: (id: string): void => void entries.delete(id),
  }
}
export type HeldSecrets = ReturnType<typeof createHeldSecrets>
