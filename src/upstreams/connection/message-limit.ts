/** Maximum number of notifications of one upstream that are handled per second, and maximum number of its requests. */
export const MAX_MESSAGES_PER_SECOND = 100
/** The same for all upstreams of one organization. */
export const MAX_MESSAGES_OF_ORGANIZATION = 400
const WINDOW_MS = 1_000
/** A message counts once more for each of these bytes, because parsing takes time. */
const BYTES_PER_COUNT = 16 * 1_024

/** Time without dropped messages after which they are counted from 0 again. */
const QUIET_MS = 60_000
/** Delay after which lists are reported as changed if a notification that said so was dropped. */
const MISSED_LISTS_MS = 2_000

/** Share of the main thread's time that reading messages over the limit may take, for all upstreams together. */
const DROPPING_SHARE = 0.1
/** Time to receive one chunk, before it can be measured. */
const CHUNK_MS = 0.1
/** Shorter pauses are added up, because a timer takes time, too. */
const MIN_PAUSE_MS = 5

/** Counts per second. What exceeds one second's maximum, because of a large message, counts in the next seconds. */
const createRate = (now: () => number, maxPerSecond: number) => {
  let since = Number.NEGATIVE_INFINITY
  let used = 0
  const startWindow = (): void => {
    const windows = Math.floor((now() - since) / WINDOW_MS)
    if (windows <= 0) return
    used = Math.max(0, used - maxPerSecond * windows)
    since = windows === Number.POSITIVE_INFINITY ? now() : since + windows * WINDOW_MS
  }
  return {
    hasRoom: (): boolean => {
      startWindow()
      return used < maxPerSecond
    },
    add: (bytes: number): void => {
      startWindow()
      used += 1 + Math.floor(bytes / BYTES_PER_COUNT)
    },
    charge: (bytes: number): void => {
      used += Math.floor(bytes / BYTES_PER_COUNT)
    },
  }
}

const createRates = (now: () => number, maxPerSecond: number) => ({
  notifications: createRate(now, maxPerSecond),
  requests: createRate(now, maxPerSecond),
  refusals: createRate(now, maxPerSecond),
})

/**
 * The part of the main thread's time for reading messages over the limit. Organizations whose upstreams send such
 * messages share it equally. Returns until when an organization's upstream must wait after a read.
 */
const createDroppingBudget = () => {
  const freeAt = new Map<string, number>()
  return (organizationId: string, startedAt: number, usedMs: number): number => {
    for (const [id, at] of freeAt) if (at <= startedAt) freeAt.delete(id)
    const from = freeAt.get(organizationId) ?? startedAt
    freeAt.set(organizationId, from)
    const until = from + (usedMs / DROPPING_SHARE) * freeAt.size
    freeAt.set(organizationId, until)
    return until
  }
}

type OrganizationLimit = {
  rates: ReturnType<typeof createRates>
  /** Counts the time of a read. Returns until when to wait. */
  waitUntil: (startedAt: number, usedMs: number) => number
}

/** What all upstreams of the process share. Returns the part of one organization. */
export const createOrganizationLimits = (now: () => number = () => performance.now()) => {
  const ratesOf = new Map<string, OrganizationLimit['rates']>()
  const budget = createDroppingBudget()
  return (organizationId = ''): OrganizationLimit => {
    const rates = ratesOf.get(organizationId) ?? createRates(now, MAX_MESSAGES_OF_ORGANIZATION)
    ratesOf.set(organizationId, rates)
    return { rates, waitUntil: (startedAt, usedMs) => budget(organizationId, startedAt, usedMs) }
  }
}

export type MessageLimitOptions = {
  /** Called some time after a notification of a changed list was dropped, once for all that were. */
  onListsMissed: () => void
  organization: OrganizationLimit
  now?: () => number
}

/**
 * Limits what an upstream sends without being asked, across all of its connections, because handling it takes time from
 * all tenants. The first response to each request that somebody waits for is never dropped.
 */
export const createMessageLimit = ({
  onListsMissed,
  organization,
  now = () => performance.now(),
}: MessageLimitOptions) => {
  const rates = createRates(now, MAX_MESSAGES_PER_SECOND)
  let dropped = 0
  let droppedAt = Number.NEGATIVE_INFINITY
  let isRefreshing = false

  const count = (kind: keyof typeof rates, bytes: number): void => {
    rates[kind].add(bytes)
    organization.rates[kind].add(bytes)
  }
  /** Counts a message and returns true, unless a maximum is reached. */
  const take = (kind: keyof typeof rates, bytes: number): boolean => {
    if (!rates[kind].hasRoom() || !organization.rates[kind].hasRoom()) return false
    count(kind, bytes)
    return true
  }

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
      take('notifications', bytes) || drop(changesLists),
    /**
     * Returns whether to handle one more request, or response that nobody waits for. The caller refuses or drops any
     * others.
     */
    acceptRequest: (bytes: number): boolean => take('requests', bytes),
    /** Returns whether to refuse a request with an error. If not, counts it as dropped. */
    acceptRefusal: (): boolean => take('refusals', 0) || drop(false),
    drop,
    /** Counts a message that is handled even over the limit. */
    count,
    /** Counts the size of a request that was accepted before its size was known. */
    charge: (bytes: number): void => {
      rates.requests.charge(bytes)
      organization.rates.requests.charge(bytes)
    },
    /** Number of messages dropped since the last quiet minute. */
    countDropped: recentlyDropped,
    /** Reads a chunk. Returns how long to wait before the next one is read, which is 0 unless messages were dropped. */
    pace: <Read>(read: () => Read): { read: Read; pauseMs: number } => {
      const startedAt = now()
      const before = dropped
      const made = read()
      if (dropped === before) return { read: made, pauseMs: 0 }
      const endedAt = now()
      const pauseMs = organization.waitUntil(startedAt, endedAt - startedAt + CHUNK_MS) - endedAt
      return { read: made, pauseMs: pauseMs < MIN_PAUSE_MS ? 0 : pauseMs }
    },
  }
}

export type MessageLimit = ReturnType<typeof createMessageLimit>
