import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { type CallLink, LOG_LEVELS, type LogLevel } from '../connection/call-link.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'

/** The log level set on each session-era connection. */
const currentLevel = new WeakMap<UpstreamClient, LogLevel>()

/** Timeout for setting the level. It is short, because the call waits. */
const SET_LEVEL_TIMEOUT_MS = 2_000

/**
 * Sets the log level of a session-era upstream. All clients share the connection's level, so the level is only ever
 * lowered, and messages are filtered per client. A level that the upstream rejects is not requested again.
 */
export const lowerLogLevel = async (client: UpstreamClient, level: LogLevel | undefined): Promise<void> => {
  if (level === undefined || client.getProtocolEra() !== 'legacy') return
  if (client.getServerCapabilities()?.logging === undefined) return
  const before = currentLevel.get(client)
  if (before !== undefined && LOG_LEVELS.indexOf(before) <= LOG_LEVELS.indexOf(level)) return
  currentLevel.set(client, level)
  await client.setLoggingLevel(level, { timeout: SET_LEVEL_TIMEOUT_MS }).catch(() => {})
}

type OnLog = (params: JsonObject) => void

/** How long a call's messages may still arrive after the call ends. */
const LATE_MESSAGE_MS = 2_000

type RecentCalls = {
  inProgress: Set<CallLink>
  /** The client whose calls just ended, or undefined if there were several clients. */
  justEnded: { origin: object | undefined; until: number } | undefined
}

type Listener = { origin: object; onLog: OnLog }

/**
 * Routes upstreams' log messages to clients. The protocol does not say which call a message belongs to, and callers
 * share a connection. A message goes to the only client with calls in progress, or to nobody if several have. Without
 * calls, it goes to all listeners of the server, but shortly after a call only to that call's client.
 */
export const createUpstreamLogs = (
  connections: Pick<UpstreamConnections, 'onNotification' | 'onReplaced' | 'listKnown'>,
) => {
  const byUpstream = new Map<string, RecentCalls>()
  const listeners = new Map<string, Set<Listener>>()

  const route = (upstreamId: string, serverId: string, params: JsonObject): void => {
    const { inProgress = [], justEnded } = byUpstream.get(upstreamId) ?? {}
    const calls = [...inProgress]
    const newest = calls.at(-1)
    if (newest === undefined) {
      const isLate = justEnded !== undefined && justEnded.until > performance.now()
      for (const { origin, onLog } of listeners.get(serverId) ?? []) {
        if (!isLate || origin === justEnded.origin) onLog(params)
      }
      return
    }
    // Send the message to the newest call, because an older one may be about to end.
    if (calls.every(({ origin }) => origin === newest.origin)) newest.onLog?.(params)
  }
  connections.onNotification((upstream, { method, params }) => {
    if (method === 'notifications/message' && isJsonObject(params)) route(upstream.id, upstream.serverId, params)
  })
  connections.onReplaced(upstreamId => {
    if (byUpstream.get(upstreamId)?.inProgress.size === 0) byUpstream.delete(upstreamId)
  })

  return {
    /** Records a request in progress. Returns a function that ends it. */
    startCall: (upstreamId: string, link: CallLink): (() => void) => {
      const calls = byUpstream.get(upstreamId) ?? { inProgress: new Set(), justEnded: undefined }
      byUpstream.set(upstreamId, calls)
      calls.inProgress.add(link)
      return () => {
        const now = performance.now()
        const { justEnded } = calls
        const isAlone = justEnded === undefined || justEnded.until <= now || justEnded.origin === link.origin
        calls.inProgress.delete(link)
        calls.justEnded = { origin: isAlone ? link.origin : undefined, until: now + LATE_MESSAGE_MS }
      }
    },
    /** Passes on messages that the server's upstreams log outside calls. Returns a function that stops this. */
    listen: (serverId: string, origin: object, onLog: OnLog): (() => void) => {
      const all = listeners.get(serverId) ?? new Set<Listener>()
      const listener = { origin, onLog }
      listeners.set(serverId, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(serverId) === all) listeners.delete(serverId)
      }
    },
    /** Lowers the log level of the server's connected upstreams. Other upstreams follow on their next call. */
    lowerLevel: async (serverId: string, level: LogLevel): Promise<void> => {
      const connected = connections
        .listKnown()
        .filter(
          ({ upstream, connection }) => upstream.serverId === serverId && connection?.state().kind === 'connected',
        )
      await Promise.allSettled(
        connected.map(async ({ connection }) => connection && lowerLogLevel(await connection.get(), level)),
      )
    },
  }
}
