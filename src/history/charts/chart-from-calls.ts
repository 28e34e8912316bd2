import { raw, sqltag as sql } from '@prisma/client/runtime/client'
import type { Database } from '../../lib/db/client.ts'
import { type RawQuery, toRawQuery } from '../../lib/db/raw-reader.ts'
import { type CallRange, rangesOf, within } from '../query/call-ranges.ts'
import { findText } from '../query/call-text.ts'
import { among, type Selection } from '../query/conditions.ts'
import { addAmounts } from '../sums/amounts.ts'
import { type ChartSums, type SumsBy, sumAt } from './chart.ts'
import { type CallsSummed, SUMMED_COLUMNS } from './sum-calls.ts'

/** Limits of a chart: the calls that it reads, and how long it takes. */
const MAX_CALLS = 200_000
const MAX_MS = 5_000
/** Calls per query: few at first, so that a chart of few calls comes at once. */
const FIRST_CALLS = 2_000
const MOST_CALLS = 10_000
const CALLS_WITH_TEXT = 500

/** Adds up the calls of a query, in a thread. */
export type SumCalls = (query: RawQuery) => Promise<CallsSummed>

const COLUMNS = raw(SUMMED_COLUMNS.map(name => `"${name}"`).join(', '))

const queryOf = async (db: Database, selection: Selection, range: CallRange): Promise<RawQuery> => {
  const { q } = selection
  if (q === undefined) return toRawQuery(sql`SELECT ${COLUMNS} FROM "Execution" WHERE ${within(selection, range)}`)
  const ids = (await findText(db, selection, range, q)).map(({ id }) => id)
  return toRawQuery(sql`SELECT ${COLUMNS} FROM "Execution" WHERE ${among(sql`"id"`, ids)}`)
}

const addAll = <Key>(sums: SumsBy<Key>, added: SumsBy<Key>): void => {
  for (const [key, sum] of added) addAmounts(sumAt(sums, key), sum)
}

/** Reads a chart from the calls themselves, newest first, and says how far it got. */
export const chartFromCalls = async (
  db: Database,
  sumCalls: SumCalls,
  selection: Selection,
  signal?: AbortSignal,
): Promise<ChartSums> => {
  const deadline = performance.now() + MAX_MS
  const bars: SumsBy<number> = new Map()
  const tools: SumsBy<string> = new Map()
  const callers: SumsBy<string> = new Map()
  let looked = 0
  const sizeOf = (index: number): number =>
    Math.min(
      MAX_CALLS - looked,
      selection.q === undefined ? Math.min(MOST_CALLS, FIRST_CALLS * 2 ** index) : CALLS_WITH_TEXT,
    )
  for await (const range of rangesOf(db, selection, undefined, sizeOf)) {
    const summed = await sumCalls(await queryOf(db, selection, range))
    addAll(bars, summed.bars)
    addAll(tools, summed.tools)
    addAll(callers, summed.callers)
    looked += range.rows
    if (looked >= MAX_CALLS || performance.now() > deadline || signal?.aborted === true) {
      return { bars, tools, callers, lookedUntil: range.until?.startedAt }
    }
  }
  return { bars, tools, callers, lookedUntil: undefined }
}
