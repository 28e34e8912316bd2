import { setImmediate } from 'node:timers/promises'
import type { Database } from '../platform/db/index.ts'

/** Rows deleted by one statement: some milliseconds, for which SQLite keeps the thread that answers calls. */
const ROWS_PER_BATCH = 500

/** Deletes until a batch is not full any more; between batches others get to write, and calls to be answered. */
const removeInBatches = async (
  removeBatch: () => Promise<{ count: number }>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  while (!signal?.aborted && (await removeBatch()).count === ROWS_PER_BATCH) await setImmediate()
}

/**
 * Deletes what is kept of a server's calls, batch by batch and not in one transaction: for a server that is on its
 * way out and takes no more calls. Cut short, by `signal` or otherwise, it is simply called again.
 */
export const removeHistoryOf = async (db: Database, serverId: string, signal?: AbortSignal): Promise<void> => {
  const batch = { where: { serverId }, limit: ROWS_PER_BATCH }
  await removeInBatches(() => db.execution.deleteMany(batch), signal)
  await removeInBatches(() => db.executionGap.deleteMany(batch), signal)
}
