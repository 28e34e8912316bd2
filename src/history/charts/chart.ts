import { emptyHistogram, type Histogram, percentileOf } from '../sums/durations.ts'
import type { ChartPeriod } from './chart-period.ts'

/** Sums of calls, with the histogram of their durations. The token sums cover only the `counted` calls. */
export type ChartSum = {
  calls: number
  rejected: number
  failed: number
  counted: number
  tokensSent: number
  tokensBefore: number
  histogram: Histogram
}

export const emptySum = (): ChartSum => ({
  ...{ calls: 0, rejected: 0, failed: 0, counted: 0, tokensSent: 0, tokensBefore: 0 },
  histogram: emptyHistogram(),
})

const addToSum = (sum: ChartSum, added: ChartSum): void => {
  sum.calls += added.calls
  sum.rejected += added.rejected
  sum.failed += added.failed
  sum.counted += added.counted
  sum.tokensSent += added.tokensSent
  sum.tokensBefore += added.tokensBefore
  added.histogram.forEach((calls, bucket) => {
    sum.histogram[bucket] = (sum.histogram[bucket] ?? 0) + calls
  })
}

/** Sums by a key, such as the start of a bar or a tool. */
export type SumsBy<Key> = Map<Key, ChartSum>

export const addToKey = <Key>(sums: SumsBy<Key>, key: Key, added: ChartSum): void => {
  const sum = sums.get(key) ?? emptySum()
  sums.set(key, sum)
  addToSum(sum, added)
}

/** What a chart is made of. `tools` and `callers` are undefined if they are not known for the filters. */
export type ChartSums = {
  bars: SumsBy<number>
  tools: SumsBy<string> | undefined
  callers: SumsBy<string> | undefined
  /** No calls before this time were counted, although there are some. Undefined if all were. */
  lookedUntil: Date | undefined
}

/** Percentiles in milliseconds, undefined without calls. They are estimated from a histogram. */
export type ChartFigures = Omit<ChartSum, 'histogram'> & Record<'p50Ms' | 'p95Ms' | 'p99Ms', number | undefined>

const figuresOf = ({ histogram, ...sums }: ChartSum): ChartFigures => ({
  ...sums,
  p50Ms: percentileOf(histogram, 0.5),
  p95Ms: percentileOf(histogram, 0.95),
  p99Ms: percentileOf(histogram, 0.99),
})

/** Most tools and callers of a chart. */
const MAX_ROWS = 20

const topOf = (sums: SumsBy<string>): (ChartFigures & { key: string })[] =>
  [...sums]
    .sort(([a, one], [b, other]) => other.calls - one.calls || a.localeCompare(b))
    .slice(0, MAX_ROWS)
    .map(([key, sum]) => ({ key, ...figuresOf(sum) }))

/** Returns the figures of a chart: in total, of every bar, and of the tools and callers with the most calls. */
export const toChart = ({ from, to, width }: ChartPeriod, { bars, tools, callers, lookedUntil }: ChartSums) => {
  const total = emptySum()
  for (const sum of bars.values()) addToSum(total, sum)
  const starts = Array.from(
    { length: (to.getTime() - from.getTime()) / width },
    (_, bar) => from.getTime() + bar * width,
  )
  return {
    from,
    to,
    barSeconds: width / 1_000,
    lookedUntil,
    total: figuresOf(total),
    bars: starts.map(start => ({ startsAt: new Date(start), ...figuresOf(bars.get(start) ?? emptySum()) })),
    tools: tools && topOf(tools),
    callers: callers && topOf(callers),
  }
}
export type Chart = ReturnType<typeof toChart>
