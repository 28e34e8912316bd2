import { removeInBatches } from '../lib/db/batches.ts'
import type { Database } from '../lib/db/client.ts'

/**
 * Deletes the history of a server in batches, without a transaction, for a server that is being removed. If
 * interrupted, it can be called again.
 */
export const removeHistoryOf = async (db: Database, serverId: string, signal?: AbortSignal): Promise<void> => {
  const where = { serverId }
  await removeInBatches(limit => db.execution.deleteMany({ where, limit }), signal)
  await removeInBatches(limit => db.executionGap.deleteMany({ where, limit }), signal)
  await removeInBatches(limit => db.toolDay.deleteMany({ where, limit }), signal)
}
