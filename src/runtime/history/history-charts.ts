import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import { type Chart, type ChartSums, toChart } from '../../history/charts/chart.ts'
import { chartFromCalls } from '../../history/charts/chart-from-calls.ts'
import { chartFromSums } from '../../history/charts/chart-from-sums.ts'
import { type ChartPeriod, chartPeriodOf } from '../../history/charts/chart-period.ts'
import type { CallsSummed, SumCallsInput } from '../../history/charts/sum-calls.ts'
import { sumsFor } from '../../history/charts/summed-filters.ts'
import type { Recorder } from '../../history/execution-record.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import type { CallScope, ExecutionFilters } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import type { RawQuery } from '../../lib/db/raw-reader.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { Job } from '../../lib/worker/job.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'
import { outputOf } from './history-jobs.ts'
import { settle } from './settle-records.ts'

export type HistoryChartParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  recorder: Pick<Recorder, 'flush'>
  target: DatabaseTarget
  readSums: Job<{ target: DatabaseTarget; query: RawQuery }, object[]>
  sumCalls: Job<SumCallsInput, CallsSummed>
}

/** Creates charts of the calls in a place, from their sums where these are enough. */
export const createHistoryCharts = ({ db, sealing, recorder, target, readSums, sumCalls }: HistoryChartParts) => {
  const readChart = (
    actor: Actor,
    scope: CallScope,
    filters: ExecutionFilters,
    period: ChartPeriod,
    signal: AbortSignal | undefined,
  ): Promise<ChartSums> => {
    const selections = sumsFor(scope, filters)
    if (selections !== undefined) {
      const read = (query: RawQuery) => outputOf(readSums.run(actor.userId, { target, query }, { signal }))
      return chartFromSums(read, selections, period)
    }
    const sum = (query: RawQuery) => outputOf(sumCalls.run(actor.userId, { target, query, period }, { signal }))
    const within = { ...filters, from: period.from, to: period.to }
    return chartFromCalls(db, sum, selectionOf(scope, within, createBodyOpener(sealing)), signal)
  }

  return {
    /** Returns a chart of the calls that the actor may see. Without a range, it covers the last 24 hours. */
    chartExecutions: async (
      actor: Actor,
      place: CallPlace,
      filters: ExecutionFilters,
      signal?: AbortSignal,
    ): Promise<Chart> => {
      const scope = await callScopeOf(db, actor, place, 'read')
      await settle(recorder)
      const period = chartPeriodOf(filters, new Date())
      return toChart(period, await readChart(actor, scope, filters, period, signal))
    },
  }
}
