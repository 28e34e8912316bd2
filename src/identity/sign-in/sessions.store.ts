import { hash } from 'node:crypto'
import type { Session } from 'fastify'
import { z } from 'zod'
import type { JsonObject } from '../kernel/index.ts'
import { type Database, removeInBatches, type Transaction } from '../platform/db/index.ts'
import { type IdPage, idPageQuery, SESSION_IDLE_MS, type SessionStore } from '../platform/http/index.ts'

declare module 'fastify' {
  interface Session {
    /** Whether it came out of the database: then it is only changed there, and made anew by nothing once it is ended. */
    isStored?: boolean
  }
}

const hashOf = (sid: string): string => hash('sha256', sid)

/** What the session holds; its cookie is made anew from the settings each time. */
const toData = ({ cookie: _, isStored: __, ...fields }: Session): JsonObject => JSON.parse(JSON.stringify(fields))

const toSession = (data: unknown): Session => {
  const session: Session = { cookie: { originalMaxAge: SESSION_IDLE_MS } }
  return Object.assign(session, data, { isStored: true })
}

const settle = (work: Promise<unknown>, callback: (error?: unknown) => void): void => {
  work.then(() => callback(), callback)
}

/**
 * Sessions in the database, under the SHA-256 of their id: a leaked table signs nobody in.
 * Answers none that has ended; `now` is in milliseconds since 1970.
 */
export const createSessionStore = (db: Database, now: () => number = Date.now): SessionStore => {
  const save = async (sid: string, session: Session): Promise<void> => {
    const sidHash = hashOf(sid)
    const values = {
      userId: session.userId ?? null,
      data: toData(session),
      expiresAt: new Date(session.endsAt ?? now() + SESSION_IDLE_MS),
    }
    // Whoever ended it while a request of its own was under way has the last word.
    if (session.isStored === true) await db.session.updateMany({ where: { sidHash }, data: values })
    else await db.session.upsert({ where: { sidHash }, create: { sidHash, ...values }, update: values })
  }

  const find = async (sid: string): Promise<Session | null> => {
    const row = await db.session.findUnique({ where: { sidHash: hashOf(sid) } })
    if (row === null || row.expiresAt.getTime() <= now()) return null
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

/** Ends all sessions of a user, but the one of that id where there is one. Answers how many it ended. */
export const removeSessions = async (tx: Transaction, userId: string, keptSid: string | undefined): Promise<number> => {
  const kept = keptSid === undefined ? {} : { sidHash: { not: hashOf(keptSid) } }
  return (await tx.session.deleteMany({ where: { userId, ...kept } })).count
}

/** Whether there was such a session of this user. */
export const removeSession = async (tx: Transaction, userId: string, id: string): Promise<boolean> =>
  (await tx.session.deleteMany({ where: { id, userId } })).count > 0

/** A session as its user sees it. */
export type OwnSession = {
  id: string
  /** Whether it is the one that asks. */
  isCurrent: boolean
  createdAt: Date
  /** To within ten minutes: a busy session is not written down more often. */
  lastSeenAt: Date
  /** As the browser named itself at sign-in. */
  userAgent: string | undefined
  /** The network address of the sign-in. */
  address: string | undefined
}

const SessionData = z.object({
  userAgent: z.string().optional().catch(undefined),
  address: z.string().optional().catch(undefined),
})

/** A user's sessions that have not ended at `now`. */
export const listSessions = async (
  tx: Transaction,
  { userId, now, currentSid }: { userId: string; now: Date; currentSid: string | undefined },
  page: IdPage,
): Promise<OwnSession[]> => {
  const { where, ...rest } = idPageQuery(page)
  const rows = await tx.session.findMany({ where: { ...where, userId, expiresAt: { gt: now } }, ...rest })
  const currentHash = currentSid === undefined ? undefined : hashOf(currentSid)
  return rows.map(({ id, sidHash, data, createdAt, updatedAt }) => {
    const { userAgent, address } = SessionData.catch({}).parse(data)
    return { id, isCurrent: sidHash === currentHash, createdAt, lastSeenAt: updatedAt, userAgent, address }
  })
}

/** Removes the sessions that have ended. */
export const removeEndedSessions = (db: Database, now: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.session.deleteMany({ where: { expiresAt: { lte: now } }, limit }), signal)
