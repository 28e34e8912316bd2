import { addAmounts, type CallAmounts, noAmounts } from '../sums/amounts.ts'
import { percentileOf } from '../sums/durations.ts'
import type { ChartPeriod } from './chart-period.ts'

/** Sums by a key, such as the start of a bar or a tool. */
export type SumsBy<Key> = Map<Key, CallAmounts>

/** Returns the sum of a key, which starts at zero. */
export const sumAt = <Key>(sums: SumsBy<Key>, key: Key): CallAmounts => {
  const sum = sums.get(key) ?? noAmounts()
  sums.set(key, sum)
  return sum
}

/** The sums of a chart. `tools` and `callers` are undefined if they are not known for the filters. */
export type ChartSums = {
  bars: SumsBy<number>
  tools: SumsBy<string> | undefined
  callers: SumsBy<string> | undefined
  /** No calls before this time were counted, although there are some. Undefined if all were. */
  lookedUntil: Date | undefined
}

/** Percentiles in milliseconds, undefined without calls. They are estimated from a histogram. */
export type ChartFigures = Omit<CallAmounts, 'histogram'> & Record<'p50Ms' | 'p95Ms' | 'p99Ms', number | undefined>

const figuresOf = ({ histogram, ...sums }: CallAmounts): ChartFigures => ({
  ...sums,
  p50Ms: percentileOf(histogram, 0.5),
  p95Ms: percentileOf(histogram, 0.95),
  p99Ms: percentileOf(histogram, 0.99),
})

/** Maximum number of tools, and of callers, of a chart. */
export const MAX_ROWS = 20

const topOf = (sums: SumsBy<string>): (ChartFigures & { key: string })[] =>
  [...sums]
    .sort(([a, one], [b, other]) => other.calls - one.calls || a.localeCompare(b))
    .slice(0, MAX_ROWS)
    .map(([key, sum]) => ({ key, ...figuresOf(sum) }))

/** Returns the figures of a chart: in total, of every bar, and of the tools and callers with the most calls. */
export const toChart = ({ from, to, width }: ChartPeriod, { bars, tools, callers, lookedUntil }: ChartSums) => {
  const total = noAmounts()
  for (const sum of bars.values()) addAmounts(total, sum)
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
    bars: starts.map(start => ({ startsAt: new Date(start), ...figuresOf(bars.get(start) ?? noAmounts()) })),
    tools: tools && topOf(tools),
    callers: callers && topOf(callers),
  }
}
export type Chart = ReturnType<typeof toChart>
