import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database } from '../../lib/db/client.ts'
import { ROWS_PER_REMOVAL } from './cache-limits.ts'

/** An answer as it lies in the database; `content` is compressed. Milliseconds since 1970. */
export type SharedAnswer = {
  key: string
  serverId: string
  holder: string
  about: string
  content: Uint8Array<ArrayBuffer>
  usedAt: number
}

const createStore = (db: Database) => ({
  put: async ({ key, usedAt, ...answer }: SharedAnswer): Promise<void> => {
    await db.cachedAnswer.create({ data: { id: key, ...answer, usedAt: new Date(usedAt) }, select: { id: true } })
  },
  /** One that was used within `ttlMs` of now, on either side: clocks differ, and are set back. */
  find: async (
    { key, serverId, holder }: Pick<SharedAnswer, 'key' | 'serverId' | 'holder'>,
    now: number,
    ttlMs: number,
  ): Promise<Pick<SharedAnswer, 'about' | 'content'> | undefined> => {
    const where = { id: key, serverId, holder, usedAt: { gt: new Date(now - ttlMs), lt: new Date(now + ttlMs) } }
    return (await db.cachedAnswer.findFirst({ where, select: { about: true, content: true } })) ?? undefined
  },
  /** Begins their time to live anew, unless another process has done so later. */
  renew: async (keys: readonly string[], usedAt: number): Promise<void> => {
    const at = new Date(usedAt)
    await db.cachedAnswer.updateMany({ where: { id: { in: [...keys] }, usedAt: { lt: at } }, data: { usedAt: at } })
  },
  remove: async (keys: readonly string[]): Promise<void> => {
    await db.cachedAnswer.deleteMany({ where: { id: { in: [...keys] } } })
  },
  removeServer: (serverId: string, signal: AbortSignal): Promise<void> =>
    removeInBatches(limit => db.cachedAnswer.deleteMany({ where: { serverId }, limit }), signal, ROWS_PER_REMOVAL),
  /** What `find` finds no more, whoever asks. */
  removeExpired: (now: number, ttlMs: number, signal: AbortSignal): Promise<void> => {
    const where = { OR: [{ usedAt: { lte: new Date(now - ttlMs) } }, { usedAt: { gte: new Date(now + ttlMs) } }] }
    return removeInBatches(limit => db.cachedAnswer.deleteMany({ where, limit }), signal, ROWS_PER_REMOVAL)
  },
})

/** Each throws what is wrong with the database. */
export type SharedAnswerStore = ReturnType<typeof createStore>

/** Answers in a database that several processes share. undefined on SQLite: there one process serves, or a few on one machine. */
export const createSharedAnswerStore = (db: Database): SharedAnswerStore | undefined =>
  db.kind === 'postgresql' ? createStore(db) : undefined
