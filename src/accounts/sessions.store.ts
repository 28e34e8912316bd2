import { hash } from 'node:crypto'
import type { Session } from 'fastify'
import type { JsonObject } from '../kernel/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import { SESSION_IDLE_MS, type SessionStore } from '../platform/http/index.ts'

/** How often rows of ended sessions are swept out, at most. */
const SWEEP_EVERY_MS = 60 * 60 * 1_000

const hashOf = (sid: string): string => hash('sha256', sid)

/** What the session holds; its cookie is made anew from the settings each time. */
const toData = ({ cookie: _, ...fields }: Session): JsonObject => JSON.parse(JSON.stringify(fields))

const toSession = (data: unknown): Session => {
  const session: Session = { cookie: { originalMaxAge: SESSION_IDLE_MS } }
  return Object.assign(session, data)
}

const settle = (work: Promise<unknown>, callback: (error?: unknown) => void): void => {
  work.then(() => callback(), callback)
}

/**
 * Sessions in the database, under the SHA-256 of their id: a leaked table signs nobody in.
 * Answers none that has ended; `now` is in milliseconds since 1970.
 */
export const createSessionStore = (db: Database, now: () => number = Date.now): SessionStore => {
  let sweptAt = 0

  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await db.session.deleteMany({ where: { expiresAt: { lte: new Date(now()) } } })
  }

  const save = async (sid: string, session: Session): Promise<void> => {
    const sidHash = hashOf(sid)
    const values = {
      userId: session.userId ?? null,
      data: toData(session),
      expiresAt: new Date(session.endsAt ?? now() + SESSION_IDLE_MS),
    }
    await db.session.upsert({ where: { sidHash }, create: { sidHash, ...values }, update: values })
    await sweep()
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

/** Ends all sessions of a user, but the one of that id where there is one. */
export const removeSessions = async (tx: Transaction, userId: string, keptSid: string | undefined): Promise<void> => {
  const kept = keptSid === undefined ? {} : { sidHash: { not: hashOf(keptSid) } }
  await tx.session.deleteMany({ where: { userId, ...kept } })
}
