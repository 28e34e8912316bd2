import type { Database } from '../../lib/db/client.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { type AuditFilter, listAuditEntries, removeAuditEntriesBefore } from './audit.store.ts'
import type { AuditEntry, AuditScope } from './audit-entry.ts'

/** Entries per batch of an export. An export to a slow reader holds at most two batches in memory. */
const EXPORT_BATCH = 500

export type AuditLogParts = {
  db: Database
  /** Retention in days; 0 keeps entries forever. */
  keptDays: number
  now?: () => number
}

/** Reads audit entries, newest first, and removes expired ones. */
export const createAuditLog = ({ db, keptDays, now = Date.now }: AuditLogParts) => ({
  /** Returns one entry beyond the page's limit if there are more. */
  list: (scope: AuditScope, filter: AuditFilter, { limit, afterId }: IdPage): Promise<AuditEntry[]> =>
    listAuditEntries(db, scope, filter, { take: limit + 1, afterId }),

  /**
   * Yields all matching entries in batches. Reads each batch on demand because the log can be of any length. Entries
   * written during the export are newer than the first batch, so no entry is returned twice.
   */
  async *readAll(scope: AuditScope, filter: AuditFilter): AsyncGenerator<readonly AuditEntry[]> {
    for (let afterId: string | undefined; ; ) {
      const batch = await listAuditEntries(db, scope, filter, { take: EXPORT_BATCH, afterId })
      if (batch.length > 0) yield batch
      if (batch.length < EXPORT_BATCH) return
      afterId = batch.at(-1)?.id
    }
  },

  /** Removes entries older than the retention period. Several processes can do this concurrently. */
  removeOld: async (signal: AbortSignal): Promise<void> => {
    if (keptDays > 0) await removeAuditEntriesBefore(db, new Date(now() - keptDays * DAY_MS), signal)
  },
})
export type AuditLog = ReturnType<typeof createAuditLog>
