import type { UpstreamConnection } from './connection.ts'
import { UpstreamError } from './upstream-error.ts'

const IDLE_MS = 5 * 60_000
const IDLE_CHECK_INTERVAL_MS = 60_000

/** A connection that belongs to one user or client. */
export type PooledConnection = {
  connection: UpstreamConnection
  upstreamId: string
  /** Undefined for an anonymous caller. */
  userId: string | undefined
  activeRequests: number
  usedAt: number
}

/** Closes connections in the background. Ignores errors, because `StdioProcesses` ends any remaining processes. */
export const createClosing = () => {
  const closing = new Set<Promise<unknown>>()
  return {
    start: (connection: Pick<UpstreamConnection, 'close'>): void => {
      const ending: Promise<unknown> = connection
        .close()
        .catch(() => {})
        .finally(() => closing.delete(ending))
      closing.add(ending)
    },
    settle: async (): Promise<void> => {
      await Promise.allSettled(closing)
    },
  }
}

/** Creates a pool of connections that are closed when idle. */
export const createConnectionPool = <Entry extends PooledConnection>() => {
  /** Connections by upstream, least recently used first. */
  const byUpstream = new Map<string, Set<Entry>>()
  const closing = createClosing()

  const listOf = (upstreamId: string): readonly Entry[] => [...(byUpstream.get(upstreamId) ?? [])]
  const list = (): readonly Entry[] => [...byUpstream.values()].flatMap(entries => [...entries])

  const close = (entry: Entry): void => {
    const entries = byUpstream.get(entry.upstreamId)
    entries?.delete(entry)
    if (entries?.size === 0) byUpstream.delete(entry.upstreamId)
    closing.start(entry.connection)
  }
  const closeWhere = (matches: (entry: Entry) => boolean): void => list().filter(matches).forEach(close)

  const isUnused = ({ activeRequests }: Entry): boolean => activeRequests === 0
  const idleTimer = setInterval(() => {
    const before = Date.now() - IDLE_MS
    closeWhere(entry => isUnused(entry) && entry.usedAt < before)
  }, IDLE_CHECK_INTERVAL_MS)
  idleTimer.unref()

  return {
    list,
    listOf,
    add: (entry: Entry): void => {
      const entries = byUpstream.get(entry.upstreamId) ?? new Set<Entry>()
      byUpstream.set(entry.upstreamId, entries.add(entry))
    },
    /**
     * Closes the least recently used of these connections if the limit is reached. Throws
     * UpstreamError if all are in use.
     */
    makeRoom: (entries: readonly Entry[], max: number, whyFull: string): void => {
      if (entries.length < max) return
      const [oldest] = entries.filter(isUnused).sort((a, b) => a.usedAt - b.usedAt)
      if (oldest === undefined) throw new UpstreamError('unavailable', whyFull)
      close(oldest)
    },
    /** Marks a connection as in use by a request. Returns a function that ends this use. */
    use: (entry: Entry): (() => void) => {
      entry.activeRequests++
      return () => {
        entry.activeRequests--
        entry.usedAt = Date.now()
        const entries = byUpstream.get(entry.upstreamId)
        if (entries?.delete(entry)) entries.add(entry)
      }
    },
    close,
    closeWhere,
    end: async (): Promise<void> => {
      clearInterval(idleTimer)
      closeWhere(() => true)
      await closing.settle()
    },
  }
}
