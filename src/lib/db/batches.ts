import { setImmediate } from 'node:timers/promises'

/** Rows deleted by one statement: a few milliseconds, for which nothing else is written. */
const ROWS_PER_BATCH = 500

/**
 * Deletes until a batch is not full any more, or `signal` says to stop; between batches others get to write, and on
 * SQLite calls to be answered. `removeBatch` deletes at most `limit` rows and says how many those were.
 */
export const removeInBatches = async (
  removeBatch: (limit: number) => Promise<{ count: number }>,
  signal: AbortSignal | undefined,
  rowsPerBatch = ROWS_PER_BATCH,
): Promise<void> => {
  while (!signal?.aborted && (await removeBatch(rowsPerBatch)).count === rowsPerBatch) await setImmediate()
}
