import { createThreadReader, type RawQuery } from '../../lib/db/raw-reader.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import { resultOfErrorStatus } from '../call-result.ts'
import { bucketOf } from '../sums/durations.ts'
import { type ChartSum, emptySum, type SumsBy } from './chart.ts'
import { barOf, type ChartPeriod } from './chart-period.ts'

/** The columns that `sumCalls` reads. */
export const SUMMED_COLUMNS = [
  'startedAt',
  'tool',
  'userId',
  'durationMs',
  'outcome',
  'result',
  'status',
  'tokensBefore',
  'tokensSent',
] as const

type CallRow = {
  startedAt: Date | string
  tool: string
  userId: string | null
  durationMs: number
  outcome: string
  result: string | null
  status: number | null
  tokensBefore: number | null
  tokensSent: number | null
}

export type SumCallsInput = { target: DatabaseTarget; query: RawQuery; period: ChartPeriod }
export type CallsSummed = { bars: SumsBy<number>; tools: SumsBy<string>; callers: SumsBy<string> }

const find = <Key>(sums: SumsBy<Key>, key: Key): ChartSum => {
  const sum = sums.get(key) ?? emptySum()
  sums.set(key, sum)
  return sum
}

const isFailure = ({ result, status }: CallRow): boolean => {
  const ended = result ?? resultOfErrorStatus(status ?? undefined)
  return ended === 'failed' || ended === 'timeout'
}

const addCall = (sum: ChartSum, row: CallRow): void => {
  sum.calls++
  if (row.outcome === 'error') sum[isFailure(row) ? 'failed' : 'rejected']++
  if (row.tokensSent !== null) {
    sum.counted++
    sum.tokensSent += row.tokensSent
    sum.tokensBefore += row.tokensBefore ?? row.tokensSent
  }
  const bucket = bucketOf(row.durationMs)
  sum.histogram[bucket] = (sum.histogram[bucket] ?? 0) + 1
}

/** Creates the job that adds up the calls of a query, in a thread. */
export const createCallSumming = () => {
  const read = createThreadReader()
  return async ({ target, query, period }: SumCallsInput): Promise<CallsSummed> => {
    const summed: CallsSummed = { bars: new Map(), tools: new Map(), callers: new Map() }
    for (const row of await read<CallRow>(target, query)) {
      addCall(find(summed.bars, barOf(period, new Date(row.startedAt).getTime())), row)
      if (row.tool !== '') addCall(find(summed.tools, row.tool), row)
      if (row.userId !== null) addCall(find(summed.callers, row.userId), row)
    }
    return summed
  }
}

/** Creates the job that returns the rows of a query, in a thread. */
export const createRowReading = () => {
  const read = createThreadReader()
  return ({ target, query }: { target: DatabaseTarget; query: RawQuery }): Promise<object[]> => read(target, query)
}
