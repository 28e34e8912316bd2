import { removeInBatches } from '../lib/db/batches.ts'
import type { Database } from '../lib/db/client.ts'

/**
 * Deletes what is kept of a server's calls, batch by batch and not in one transaction: for a server that is on its
 * way out and takes no more calls. Cut short, by `signal` or otherwise, it is simply called again.
 */
export const removeHistoryOf = async (db: Database, serverId: string, signal?: AbortSignal): Promise<void> => {
  const where = { serverId }
  await removeInBatches(limit => db.execution.deleteMany({ where, limit }), signal)
  await removeInBatches(limit => db.executionGap.deleteMany({ where, limit }), signal)
  await removeInBatches(limit => db.toolDay.deleteMany({ where, limit }), signal)
}
