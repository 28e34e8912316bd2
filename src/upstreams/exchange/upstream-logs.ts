import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import type { CallLink, LogLevel } from '../call-link.ts'
import type { UpstreamConnections } from '../upstream-connections.ts'
import { lowerLogLevel } from './log-levels.ts'

type OnLog = (params: JsonObject) => void

/**
 * Tells the log messages of upstreams to the clients they are for. The protocol does not say whose call a message
 * belongs to, and callers share a connection: while calls of one client alone are under way it is that client's, while
 * there are calls of several it may be anybody's and is told to none. One that comes while nothing is under way is for
 * all who listen to the server's messages.
 */
export const createUpstreamLogs = (connections: Pick<UpstreamConnections, 'onNotification' | 'listHeld'>) => {
  const underWay = new Map<string, Set<CallLink>>()
  const listeners = new Map<string, Set<OnLog>>()

  const tell = (upstreamId: string, serverId: string, params: JsonObject): void => {
    const links = underWay.get(upstreamId)
    const [first] = links ?? []
    if (links === undefined || first === undefined) {
      for (const listener of listeners.get(serverId) ?? []) listener(params)
      return
    }
    for (const { origin } of links)
      if (origin !== first.origin) return // The newest of its calls: an older one may be about to be answered.
    ;[...links].at(-1)?.onLog?.(params)
  }
  connections.onNotification((upstream, { method, params }) => {
    if (method === 'notifications/message' && isJsonObject(params)) tell(upstream.id, upstream.serverId, params)
  })

  return {
    /** Says that a request to an upstream is under way; answers how to say that it is over. */
    begin: (upstreamId: string, link: CallLink): (() => void) => {
      const links = underWay.get(upstreamId) ?? new Set<CallLink>()
      underWay.set(upstreamId, links)
      links.add(link)
      return () => {
        links.delete(link)
        if (links.size === 0 && underWay.get(upstreamId) === links) underWay.delete(upstreamId)
      }
    },
    /** Tells what a server's upstreams log while nobody calls them; answers how to stop. */
    listen: (serverId: string, listener: OnLog): (() => void) => {
      const all = listeners.get(serverId) ?? new Set<OnLog>()
      listeners.set(serverId, all)
      all.add(listener)
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
