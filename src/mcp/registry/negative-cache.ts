/** Long enough to protect the database, too short to be noticed. */
const TTL_MS = 2_000
/** Bounded, because anybody can send any number of unknown ids. */
const MAX_ENTRIES = 1_000

/** A negative cache: remembers for a moment which ids could not be found. */
export const createNegativeCache = (now: () => number) => {
  const until = new Map<string, number>()
  return {
    has: (serverId: string): boolean => {
      const end = until.get(serverId)
      if (end === undefined) return false
      if (end > now()) return true
      until.delete(serverId)
      return false
    },
    add: (serverId: string): void => {
      // Maps keep insertion order, so the first is the oldest.
      const [oldest] = until.size >= MAX_ENTRIES ? until.keys() : []
      if (oldest !== undefined) until.delete(oldest)
      until.set(serverId, now() + TTL_MS)
    },
    forget: (serverId: string): void => {
      until.delete(serverId)
    },
    clear: (): void => until.clear(),
  }
}
