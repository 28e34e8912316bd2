import { createThreadReader, type RawQuery } from '../../lib/db/raw-reader.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import type { CallResult } from '../call-result.ts'
import { addOneCall, addTokensOf, type CallAmounts, problemOf, storedTokens } from '../sums/amounts.ts'
import { type SumsBy, sumAt } from './chart.ts'
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
  result: CallResult | null
  status: number | null
  tokensBefore: number | null
  tokensSent: number | null
}

export type SumCallsInput = { target: DatabaseTarget; query: RawQuery; period: ChartPeriod }
export type CallsSummed = { bars: SumsBy<number>; tools: SumsBy<string>; callers: SumsBy<string> }

const addCall = (sum: CallAmounts, row: CallRow): void => {
  addOneCall(sum, row.durationMs, problemOf(row))
  const tokens = storedTokens(row)
  if (tokens !== undefined) addTokensOf(sum, tokens)
}

/** Creates the job that adds up the calls of a query, in a thread. */
export const createCallSumming = () => {
  const read = createThreadReader()
  return async ({ target, query, period }: SumCallsInput): Promise<CallsSummed> => {
    const summed: CallsSummed = { bars: new Map(), tools: new Map(), callers: new Map() }
    for (const row of await read<CallRow>(target, query)) {
      addCall(sumAt(summed.bars, barOf(period, new Date(row.startedAt).getTime())), row)
      if (row.tool !== '') addCall(sumAt(summed.tools, row.tool), row)
      if (row.userId !== null) addCall(sumAt(summed.callers, row.userId), row)
    }
    return summed
  }
}

/** Creates the job that returns the rows of a query, in a thread. */
export const createRowReading = () => {
  const read = createThreadReader()
  return ({ target, query }: { target: DatabaseTarget; query: RawQuery }): Promise<object[]> => read(target, query)
}
