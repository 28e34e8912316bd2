/** Compares this checkout with another one, figure by figure, and reports what became worse. */
import { show, type Table } from './report.ts'
import { type Interval, median, medianInterval } from './statistics.ts'

/** Ratio of CPU per request above which a figure counts as worse. */
const MAX_RATIO = 1.03
/** Minimum number of rounds. With fewer, neither the interval nor the spread means much. */
const MIN_ROUNDS = 5
/** Maximum spread of the reference, as a share of its median. Above it, the machine is too busy for a judgment. */
const MAX_SPREAD = 0.1

/** The same figure for both checkouts, with one value per round. */
export type Comparison = {
  title: string
  unit: string
  here: readonly number[]
  other: readonly number[]
  /** CPU per request of the floor in the same rounds. Comparisons without a reference are not judged. */
  reference?: readonly number[]
}
export type Compared = Comparison & {
  /** This checkout's value divided by the other's: the median over the rounds, and its interval. */
  ratio: number
  interval: Interval
  /** Width of the confidence interval of the reference target, as a fraction of its median. */
  spread: number | undefined
  /** Undefined for a comparison that is only printed. */
  verdict: 'worse' | 'not worse' | 'not judged' | undefined
  /** Why the comparison is not judged. */
  doubt: string | undefined
}

const spreadOf = (values: readonly number[]): number => {
  const { low, high } = medianInterval(values)
  return (high - low) / median(values)
}

/** Returns why a comparison with a reference cannot be judged, or undefined if it can. */
const findDoubt = ({ here }: Comparison, { low }: Interval, spread: number): string | undefined => {
  if (Number.isNaN(low + spread)) return 'a round failed'
  if (here.length < MIN_ROUNDS) return `it takes at least ${MIN_ROUNDS} rounds`
  return spread > MAX_SPREAD ? `the floor's spread is ${(spread * 100).toFixed(1)} %` : undefined
}

export const compare = (comparison: Comparison): Compared => {
  const { here, other, reference } = comparison
  const ratios = here.map((value, round) => value / (other[round] ?? Number.NaN))
  const interval = medianInterval(ratios)
  const printed = { ...comparison, ratio: median(ratios), interval }
  if (reference === undefined) return { ...printed, spread: undefined, verdict: undefined, doubt: undefined }
  const spread = spreadOf(reference)
  const doubt = findDoubt(comparison, interval, spread)
  if (doubt !== undefined) return { ...printed, spread, verdict: 'not judged', doubt }
  return { ...printed, spread, verdict: interval.low > MAX_RATIO ? 'worse' : 'not worse', doubt }
}

const showRatio = (ratio: number): string => (Number.isNaN(ratio) ? '-' : ratio.toFixed(3))

const showInterval = ({ low, high }: Interval): string => `${showRatio(low)} to ${showRatio(high)}`

export const toComparisonTable = (compared: readonly Compared[]): Table => ({
  title: 'This checkout compared with the other: medians, and the ratio this/other of each round',
  columns: ['', 'this', 'other', 'ratio', 'interval', 'floor spread %', ''],
  rows: compared.map(({ title, unit, here, other, ratio, interval, spread, verdict = '' }) => [
    title,
    `${show(median(here))} ${unit}`,
    `${show(median(other))} ${unit}`,
    showRatio(ratio),
    showInterval(interval),
    spread === undefined ? '' : (spread * 100).toFixed(1),
    verdict,
  ]),
})

/** Returns a line for each figure that is worse or not judged. */
export const summarizeComparison = (compared: readonly Compared[]): string[] => {
  const judged = compared.filter(({ verdict }) => verdict !== undefined)
  const lines = judged.flatMap(({ title, ratio, interval, verdict, doubt }) => {
    if (verdict === 'worse') return [`worse: ${title}: ${showRatio(ratio)} (${showInterval(interval)})`]
    return doubt === undefined ? [] : [`not judged: ${title}: ${doubt}`]
  })
  return lines.length > 0 || judged.length === 0 ? lines : ['nothing is worse']
}
