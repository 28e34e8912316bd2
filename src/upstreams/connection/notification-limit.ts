/** Notifications of one upstream that are handled per second; further ones are dropped. */
export const MAX_NOTIFICATIONS_PER_SECOND = 100

/** Limits the notifications of one upstream over all of its connections, because each takes time of all tenants. */
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
    /** Returns whether to handle one more notification; otherwise counts it as dropped. */
    accept: (): boolean => {
      if (hasRoom()) {
        handled += 1
        return true
      }
      dropped += 1
      return false
    },
    /** Whether `accept` would return false. Lets callers drop a notification before they parse it. */
    isReached: (): boolean => !hasRoom(),
    /** Number of notifications dropped so far. */
    countDropped: (): number => dropped,
  }
}

export type NotificationLimit = ReturnType<typeof createNotificationLimit>
