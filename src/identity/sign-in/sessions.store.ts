import { hash } from 'node:crypto'
import type { Session } from 'fastify'
import { z } from 'zod'
import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { DatabaseHealth } from '../../lib/db/health.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { SESSION_IDLE_MS, type SessionStore } from '../../lib/http/sessions.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'

declare module 'fastify' {
  interface Session {
    /**
     * Whether the session was loaded from the database. If so, saving only updates it, so that an
     * ended session is not recreated.
     */
    isStored?: boolean
  }
}

const hashOf = (sid: string): string => hash('sha256', sid)

/** Returns the session's data without the cookie, which is rebuilt from the settings on each request. */
const toData = ({ cookie: _, isStored: __, ...fields }: Session): JsonObject => JSON.parse(JSON.stringify(fields))

const toSession = (data: unknown): Session => {
  const session: Session = { cookie: { originalMaxAge: SESSION_IDLE_MS } }
  return Object.assign(session, data, { isStored: true })
}

const settle = (work: Promise<unknown>, callback: (error?: unknown) => void): void => {
  work.then(() => callback(), callback)
}

/**
 * Stores sessions in the database under the SHA-256 hash of their ID, so that nobody can sign in with a leaked table.
 * Never returns ended sessions.
 */
export const createSessionStore = (
  db: Database,
  { whileReachable }: Pick<DatabaseHealth, 'whileReachable'>,
): SessionStore => {
  const save = async (sid: string, session: Session): Promise<void> => {
    const sidHash = hashOf(sid)
    const values = {
      userId: session.userId ?? null,
      data: toData(session),
      expiresAt: new Date(session.endsAt ?? Date.now() + SESSION_IDLE_MS),
    }
    // Only updates the row, so that a session ended during its own request stays ended.
    if (session.isStored === true) await db.session.updateMany({ where: { sidHash }, data: values })
    else await db.session.upsert({ where: { sidHash }, create: { sidHash, ...values }, update: values })
  }

  const find = async (sid: string): Promise<Session | null> => {
    const row = await whileReachable(() => db.session.findUnique({ where: { sidHash: hashOf(sid) } }))
    if (row === null || row.expiresAt.getTime() <= Date.now()) return null
    return toSession(row.data)
  }

  return {
    set: (sid, session, callback) => settle(save(sid, session), callback),
    get: (sid, callback) => {
      find(sid).then(session => callback(null, session), callback)
    },
    destroy: (sid, callback) => settle(db.session.deleteMany({ where: { sidHash: hashOf(sid) } }), callback),
  }
}

/** Ends all sessions of a user except `keptSid`, if given. Returns how many sessions it ended. */
export const removeSessions = async (tx: Transaction, userId: string, keptSid: string | undefined): Promise<number> => {
  const kept = keptSid === undefined ? {} : { sidHash: { not: hashOf(keptSid) } }
  return (await tx.session.deleteMany({ where: { userId, ...kept } })).count
}

/** Ends a session. Returns whether the session existed and belonged to this user. */
export const removeSession = async (tx: Transaction, userId: string, id: string): Promise<boolean> =>
  (await tx.session.deleteMany({ where: { id, userId } })).count > 0

/** A session as its user sees it. */
export type OwnSession = {
  id: string
  /** Whether this is the requesting session. */
  isCurrent: boolean
  createdAt: Date
  /** Up to ten minutes old, because a session in use is saved no more often than that. */
  lastSeenAt: Date
  userAgent: string | undefined
  /** Network address of the sign-in. */
  address: string | undefined
}

const SessionData = z.object({
  userAgent: z.string().optional().catch(undefined),
  address: z.string().optional().catch(undefined),
})

/** Lists a user's active sessions. */
export const listSessions = async (
  tx: Transaction,
  userId: string,
  page: IdPage,
  currentSid: string | undefined,
): Promise<OwnSession[]> => {
  const rows = await tx.session.findMany(idPageQuery(page, { userId, expiresAt: { gt: new Date() } }))
  const currentHash = currentSid === undefined ? undefined : hashOf(currentSid)
  return rows.map(({ id, sidHash, data, createdAt, updatedAt }) => {
    const { userAgent, address } = SessionData.catch({}).parse(data)
    return { id, isCurrent: sidHash === currentHash, createdAt, lastSeenAt: updatedAt, userAgent, address }
  })
}

export const removeEndedSessions = (db: Database, now: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.session.deleteMany({ where: { expiresAt: { lte: now } }, limit }), signal)
