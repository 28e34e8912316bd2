import { join, raw, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import { type RawQuery, toRawQuery } from '../../lib/db/raw-reader.ts'
import { addAmounts, type CallAmounts } from '../sums/amounts.ts'
import type { SummedBy } from '../sums/call-sums.ts'
import { DURATION_COLUMNS } from '../sums/durations.ts'
import { type ChartSums, MAX_ROWS, type SumsBy, sumAt } from './chart.ts'
import { barOf, type ChartPeriod, type Stretch, stretchesOf } from './chart-period.ts'
import { conditionOf, type SumSelection } from './summed-filters.ts'

/** Runs a query in a thread, because SQLite blocks the thread that it runs in. */
export type ReadRows = (query: RawQuery) => Promise<readonly object[]>

const COLUMNS = ['calls', 'rejected', 'failed', 'counted', 'tokensSent', 'tokensBefore', ...DURATION_COLUMNS]
const SUMS = raw(COLUMNS.map(name => `SUM("${name}") AS "${name}"`).join(', '))
const AMOUNTS = raw(COLUMNS.map(name => `"${name}"`).join(', '))

// PostgreSQL's driver returns large sums as text.
const count = z.coerce.number()
const SumRow = z.object({
  calls: count,
  rejected: count,
  failed: count,
  counted: count,
  tokensSent: count,
  tokensBefore: count,
})
const BarRow = z.looseObject({ startsAt: z.coerce.date() })
const ValueRow = z.looseObject({ value: z.string() })

const toSum = (row: object): CallAmounts => {
  const { calls, rejected, failed, counted, tokensSent, tokensBefore } = SumRow.parse(row)
  const buckets = new Map(Object.entries(row))
  return {
    ...{ calls, rejected, failed, counted, tokensSent, tokensBefore },
    histogram: DURATION_COLUMNS.map(name => count.parse(buckets.get(name))),
  }
}

const during = ({ seconds, from, to }: Stretch): Sql =>
  sql`"seconds" = ${seconds} AND "startsAt" >= ${from} AND "startsAt" < ${to}`

const readBars = async (read: ReadRows, selections: readonly SumSelection[], period: ChartPeriod) => {
  const bars: SumsBy<number> = new Map()
  for (const selection of selections) {
    const rows = await read(
      toRawQuery(sql`
        SELECT "startsAt", ${SUMS} FROM "CallSum" WHERE ${conditionOf(selection)} AND ${during(period)}
        GROUP BY "startsAt"`),
    )
    for (const row of rows) {
      addAmounts(sumAt(bars, barOf(period, BarRow.parse(row).startsAt.getTime())), toSum(row))
    }
  }
  return bars
}

/** Reads the sums of the values with the most calls. */
const readValues = async (read: ReadRows, selections: readonly SumSelection[], period: ChartPeriod) => {
  const values: SumsBy<string> = new Map()
  const stretches = stretchesOf(period)
  for (const selection of selections) {
    const parts = stretches.map(
      stretch => sql`SELECT "value", ${AMOUNTS} FROM "CallSum" WHERE ${conditionOf(selection)} AND ${during(stretch)}`,
    )
    const rows = await read(
      toRawQuery(sql`
        SELECT "value", ${SUMS} FROM (${join(parts, ' UNION ALL ')}) AS "part"
        GROUP BY "value" ORDER BY SUM("calls") DESC, "value" LIMIT ${MAX_ROWS}`),
    )
    for (const row of rows) addAmounts(sumAt(values, ValueRow.parse(row).value), toSum(row))
  }
  return values
}

/** Returns the selections that list all calls by tool or by caller, or undefined if the sums do not have them. */
const tableOf = (selections: readonly SumSelection[], by: SummedBy): SumSelection[] | undefined => {
  const isKnown = selections.every(one => one.by === by || (one.by === 'result' && one.values === undefined))
  return isKnown ? selections.map(one => (one.by === by ? one : { ...one, by })) : undefined
}

/** Reads a chart from the sums of calls. */
export const chartFromSums = async (
  read: ReadRows,
  selections: readonly SumSelection[],
  period: ChartPeriod,
): Promise<ChartSums> => {
  const [tools, callers] = [tableOf(selections, 'tool'), tableOf(selections, 'caller')]
  return {
    bars: await readBars(read, selections, period),
    tools: tools && (await readValues(read, tools, period)),
    callers: callers && (await readValues(read, callers, period)),
    lookedUntil: undefined,
  }
}
