import type { Database } from '../db/index.ts'
import type { IdPage } from '../http/index.ts'
import { type AuditFilter, listAuditEntries, removeAuditEntriesBefore } from './audit.store.ts'
import type { AuditEntry, AuditScope } from './audit-entry.ts'

/** Entries read at once by an export: what a slow reader keeps in memory, twice at most. */
const EXPORT_BATCH = 500
const DAY_MS = 24 * 60 * 60 * 1_000

export type AuditLogParts = {
  db: Database
  /** How long entries are kept; 0: for ever. */
  keptDays: number
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Reads what `writeAudit` wrote, newest first, and removes what is kept for long enough. */
export const createAuditLog = ({ db, keptDays, now = Date.now }: AuditLogParts) => ({
  /** One more than the page's limit, where there are more. */
  list: (scope: AuditScope, filter: AuditFilter, { limit, afterId }: IdPage): Promise<AuditEntry[]> =>
    listAuditEntries(db, scope, filter, { take: limit + 1, afterId }),

  /**
   * All that match, in batches, each read when it is asked for: the log may be of any length. What is written meanwhile
   * is newer than the first batch, so no entry comes twice.
   */
  async *readAll(scope: AuditScope, filter: AuditFilter): AsyncGenerator<readonly AuditEntry[]> {
    for (let afterId: string | undefined; ; ) {
      const batch = await listAuditEntries(db, scope, filter, { take: EXPORT_BATCH, afterId })
      if (batch.length > 0) yield batch
      if (batch.length < EXPORT_BATCH) return
      afterId = batch.at(-1)?.id
    }
  },

  /** Removes what is older than it is kept. Several processes that do it at once only share the work. */
  removeOld: async (signal: AbortSignal): Promise<void> => {
    if (keptDays > 0) await removeAuditEntriesBefore(db, new Date(now() - keptDays * DAY_MS), signal)
  },
})
export type AuditLog = ReturnType<typeof createAuditLog>
