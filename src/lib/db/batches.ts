import { setImmediate } from 'node:timers/promises'

/** Rows per DELETE statement. Blocks other writes for only a few milliseconds. */
const ROWS_PER_BATCH = 500

/**
 * Deletes rows in batches until a batch is not full or `signal` aborts. `removeBatch` deletes at most `limit` rows and
 * returns how many it deleted. Yields between batches so that other writes can proceed, and, because SQLite runs on
 * this thread, other calls too.
 */
export const removeInBatches = async (
  removeBatch: (limit: number) => Promise<{ count: number }>,
  signal: AbortSignal | undefined,
  rowsPerBatch = ROWS_PER_BATCH,
): Promise<void> => {
  while (!signal?.aborted && (await removeBatch(rowsPerBatch)).count === rowsPerBatch) await setImmediate()
}
