import type { CountedCalls, ServerCallFigures } from '../../history/call-figures.store.ts'
import type { StoredExecution } from '../../history/executions.store.ts'

/** An event on a server that is being watched. */
export type WatchEvent =
  /** New calls, newest first. */
  | { type: 'calls'; calls: readonly StoredExecution[] }
  /** Updated figures, sent after new calls. */
  | { type: 'figures'; figures: ServerCallFigures }
  /** Not sent to listeners who may see only their own calls. */
  | { type: 'connections'; openStreams: number }
  /** Fingerprint of the upstreams' states, sent when it changes. */
  | { type: 'upstreams'; states: string }

export type ServerWatchParts = {
  /** Lists the newest calls from all processes, as recorded in the history, newest first. */
  listNewest: (watched: CountedCalls) => Promise<readonly StoredExecution[]>
  readFigures: (watched: CountedCalls) => Promise<ServerCallFigures>
  openStreams: (serverId: string) => number
  upstreamStates: (serverId: string) => string
  onTrouble: (error: unknown, serverId: string) => void
}

type Listener = (event: WatchEvent) => void

/** How often the history is read. One read serves all listeners who see the same calls. */
const READ_EVERY_MS = 1_000
/** How often figures are computed. Each computation reads thousands of calls, so it happens less often. */
const FIGURES_EVERY_MS = 5_000

type Watch = {
  listeners: Set<Listener>
  timer: NodeJS.Timeout | undefined
  newest: readonly StoredExecution[]
  /** Undefined if the listeners may see only their own calls. */
  openStreams: number | undefined
  upstreamStates: string
  figuresAt: number
  areFiguresDue: boolean
}

/**
 * Watches servers as long as they have listeners. Each server's history is read once a second, regardless of the number
 * of listeners, and once more for each listener who may see only their own calls.
 */
export const createServerWatches = ({
  listNewest,
  readFigures,
  openStreams,
  upstreamStates,
  onTrouble,
}: ServerWatchParts) => {
  const watches = new Map<string, Watch>()

  const tell = ({ listeners }: Watch, event: WatchEvent): void => {
    for (const listener of [...listeners]) listener(event)
  }

  const tellCalls = (watch: Watch, newest: readonly StoredExecution[]): void => {
    const known = new Set(watch.newest.map(({ id }) => id))
    const calls = newest.filter(({ id }) => !known.has(id))
    watch.newest = newest
    if (calls.length === 0) return
    watch.areFiguresDue = true
    tell(watch, { type: 'calls', calls })
  }

  const countOpen = ({ serverId, callerId }: CountedCalls): number | undefined =>
    callerId === undefined ? openStreams(serverId) : undefined

  const tellConnections = (watch: Watch, watched: CountedCalls): void => {
    const open = countOpen(watched)
    if (open === undefined || open === watch.openStreams) return
    watch.openStreams = open
    tell(watch, { type: 'connections', openStreams: open })
  }

  const tellUpstreams = (watch: Watch, serverId: string): void => {
    const states = upstreamStates(serverId)
    if (states === watch.upstreamStates) return
    watch.upstreamStates = states
    tell(watch, { type: 'upstreams', states })
  }

  const tellFigures = async (watch: Watch, watched: CountedCalls): Promise<void> => {
    const now = performance.now()
    if (!watch.areFiguresDue || now - watch.figuresAt < FIGURES_EVERY_MS) return
    watch.areFiguresDue = false
    watch.figuresAt = now
    tell(watch, { type: 'figures', figures: await readFigures(watched) })
  }

  const read = async (watched: CountedCalls, watch: Watch): Promise<void> => {
    const { serverId } = watched
    try {
      const newest = await listNewest(watched)
      if (watch.listeners.size === 0) return
      tellCalls(watch, newest)
      tellConnections(watch, watched)
      tellUpstreams(watch, serverId)
      await tellFigures(watch, watched)
    } catch (error) {
      // Keep polling: the database may be available again next time.
      onTrouble(error, serverId)
    }
    if (watch.listeners.size === 0) return
    watch.timer = setTimeout(() => void read(watched, watch), READ_EVERY_MS)
    watch.timer.unref()
  }

  const begin = (watched: CountedCalls, key: string): Watch => {
    const watch: Watch = {
      listeners: new Set(),
      timer: undefined,
      newest: [],
      openStreams: countOpen(watched),
      upstreamStates: upstreamStates(watched.serverId),
      figuresAt: Number.NEGATIVE_INFINITY,
      areFiguresDue: false,
    }
    watches.set(key, watch)
    return watch
  }

  return {
    /**
     * Subscribes a listener and returns a function that unsubscribes it. The listener immediately receives the current
     * connections, upstream states and newest calls, because the page may have been rendered earlier. After that, it
     * receives every change.
     */
    watch: (watched: CountedCalls, listener: Listener): (() => void) => {
      const key = `${watched.serverId}/${watched.callerId ?? ''}`
      const known = watches.get(key)
      const watch = known ?? begin(watched, key)
      watch.listeners.add(listener)
      if (watch.openStreams !== undefined) listener({ type: 'connections', openStreams: watch.openStreams })
      listener({ type: 'upstreams', states: watch.upstreamStates })
      if (known === undefined) void read(watched, watch)
      else if (watch.newest.length > 0) listener({ type: 'calls', calls: watch.newest })
      return () => {
        watch.listeners.delete(listener)
        if (watch.listeners.size > 0) return
        clearTimeout(watch.timer)
        if (watches.get(key) === watch) watches.delete(key)
      }
    },
    watchedCount: (): number => watches.size,
  }
}
