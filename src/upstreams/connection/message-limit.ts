/** Maximum number of notifications of one upstream that are handled per second, and maximum number of its requests. */
export const MAX_MESSAGES_PER_SECOND = 100
const WINDOW_MS = 1_000
/** A message counts once more for each of these bytes, because parsing takes time. */
const BYTES_PER_COUNT = 16 * 1_024

/** Time without dropped messages after which they are counted from 0 again. */
const QUIET_MS = 60_000
/** Delay after which lists are reported as changed if a notification that said so was dropped. */
const MISSED_LISTS_MS = 2_000

/** Share of the main thread's time that reading messages over the limit may take, for one upstream. */
const DROPPING_SHARE = 0.1
/** Time to receive one chunk, before it can be measured. */
const CHUNK_MS = 0.1
/** Shorter pauses are added up, because a timer takes time, too. */
const MIN_PAUSE_MS = 5

/** Counts per second. What exceeds one second's maximum, because of a large message, counts in the next seconds. */
const createRate = (now: () => number) => {
  let since = Number.NEGATIVE_INFINITY
  let used = 0
  return {
    /** Counts a message and returns true, unless the maximum is reached. */
    take: (bytes: number): boolean => {
      const windows = Math.floor((now() - since) / WINDOW_MS)
      if (windows > 0) {
        used = Math.max(0, used - MAX_MESSAGES_PER_SECOND * windows)
        since = windows === Number.POSITIVE_INFINITY ? now() : since + windows * WINDOW_MS
      }
      if (used >= MAX_MESSAGES_PER_SECOND) return false
      used += 1 + Math.floor(bytes / BYTES_PER_COUNT)
      return true
    },
    charge: (bytes: number): void => {
      used += Math.floor(bytes / BYTES_PER_COUNT)
    },
    refund: (): void => {
      used = Math.max(0, used - 1)
    },
  }
}

export type MessageLimitOptions = {
  /** Called some time after a notification of a changed list was dropped, once for all that were. */
  onListsMissed: () => void
  now?: () => number
}

/**
 * Limits what an upstream sends without being asked, across all of its connections, because handling it takes time from
 * all tenants. Responses that somebody waits for are never dropped.
 */
export const createMessageLimit = ({ onListsMissed, now = () => performance.now() }: MessageLimitOptions) => {
  const notifications = createRate(now)
  const requests = createRate(now)
  const refusals = createRate(now)
  let dropped = 0
  let droppedAt = Number.NEGATIVE_INFINITY
  let isRefreshing = false
  let freeAt = 0

  const recentlyDropped = (): number => (now() - droppedAt > QUIET_MS ? 0 : dropped)

  /** Counts a dropped message. */
  const drop = (changesLists: boolean): false => {
    dropped = recentlyDropped() + 1
    droppedAt = now()
    if (changesLists && !isRefreshing) {
      isRefreshing = true
      const refresh = (): void => {
        isRefreshing = false
        onListsMissed()
      }
      setTimeout(refresh, MISSED_LISTS_MS).unref()
    }
    return false
  }

  return {
    /** Returns whether to handle one more notification. If not, counts it as dropped. */
    acceptNotification: (bytes: number, changesLists: boolean): boolean =>
      notifications.take(bytes) || drop(changesLists),
    /**
     * Returns whether to handle one more request, or response that nobody waits for. The caller refuses or drops any
     * others.
     */
    acceptRequest: (bytes: number): boolean => requests.take(bytes),
    /** Returns whether to refuse a request with an error. If not, counts it as dropped. */
    acceptRefusal: (): boolean => refusals.take(0) || drop(false),
    drop,
    /** Takes back the last `acceptRequest` of a message that was an awaited response. */
    refund: requests.refund,
    /** Counts the size of a message that was accepted before its kind was known. */
    charge: requests.charge,
    /** Number of messages dropped since the last quiet minute. */
    countDropped: recentlyDropped,
    /** Reads a chunk. Returns how long to wait before the next one is read, which is 0 unless messages were dropped. */
    pace: <Read>(read: () => Read): { read: Read; pauseMs: number } => {
      const startedAt = performance.now()
      const before = dropped
      const made = read()
      if (dropped === before) return { read: made, pauseMs: 0 }
      const endedAt = performance.now()
      freeAt = Math.max(freeAt, endedAt) + (endedAt - startedAt + CHUNK_MS) * (1 / DROPPING_SHARE - 1)
      const pauseMs = freeAt - endedAt
      return { read: made, pauseMs: pauseMs < MIN_PAUSE_MS ? 0 : pauseMs }
    },
  }
}

export type MessageLimit = ReturnType<typeof createMessageLimit>
