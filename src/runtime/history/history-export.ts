import type { Recorder } from '../../history/execution-record.ts'
import { exportCalls } from '../../history/export/export-calls.ts'
import type { ExportFormat, FormatCallsInput } from '../../history/export/format-calls.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import type { ExecutionFilters } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { Job } from '../../lib/worker/job.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'
import { outputOf } from './history-jobs.ts'
import { settle } from './settle-records.ts'

export type HistoryExportParts = {
  db: Database
  recorder: Pick<Recorder, 'flush'>
  target: DatabaseTarget
  formatCalls: Job<FormatCallsInput, string>
}

export const createHistoryExport = ({ db, recorder, target, formatCalls }: HistoryExportParts) => ({
  /**
   * Returns the calls of a place that the actor may see as the parts of a file. Reading stops, also within a query, when
   * the signal aborts.
   */
  exportExecutions: async (
    actor: Actor,
    place: CallPlace,
    filters: ExecutionFilters,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<string>> => {
    const scope = await callScopeOf(db, actor, place, 'read')
    await settle(recorder)
    return exportCalls(db, selectionOf(scope, filters), format, query =>
      outputOf(formatCalls.run(actor.userId, { target, query, format }, { signal })),
    )
  },
})
