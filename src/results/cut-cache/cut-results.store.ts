import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database } from '../../lib/db/client.ts'

/** Rows deleted per statement. Each may be several megabytes. */
const ROWS_PER_REMOVAL = 100

/** A cut result in the database. `content` is compressed; `usedAt` is in milliseconds since 1970. */
export type CutResultRow = {
  key: string
  serverId: string
  holder: string
  about: string
  content: Uint8Array<ArrayBuffer>
  usedAt: number
}

const createStore = (db: Database) => ({
  put: async ({ key, usedAt, ...row }: CutResultRow): Promise<void> => {
    await db.cachedAnswer.create({ data: { id: key, ...row, usedAt: new Date(usedAt) }, select: { id: true } })
  },
  /** Finds a row used less than `ttlMs` before or after now, because the clocks of replicas differ. */
  find: async (
    { key, serverId, holder }: Pick<CutResultRow, 'key' | 'serverId' | 'holder'>,
    now: number,
    ttlMs: number,
  ): Promise<Pick<CutResultRow, 'about' | 'content'> | undefined> => {
    const where = { id: key, serverId, holder, usedAt: { gt: new Date(now - ttlMs), lt: new Date(now + ttlMs) } }
    return (await db.cachedAnswer.findFirst({ where, select: { about: true, content: true } })) ?? undefined
  },
  /** Restarts the time to live of a row, unless another replica has done so at a later time. */
  renew: async (key: string, usedAt: number): Promise<void> => {
    const at = new Date(usedAt)
    await db.cachedAnswer.updateMany({ where: { id: key, usedAt: { lt: at } }, data: { usedAt: at } })
  },
  remove: async (key: string): Promise<void> => {
    await db.cachedAnswer.deleteMany({ where: { id: key } })
  },
  /** Deletes expired rows. */
  removeExpired: (now: number, ttlMs: number, signal: AbortSignal): Promise<void> => {
    const where = { OR: [{ usedAt: { lte: new Date(now - ttlMs) } }, { usedAt: { gte: new Date(now + ttlMs) } }] }
    return removeInBatches(limit => db.cachedAnswer.deleteMany({ where, limit }), signal, ROWS_PER_REMOVAL)
  },
})

/** Every method throws database errors. Rows are deleted together with their server. */
export type CutResultStore = ReturnType<typeof createStore>

/** Creates the store. Returns undefined on SQLite, where results stay in the memory of their process. */
export const createCutResultStore = (db: Database): CutResultStore | undefined =>
  db.kind === 'postgresql' ? createStore(db) : undefined
