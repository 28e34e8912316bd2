const WIDTH = 960
/** Left edge of the plot; the axis labels are to its left. */
const LEFT = 56
const FLOOR = 166
const TOP = 18
const VIEW_BOX = `0 -8 ${WIDTH} 200`
/** Share of an hour's width that its bar takes up; the rest is the gap. */
const BAR_SHARE = 0.8
/** Hours between two labels below the axis. */
const NAMED_EVERY = 4

type Tick = { y: string; text: string }

/** Data of `views/parts/hour-chart.eta`: a labeled axis, and bars or lines over hours. */
export type HourChart = {
  viewBox: string
  /** Text alternative of the chart. */
  label: string
  /** What the axis measures. */
  caption: string
  left: number
  right: number
  ticks: readonly Tick[]
  hours: readonly { x: string; text: string }[]
  bars: readonly { kind: 'ok' | 'bad'; x: string; y: string; width: string; height: string }[]
  lines: readonly { kind: 'usual' | 'slowest'; path: string }[]
}

const place = (value: number): string => value.toFixed(1)

/** Returns the smallest step of 1, 2, 5, 10, 20, … for which three steps reach `most`. */
const stepFor = (most: number): number => {
  const rough = Math.max(most, 1) / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find(candidate => candidate * power >= rough) ?? 10
  return Math.max(1, factor * power)
}

type Frame = { slot: number; yOf: (value: number) => number; ticks: readonly Tick[] }

const frameFor = (count: number, most: number, toText: (value: number) => string): Frame => {
  const step = stepFor(most)
  const top = step * 3
  const yOf = (value: number): number => FLOOR - (value / top) * (FLOOR - TOP)
  const ticks = [0, 1, 2, 3].map(index => ({ y: place(yOf(index * step)), text: toText(index * step) }))
  return { slot: (WIDTH - LEFT) / count, yOf, ticks }
}

const namesOf = (startsAt: readonly Date[], slot: number): HourChart['hours'] =>
  startsAt.flatMap((date, index) =>
    index % NAMED_EVERY === 0
      ? [{ x: place(LEFT + slot * (index + 0.5)), text: date.toISOString().slice(11, 16) }]
      : [],
  )

type Words = { label: string; caption: string; toText: (value: number) => string }

/** Builds a bar chart of the calls per hour, with failed calls on top. */
export const toCallChart = (
  hours: readonly { startsAt: Date; calls: number; errors: number }[],
  { label, caption, toText }: Words,
): HourChart => {
  const { slot, yOf, ticks } = frameFor(hours.length, Math.max(...hours.map(({ calls }) => calls), 0), toText)
  const bar = (kind: 'ok' | 'bad', index: number, from: number, to: number) => ({
    kind,
    x: place(LEFT + slot * (index + (1 - BAR_SHARE) / 2)),
    y: place(yOf(to)),
    width: place(slot * BAR_SHARE),
    height: place(yOf(from) - yOf(to)),
  })
  return {
    viewBox: VIEW_BOX,
    label,
    caption,
    left: LEFT,
    right: WIDTH,
    ticks,
    hours: namesOf(
      hours.map(({ startsAt }) => startsAt),
      slot,
    ),
    bars: hours.flatMap(({ calls, errors }, index) => [
      ...(calls > errors ? [bar('ok', index, 0, calls - errors)] : []),
      ...(errors > 0 ? [bar('bad', index, calls - errors, calls)] : []),
    ]),
    lines: [],
  }
}

/** Returns a line with gaps for hours without a value. An isolated hour becomes a short stroke. */
const lineOf = (values: readonly (number | undefined)[], { slot, yOf }: Frame): string =>
  values
    .flatMap((value, index) => {
      if (value === undefined) return []
      const isJoined = values[index - 1] !== undefined
      const x = LEFT + slot * (index + 0.5)
      return isJoined ? [`L${place(x)} ${place(yOf(value))}`] : [`M${place(x - 3)} ${place(yOf(value))}h6`]
    })
    .join('')

/** Builds a line chart of call durations per hour: the median and the 99th percentile. */
export const toDurationChart = (
  hours: readonly { startsAt: Date; p50Ms?: number; p99Ms?: number }[],
  { label, caption, toText }: Words,
): HourChart => {
  const frame = frameFor(hours.length, Math.max(...hours.map(({ p99Ms }) => p99Ms ?? 0), 0), toText)
  return {
    viewBox: VIEW_BOX,
    label,
    caption,
    left: LEFT,
    right: WIDTH,
    ticks: frame.ticks,
    hours: namesOf(
      hours.map(({ startsAt }) => startsAt),
      frame.slot,
    ),
    bars: [],
    lines: [
      {
        kind: 'slowest',
        path: lineOf(
          hours.map(({ p99Ms }) => p99Ms),
          frame,
        ),
      },
      {
        kind: 'usual',
        path: lineOf(
          hours.map(({ p50Ms }) => p50Ms),
          frame,
        ),
      },
    ],
  }
}
