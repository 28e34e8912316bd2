import { randomBytes } from 'node:crypto'
import type { Call } from '../call.ts'
import type { RequestId } from '../message.ts'
import { newSession, type Session } from './session.ts'
import type { SessionClaims, SessionIds } from './session-id.ts'
import { pauseSubscriptions, releaseUpstreams } from './session-upstreams.ts'

/**
 * Adds a running call. `calls` is an array, not a Set: a Set rehashes every few calls, and each discarded table keeps
 * the next table and its calls alive until a full garbage collection.
 */
export const addCall = (session: Session, call: Call): void => {
  session.calls ??= []
  session.calls.push(call)
}

/** Removes a finished call. May change the order of the other calls. */
export const removeCall = ({ calls = [] }: Session, call: Call): void => {
  const at = calls.lastIndexOf(call)
  const last = at < 0 ? undefined : calls.pop()
  if (last !== undefined && at < calls.length) calls[at] = last
}

/** Cancels every running call with this id. */
export const cancelCalls = (calls: readonly Call[] | undefined, id: RequestId): void => {
  for (const call of calls ?? []) {
    if (call.id === id) call.signal.abort()
  }
}

const isBusy = ({ calls, streams }: Session): boolean => (calls?.length ?? 0) > 0 || streams?.hasOpenStream() === true

/** Cancels a session's running calls, ends its streams and releases its upstreams. */
export const endSession = (session: Session): void => {
  for (const call of session.calls ?? []) call.signal.abort()
  session.streams?.end()
  releaseUpstreams(session)
}

export type SessionsOptions = {
  ids: SessionIds
  /** Milliseconds since 1970. */
  now: () => number
  idleMs: number
  maxPerServer: number
}

/** At the limit, sessions unused for this long are evicted. Their clients can resume them if there is room. */
const RECLAIM_AFTER_MS = 10 * 60 * 1_000
/** Number of sweeps per idle timeout. */
const SWEEPS_PER_IDLE_TIME = 24
const MAX_SWEEP_INTERVAL_MS = 60 * 60 * 1_000

type ServerSessions = {
  living: Map<string, Session>
  /** Times at which clients ended sessions, by id, oldest first. An ended id never becomes valid again. */
  ended: Map<string, number>
}

/**
 * Holds the sessions of this process by id. Accepts an unknown id if its session may still be in use: the session was
 * created within the idle timeout, or this process has run for less than that time and may not have seen its last use.
 */
export const createSessions = ({ ids, now, idleMs, maxPerServer }: SessionsOptions) => {
  const startedAt = now()
  const byServer = new Map<string, ServerSessions>()

  const sessionsOf = (serverId: string): ServerSessions => {
    const known = byServer.get(serverId) ?? { living: new Map<string, Session>(), ended: new Map<string, number>() }
    byServer.set(serverId, known)
    return known
  }

  const forget = ({ living }: ServerSessions, unusedMs: number): void => {
    const at = now()
    for (const [id, session] of living) {
      if (at - session.lastUsedAt <= unusedMs || isBusy(session)) continue
      living.delete(id)
      releaseUpstreams(session)
    }
  }
  const hasRoom = (known: ServerSessions): boolean => {
    if (known.living.size >= maxPerServer) forget(known, RECLAIM_AFTER_MS)
    return known.living.size < maxPerServer
  }

  const add = (known: ServerSessions, id: string, claims: SessionClaims): Session => {
    const session = newSession(claims, now())
    known.living.set(id, session)
    return session
  }

  const resume = (serverId: string, id: string): Session | undefined => {
    const claims = ids.verify(id)
    if (claims === undefined || claims.serverId !== serverId) return undefined
    const at = now()
    if (at - claims.madeAt > idleMs && at - startedAt > idleMs) return undefined
    const known = sessionsOf(serverId)
    return !known.ended.has(id) && hasRoom(known) ? add(known, id, claims) : undefined
  }

  const sweepMs = Math.min(idleMs / SWEEPS_PER_IDLE_TIME, MAX_SWEEP_INTERVAL_MS)
  /** Returns whether nobody is listening to the session, so that its subscriptions can be paused. */
  const hasNoListener = (session: Session): boolean => now() - session.lastUsedAt > sweepMs && !isBusy(session)
  const sweep = (): void => {
    const before = now() - idleMs
    for (const [serverId, known] of byServer) {
      forget(known, idleMs)
      for (const session of known.living.values()) if (hasNoListener(session)) pauseSubscriptions(session)
      for (const [id, endedAt] of known.ended) {
        if (endedAt < before) known.ended.delete(id)
      }
      if (known.living.size === 0 && known.ended.size === 0) byServer.delete(serverId)
    }
  }
  const timer = setInterval(sweep, sweepMs)
  timer.unref()

  return {
    /** Returns the id of a new session, or undefined if the server is at its limit. */
    begin: (claims: Omit<SessionClaims, 'madeAt' | 'nonce'>): string | undefined => {
      const known = sessionsOf(claims.serverId)
      if (!hasRoom(known)) return undefined
      const complete = { ...claims, madeAt: now(), nonce: randomBytes(6).toString('base64url') }
      const id = ids.issue(complete)
      add(known, id, complete)
      return id
    },
    /**
     * Returns the live session with this id and marks it as used. Returns undefined if the session is unknown, ended or
     * expired, or belongs to another caller.
     */
    use: (serverId: string, id: string, subject: string | undefined): Session | undefined => {
      const session = byServer.get(serverId)?.living.get(id) ?? resume(serverId, id)
      if (session === undefined || session.subject !== subject) return undefined
      const at = now()
      if (at - session.lastUsedAt > idleMs && !isBusy(session)) return undefined
      session.lastUsedAt = at
      return session
    },
    /** Ends a session at the request of its client. */
    end: (id: string, session: Session): void => {
      const { living, ended } = sessionsOf(session.serverId)
      living.delete(id)
      const [oldest] = ended.size >= maxPerServer ? ended.keys() : []
      if (oldest !== undefined) ended.delete(oldest)
      ended.set(id, now())
      endSession(session)
    },
    close: (): void => {
      clearInterval(timer)
      for (const { living } of byServer.values()) for (const session of living.values()) releaseUpstreams(session)
    },
  }
}
export type Sessions = ReturnType<typeof createSessions>
