import { setImmediate } from 'node:timers/promises'

/** Rows per DELETE statement: blocks other writes for a few milliseconds only. */
const ROWS_PER_BATCH = 500

/**
 * Deletes in batches until one is not full or `signal` aborts. Yields between batches so that other writes, and on
 * SQLite other calls, can proceed. `removeBatch` deletes at most `limit` rows and returns how many it deleted.
 */
export const removeInBatches = async (
  removeBatch: (limit: number) => Promise<{ count: number }>,
  signal: AbortSignal | undefined,
  rowsPerBatch = ROWS_PER_BATCH,
): Promise<void> => {
  while (!signal?.aborted && (await removeBatch(rowsPerBatch)).count === rowsPerBatch) await setImmediate()
}
