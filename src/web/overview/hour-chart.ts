const WIDTH = 960
/** Left edge of the plot. The axis labels are to the left of it. */
const LEFT = 56
const FLOOR = 166
const TOP = 18
const VIEW_BOX = `0 -8 ${WIDTH} 200`
/** Fraction of an hour's width taken up by its bar. The rest is a gap. */
const BAR_SHARE = 0.8
/** Number of labels below the axis. */
const LABELS = 6

const place = (value: number): string => value.toFixed(1)

/** Returns the smallest step from the series 1, 2, 5, 10, 20, … for which three steps reach `most`. */
const stepFor = (most: number): number => {
  const rough = Math.max(most, 1) / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find(candidate => candidate * power >= rough) ?? 10
  return Math.max(1, factor * power)
}

/** An hour as text in UTC, and in ISO 8601 so that a script can show it in the reader's time zone. */
export type ShownHour = { at: string; text: string }

export const shownHour = (startsAt: Date): ShownHour => ({
  at: startsAt.toISOString(),
  text: startsAt.toISOString().slice(11, 16),
})

type Words = {
  /** Text alternative. `busiest` follows it with the hour that has the most calls. */
  label: string
  busiest?: { hour: ShownHour; calls: string } | undefined
  caption: string
  toText: (value: number) => string
  /** Whether labels below the axis are days instead of times of day. */
  areDays?: boolean
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

const labelOf = (startsAt: Date, areDays = false) => ({
  ...shownHour(startsAt),
  ...(areDays && { text: DAY.format(startsAt) }),
  isDay: areDays,
})

/** Returns the axes of a chart over time, and the functions that map values to coordinates. */
const frameFor = (startsAt: readonly Date[], most: number, { label, busiest, caption, toText, areDays }: Words) => {
  const step = stepFor(most)
  const every = Math.max(1, Math.ceil(startsAt.length / LABELS))
  const slot = (WIDTH - LEFT) / startsAt.length
  const xOf = (index: number): number => LEFT + slot * index
  const yOf = (value: number): number => FLOOR - (value / (step * 3)) * (FLOOR - TOP)
  const axes = {
    viewBox: VIEW_BOX,
    label,
    busiest,
    /** What the axis measures. */
    caption,
    left: LEFT,
    right: WIDTH,
    ticks: [0, 1, 2, 3].map(index => ({ y: place(yOf(index * step)), text: toText(index * step) })),
    hours: startsAt.flatMap((date, index) =>
      index % every === 0 ? [{ x: place(xOf(index + 0.5)), ...labelOf(date, areDays) }] : [],
    ),
  }
  return { slot, xOf, yOf, axes }
}
type Frame = ReturnType<typeof frameFor>

type BarKind = 'ok' | 'rejected' | 'failed'

/** Data for `views/parts/hour-chart.eta`: labeled axes, and bars or lines by hour or another period. */
export type HourChart = Frame['axes'] & {
  bars: readonly { kind: BarKind; x: string; y: string; width: string; height: string }[]
  lines: readonly { kind: 'usual' | 'slow' | 'slowest'; path: string }[]
}

/** Builds a bar chart of the calls per hour, with rejected calls above the successful ones and failed calls on top. */
export const toCallChart = (
  hours: readonly { startsAt: Date; calls: number; rejected: number; failed: number }[],
  words: Words,
): HourChart => {
  const most = Math.max(...hours.map(({ calls }) => calls), 0)
  const startsAt = hours.map(hour => hour.startsAt)
  const { slot, xOf, yOf, axes } = frameFor(startsAt, most, words)
  const bar = (kind: BarKind, index: number, from: number, to: number) => ({
    kind,
    x: place(xOf(index + (1 - BAR_SHARE) / 2)),
    y: place(yOf(to)),
    width: place(slot * BAR_SHARE),
    height: place(yOf(from) - yOf(to)),
  })
  const bars = hours.flatMap(({ calls, rejected, failed }, index) => {
    const [good, answered] = [calls - rejected - failed, calls - failed]
    return [
      ...(good > 0 ? [bar('ok', index, 0, good)] : []),
      ...(rejected > 0 ? [bar('rejected', index, good, answered)] : []),
      ...(failed > 0 ? [bar('failed', index, answered, calls)] : []),
    ]
  })
  return { ...axes, bars, lines: [] }
}

/** Returns a line with gaps for hours without a value. An isolated hour becomes a short stroke. */
const lineOf = (values: readonly (number | undefined)[], { xOf, yOf }: Frame): string =>
  values
    .flatMap((value, index) => {
      if (value === undefined) return []
      const isJoined = values[index - 1] !== undefined
      const x = xOf(index + 0.5)
      return isJoined ? [`L${place(x)} ${place(yOf(value))}`] : [`M${place(x - 3)} ${place(yOf(value))}h6`]
    })
    .join('')

/** Builds a line chart of call durations per hour: the median, the 99th percentile and, if given, the 95th. */
export const toDurationChart = (
  hours: readonly {
    startsAt: Date
    p50Ms?: number | undefined
    p95Ms?: number | undefined
    p99Ms?: number | undefined
  }[],
  words: Words,
): HourChart => {
  const [usual, slowest] = [hours.map(({ p50Ms }) => p50Ms), hours.map(({ p99Ms }) => p99Ms)]
  const startsAt = hours.map(hour => hour.startsAt)
  const frame = frameFor(startsAt, Math.max(...slowest.map(value => value ?? 0), 0), words)
  const lines = [
    { kind: 'slowest', path: lineOf(slowest, frame) },
    {
      kind: 'slow',
      path: lineOf(
        hours.map(({ p95Ms }) => p95Ms),
        frame,
      ),
    },
    { kind: 'usual', path: lineOf(usual, frame) },
  ] as const
  return { ...frame.axes, bars: [], lines: lines.filter(({ path }) => path !== '') }
}
