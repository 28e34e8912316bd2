/** Maximum number of notifications handled per second for one upstream. Any more are dropped. */
export const MAX_NOTIFICATIONS_PER_SECOND = 100

/**
 * Limits an upstream's notifications across all of its connections, because handling each one takes time from all
 * tenants.
 */
export const createNotificationLimit = () => {
  let since = 0
  let handled = 0
  let dropped = 0

  const hasRoom = (): boolean => {
    const now = performance.now()
    if (now - since >= 1_000) {
      since = now
      handled = 0
    }
    return handled < MAX_NOTIFICATIONS_PER_SECOND
  }

  return {
    /** Returns whether to handle one more notification. If not, counts it as dropped. */
    accept: (): boolean => {
      if (hasRoom()) {
        handled += 1
        return true
      }
      dropped += 1
      return false
    },
    /** Returns whether `accept` would return false, so that callers can drop a notification before parsing it. */
    isReached: (): boolean => !hasRoom(),
    /** Number of notifications dropped so far. */
    countDropped: (): number => dropped,
  }
}

export type NotificationLimit = ReturnType<typeof createNotificationLimit>
