import { randomBytes } from 'node:crypto'
import type { Call } from './call.ts'
import type { RequestId } from './message.ts'
import type { Session } from './session.ts'
import type { SessionClaims, SessionIds } from './session-id.ts'
import { cutTies, restSubscriptions } from './session-ties.ts'

export type { Session } from './session.ts'

/**
 * In a list, not a Set: that one rehashes every few calls, and each table it has left behind keeps the next one alive,
 * with all the calls in it, until a full collection: a third of a call's memory outlived it.
 */
export const beginCall = (session: Session, call: Call): void => {
  session.calls ??= []
  session.calls.push(call)
}

/** The call is answered. The order of the others does not matter. */
export const endCall = ({ calls = [] }: Session, call: Call): void => {
  const at = calls.lastIndexOf(call)
  const last = at < 0 ? undefined : calls.pop()
  if (last !== undefined && at < calls.length) calls[at] = last
}

/** Cancels every call under way with this id. */
export const cancelCalls = (calls: readonly Call[] | undefined, id: RequestId): void => {
  for (const call of calls ?? []) {
    if (call.id === id) call.signal.abort()
  }
}

const isBusy = ({ calls, feeds }: Session): boolean => (calls?.length ?? 0) > 0 || feeds?.hasOpenStream() === true

/** Cancels its calls under way, ends its streams, and all that upstreams do for it. */
export const endSession = (session: Session): void => {
  for (const call of session.calls ?? []) call.signal.abort()
  session.feeds?.end()
  cutTies(session)
}

export type SessionsOptions = {
  ids: SessionIds
  /** Milliseconds since 1970. */
  now: () => number
  idleMs: number
  maxPerServer: number
}

/** At the limit, sessions unused for this long make room; while there is some they are taken up again. */
const RECLAIM_AFTER_MS = 10 * 60 * 1_000
/** The sweep runs this often per idle time. */
const SWEEPS_PER_IDLE_TIME = 24
const MAX_SWEEP_INTERVAL_MS = 60 * 60 * 1_000

type ServerSessions = {
  living: Map<string, Session>
  /** When each was ended by its client, the oldest first: an ended id never comes back to life. */
  ended: Map<string, number>
}

/**
 * The sessions this process knows, by id. An id that it does not know is taken up when its claims say that it can
 * still be alive: made within the idle time, or before this process was here to see it used.
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
      cutTies(session)
    }
  }
  const hasRoom = (known: ServerSessions): boolean => {
    if (known.living.size >= maxPerServer) forget(known, RECLAIM_AFTER_MS)
    return known.living.size < maxPerServer
  }

  const add = (
    known: ServerSessions,
    id: string,
    { serverId, subject, version, client, capabilities }: SessionClaims,
  ): Session => {
    const unused = { logLevel: undefined, calls: undefined, feeds: undefined, notify: undefined, ties: undefined }
    const session: Session = { serverId, subject, version, client, capabilities, lastUsedAt: now(), ...unused }
    known.living.set(id, session)
    return session
  }

  const takeUp = (serverId: string, id: string): Session | undefined => {
    const claims = ids.open(id)
    if (claims === undefined || claims.serverId !== serverId) return undefined
    const at = now()
    if (at - claims.madeAt > idleMs && at - startedAt > idleMs) return undefined
    const known = sessionsOf(serverId)
    return !known.ended.has(id) && hasRoom(known) ? add(known, id, claims) : undefined
  }

  const sweepMs = Math.min(idleMs / SWEEPS_PER_IDLE_TIME, MAX_SWEEP_INTERVAL_MS)
  /** Where nobody listens, upstreams need not be held for it. */
  const isUnheard = (session: Session): boolean => now() - session.lastUsedAt > sweepMs && !isBusy(session)
  const sweep = (): void => {
    const before = now() - idleMs
    for (const [serverId, known] of byServer) {
      forget(known, idleMs)
      for (const session of known.living.values()) if (isUnheard(session)) restSubscriptions(session)
      for (const [id, endedAt] of known.ended) {
        if (endedAt < before) known.ended.delete(id)
      }
      if (known.living.size === 0 && known.ended.size === 0) byServer.delete(serverId)
    }
  }
  const timer = setInterval(sweep, sweepMs)
  timer.unref()

  return {
    /** The id of a new session, or undefined when the server has as many as it may. */
    begin: (claims: Omit<SessionClaims, 'madeAt' | 'nonce'>): string | undefined => {
      const known = sessionsOf(claims.serverId)
      if (!hasRoom(known)) return undefined
      const complete = { ...claims, madeAt: now(), nonce: randomBytes(6).toString('base64url') }
      const id = ids.seal(complete)
      add(known, id, complete)
      return id
    },
    /** The living session of this id, marked as used; undefined when it is unknown, ended, over or another's. */
    use: (serverId: string, id: string, subject: string | undefined): Session | undefined => {
      const session = byServer.get(serverId)?.living.get(id) ?? takeUp(serverId, id)
      if (session === undefined || session.subject !== subject) return undefined
      const at = now()
      if (at - session.lastUsedAt > idleMs && !isBusy(session)) return undefined
      session.lastUsedAt = at
      return session
    },
    /** At its client's wish. */
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
      for (const { living } of byServer.values()) for (const session of living.values()) cutTies(session)
    },
  }
}
export type Sessions = ReturnType<typeof createSessions>
