import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import type { Recorder } from '../../history/execution-record.ts'
import { exportCalls } from '../../history/export/export-calls.ts'
import type { ExportFormat, FormatCallsInput } from '../../history/export/format-calls.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import type { ExecutionFilters } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
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

/** Exports of a user at the same time. Each holds a few megabytes as long as its reader is slow. */
const MAX_PER_USER = 4

/** Creates a function that limits how many files a user reads at the same time. */
const createPlaces = () => {
  const open = new Map<string, number>()
  /** Yields the parts. Throws `rate_limited` before the first one if the user is reading too many files. */
  return async function* (userId: string, parts: AsyncGenerator<string>): AsyncGenerator<string> {
    const others = open.get(userId) ?? 0
    if (others >= MAX_PER_USER) {
      throw new AppError('rate_limited', `You are downloading ${MAX_PER_USER} files already. Wait for one to end.`)
    }
    open.set(userId, others + 1)
    try {
      yield* parts
    } finally {
      const left = (open.get(userId) ?? 1) - 1
      if (left > 0) open.set(userId, left)
      else open.delete(userId)
    }
  }
}

export const createHistoryExport = ({ db, sealing, recorder, target, formatCalls }: HistoryExportParts) => {
  const inPlace = createPlaces()
  return {
    /**
     * Returns the calls of a place that the actor may see as the parts of a file. Reading stops, also within a query, when
     * the signal aborts. Before the first part, reading throws `rate_limited` if the actor is reading too many files.
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
      const parts = exportCalls(db, selectionOf(scope, filters, createBodyOpener(sealing)), format, query =>
        outputOf(formatCalls.run(actor.userId, { target, query, format }, { signal })),
      )
      return inPlace(actor.userId, parts)
    },
  }
}
