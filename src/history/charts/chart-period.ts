import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import { DAY, HOUR, KEPT_MS, MINUTE, type Period } from '../sums/call-sums.ts'

/** The time that a chart covers without a filter. */
const DEFAULT_MS = DAY_MS
/** The longest times with a bar for a minute, and for an hour. They bound the sums that are read. */
const MOST_MINUTES_MS = 6 * HOUR_MS
const MOST_HOURS_MS = 10 * DAY_MS
/** Maximum number of bars of a chart. */
const MAX_BARS = 120
/** Numbers of minutes, hours or days that one bar may stand for. */
const MINUTES = [1, 5, 15]
const HOURS = [1, 3, 6]
const DAYS = [1, 7, 28]

/** A time range, `to` exclusive. Both ends are at the start of a period of this length in seconds. */
export type Stretch = { seconds: Period; from: Date; to: Date }

/** The time that a chart covers. `width` is the length of a bar in milliseconds, and a multiple of the period. */
export type ChartPeriod = Stretch & { width: number }

const floorTo = (time: number, width: number): number => Math.floor(time / width) * width
const ceilTo = (time: number, width: number): number => Math.ceil(time / width) * width

/** Returns the length of the periods to read, and of the bars. */
const periodFor = (from: number, length: number, now: number): { seconds: Period; widths: number[] } => {
  // A minute of tolerance, because the oldest sums may be removed at any time.
  const hasMinutes = from >= now - KEPT_MS[MINUTE] + MINUTE_MS
  if (length <= MOST_MINUTES_MS && hasMinutes) return { seconds: MINUTE, widths: MINUTES.map(n => n * MINUTE_MS) }
  if (length <= MOST_HOURS_MS) return { seconds: HOUR, widths: HOURS.map(n => n * HOUR_MS) }
  return { seconds: DAY, widths: DAYS.map(n => n * DAY_MS) }
}

/** The time before which nothing is stored. */
const EARLIEST = Date.UTC(2020, 0)

/** Returns the time that a chart of a range covers: at least the range, in bars of the same length. */
export const chartPeriodOf = (given: { from?: Date | undefined; to?: Date | undefined }, now: Date): ChartPeriod => {
  const to = Math.min(given.to?.getTime() ?? now.getTime(), now.getTime() + HOUR_MS)
  const from = Math.min(to, Math.max(given.from?.getTime() ?? to - DEFAULT_MS, EARLIEST))
  const { seconds, widths } = periodFor(from, to - from, now.getTime())
  const width = widths.find(one => (to - from) / one <= MAX_BARS) ?? Math.max(...widths)
  const start = floorTo(from, width)
  return { seconds, width, from: new Date(start), to: new Date(Math.max(start + width, ceilTo(to, width))) }
}

/** Splits a time range into stretches with the longest periods: days, with hours and minutes at both ends. */
export const stretchesOf = ({ seconds, from, to }: Stretch): Stretch[] => {
  const longer = seconds === MINUTE ? HOUR : seconds === HOUR ? DAY : undefined
  if (longer === undefined) return from < to ? [{ seconds, from, to }] : []
  const inner = {
    seconds: longer,
    from: new Date(ceilTo(from.getTime(), longer * 1_000)),
    to: new Date(floorTo(to.getTime(), longer * 1_000)),
  } as const
  if (inner.from >= inner.to) return [{ seconds, from, to }]
  return [
    ...(from < inner.from ? [{ seconds, from, to: inner.from }] : []),
    ...stretchesOf(inner),
    ...(inner.to < to ? [{ seconds, from: inner.to, to }] : []),
  ]
}

/** Returns the start of the bar with this time, in milliseconds. */
export const barOf = ({ from, width }: ChartPeriod, time: number): number =>
  from.getTime() + floorTo(time - from.getTime(), width)
