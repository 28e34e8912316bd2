import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CallLink, LogLevel } from '../connection/call-link.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { lowerLogLevel } from './log-levels.ts'

type OnLog = (params: JsonObject) => void

/** What is logged this soon after a call may still be about it. */
const LATE_MS = 2_000

/** The calls of one upstream. */
type Traffic = {
  underWay: Set<CallLink>
  /** Whose was answered just now; undefined where calls of several were. */
  lately: { origin: object | undefined; until: number } | undefined
}

type Listener = { origin: object; onLog: OnLog }

/**
 * Tells the log messages of upstreams to the clients they are for. The protocol does not say whose call a message
 * belongs to, and callers share a connection: while calls of one client alone are under way it is that client's, while
 * there are calls of several it may be anybody's and is told to none. One that comes while nothing is under way is for
 * all who listen to the server's messages, unless it may be a late one of a call.
 */
export const createUpstreamLogs = (
  connections: Pick<UpstreamConnections, 'onNotification' | 'onReplaced' | 'listHeld'>,
) => {
  const byUpstream = new Map<string, Traffic>()
  const listeners = new Map<string, Set<Listener>>()

  const tell = (upstreamId: string, serverId: string, params: JsonObject): void => {
    const { underWay, lately } = byUpstream.get(upstreamId) ?? {}
    const [first] = underWay ?? []
    if (underWay === undefined || first === undefined) {
      const isLate = lately !== undefined && lately.until > performance.now()
      for (const { origin, onLog } of listeners.get(serverId) ?? []) {
        if (!isLate || origin === lately.origin) onLog(params)
      }
      return
    }
    for (const { origin } of underWay)
      if (origin !== first.origin) return // The newest of its calls: an older one may be about to be answered.
    ;[...underWay].at(-1)?.onLog?.(params)
  }
  connections.onNotification((upstream, { method, params }) => {
    if (method === 'notifications/message' && isJsonObject(params)) tell(upstream.id, upstream.serverId, params)
  })
  connections.onReplaced(upstreamId => {
    if (byUpstream.get(upstreamId)?.underWay.size === 0) byUpstream.delete(upstreamId)
  })

  return {
    /** Says that a request to an upstream is under way; answers how to say that it is over. */
    begin: (upstreamId: string, link: CallLink): (() => void) => {
      const traffic = byUpstream.get(upstreamId) ?? { underWay: new Set(), lately: undefined }
      byUpstream.set(upstreamId, traffic)
      traffic.underWay.add(link)
      return () => {
        const now = performance.now()
        const { lately } = traffic
        const isAlone = lately === undefined || lately.until <= now || lately.origin === link.origin
        traffic.underWay.delete(link)
        traffic.lately = { origin: isAlone ? link.origin : undefined, until: now + LATE_MS }
      }
    },
    /** Tells `origin` what a server's upstreams log while nobody calls them; answers how to stop. */
    listen: (serverId: string, origin: object, onLog: OnLog): (() => void) => {
      const all = listeners.get(serverId) ?? new Set<Listener>()
      const listener = { origin, onLog }
      listeners.set(serverId, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(serverId) === all) listeners.delete(serverId)
      }
    },
    /** Asks those upstreams of a server that are connected for messages from a level on; others are with the next call. */
    lowerLevel: async (serverId: string, level: LogLevel): Promise<void> => {
      const connected = connections
        .listHeld()
        .filter(
          ({ upstream, connection }) => upstream.serverId === serverId && connection?.state().kind === 'connected',
        )
      await Promise.allSettled(
        connected.map(async ({ connection }) => connection && lowerLogLevel(await connection.get(), level)),
      )
    },
  }
}
