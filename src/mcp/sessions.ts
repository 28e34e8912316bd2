import { randomBytes } from 'node:crypto'
import type { Call } from './call.ts'
import type { Feeds } from './feeds.ts'
import type { RequestId } from './message.ts'
import type { LogLevel, SessionVersion } from './protocol.ts'
import type { SessionClaims, SessionIds } from './session-id.ts'

/** What changes while a session lasts. Everything beyond its last use is made when it is first needed. */
export type Session = {
  readonly serverId: string
  readonly subject: string | undefined
  readonly version: SessionVersion
  readonly client: string | undefined
  lastUsedAt: number
  hasEnded: boolean
  logLevel: LogLevel | undefined
  /** Requests under way, for `notifications/cancelled`. A set, for nothing keeps a client from using an id twice. */
  calls: Set<Call> | undefined
  feeds: Feeds | undefined
}

/** Cancels every call under way with this id; false when there is none. */
export const cancelCalls = (calls: ReadonlySet<Call> | undefined, id: RequestId): boolean => {
  let isFound = false
  for (const call of calls ?? []) {
    if (call.id !== id) continue
    call.cancel()
    isFound = true
  }
  return isFound
}

export type SessionsOptions = {
  ids: SessionIds
  /** Milliseconds since 1970. */
  now: () => number
  idleMs: number
  maxPerServer: number
}

/** At the limit, sessions unused for this long make room; they are taken up again should they come back. */
const RECLAIM_AFTER_MS = 10 * 60 * 1_000
/** The sweep runs this often per idle time. */
const SWEEPS_PER_IDLE_TIME = 24
const MAX_SWEEP_INTERVAL_MS = 60 * 60 * 1_000

/**
 * The sessions this process knows, by id. An id that it does not know is taken up when its claims say that it can
 * still be alive: made within the idle time, or before this process was here to see it used.
 */
export const createSessions = ({ ids, now, idleMs, maxPerServer }: SessionsOptions) => {
  const startedAt = now()
  const byServer = new Map<string, Map<string, Session>>()

  const isOver = (session: Session, at: number): boolean =>
    at - session.lastUsedAt > idleMs && (session.calls?.size ?? 0) === 0 && session.feeds?.hasOpenStream() !== true

  const reclaim = (known: Map<string, Session>, unusedMs: number): void => {
    const at = now()
    for (const [id, session] of known) {
      const isBusy = (session.calls?.size ?? 0) > 0 || session.feeds?.hasOpenStream() === true
      if (!isBusy && at - session.lastUsedAt > unusedMs) known.delete(id)
    }
  }

  const sessionsOf = (serverId: string): Map<string, Session> => {
    const known = byServer.get(serverId) ?? new Map<string, Session>()
    byServer.set(serverId, known)
    return known
  }

  const toSession = ({ serverId, subject, version, client }: SessionClaims): Session => ({
    serverId,
    subject,
    version,
    client,
    lastUsedAt: now(),
    hasEnded: false,
    logLevel: undefined,
    calls: undefined,
    feeds: undefined,
  })

  const takeUp = (serverId: string, id: string): Session | undefined => {
    const claims = ids.open(id)
    if (claims === undefined || claims.serverId !== serverId) return undefined
    const at = now()
    if (at - claims.madeAt > idleMs && at - startedAt > idleMs) return undefined
    const known = sessionsOf(serverId)
    if (known.size >= maxPerServer) reclaim(known, RECLAIM_AFTER_MS)
    const session = toSession(claims)
    // Over the limit it is served all the same, for it was let in before; it just is not remembered.
    if (known.size < maxPerServer) known.set(id, session)
    return session
  }

  const sweep = setInterval(
    () => {
      for (const [serverId, known] of byServer) {
        reclaim(known, idleMs)
        if (known.size === 0) byServer.delete(serverId)
      }
    },
    Math.min(idleMs / SWEEPS_PER_IDLE_TIME, MAX_SWEEP_INTERVAL_MS),
  )
  sweep.unref()

  return {
    /** The id of a new session, or undefined when the server has as many as it may. */
    begin: (claims: Omit<SessionClaims, 'madeAt' | 'nonce'>): string | undefined => {
      const known = sessionsOf(claims.serverId)
      if (known.size >= maxPerServer) reclaim(known, RECLAIM_AFTER_MS)
      if (known.size >= maxPerServer) return undefined
      const complete = { ...claims, madeAt: now(), nonce: randomBytes(6).toString('base64url') }
      const id = ids.seal(complete)
      known.set(id, toSession(complete))
      return id
    },
    /** The living session of this id, marked as used; undefined when it is unknown, ended, over or another's. */
    use: (serverId: string, id: string, subject: string | undefined): Session | undefined => {
      const session = byServer.get(serverId)?.get(id) ?? takeUp(serverId, id)
      if (session === undefined || session.subject !== subject || session.hasEnded) return undefined
      const at = now()
      if (isOver(session, at)) {
        session.hasEnded = true
        return undefined
      }
      session.lastUsedAt = at
      return session
    },
    count: (serverId: string): number => byServer.get(serverId)?.size ?? 0,
    close: (): void => clearInterval(sweep),
  }
}
export type Sessions = ReturnType<typeof createSessions>

/** Ends a session: calls under way are cancelled, its streams end, its id stays remembered as ended. */
export const endSession = (session: Session): void => {
  session.hasEnded = true
  for (const call of session.calls ?? []) call.cancel()
  session.feeds?.end()
}
