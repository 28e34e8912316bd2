/** How long "there is no such server" is believed: long enough to shield the database, too short to be noticed. */
const BELIEVED_MS = 2_000
/** Ids remembered at once; strangers can send any number of them. */
const MAX_ABSENCES = 1_000

/** Ids that were asked for in vain a moment ago. */
export const createAbsences = (now: () => number) => {
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
      // Maps keep the order of insertion: the first is the oldest.
      const [oldest] = until.size >= MAX_ABSENCES ? until.keys() : []
      if (oldest !== undefined) until.delete(oldest)
      until.set(serverId, now() + BELIEVED_MS)
    },
    forget: (serverId: string): void => {
      until.delete(serverId)
    },
    clear: (): void => until.clear(),
  }
}
