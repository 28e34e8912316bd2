import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import type { Recorder } from '../../history/execution-record.ts'
import { exportCalls } from '../../history/export/export-calls.ts'
import type { ExportFormat, FormatCallsInput } from '../../history/export/format-calls.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import type { ExecutionFilters } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { Job } from '../../lib/worker/job.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'
import { outputOf } from './history-jobs.ts'
import { settle } from './settle-records.ts'

export type HistoryExportParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  recorder: Pick<Recorder, 'flush'>
  target: DatabaseTarget
  formatCalls: Job<FormatCallsInput, string>
}

export const createHistoryExport = ({ db, sealing, recorder, target, formatCalls }: HistoryExportParts) => ({
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
    return exportCalls(db, selectionOf(scope, filters, createBodyOpener(sealing)), format, query =>
      outputOf(formatCalls.run(actor.userId, { target, query, format }, { signal })),
    )
  },
})
