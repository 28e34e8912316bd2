const WIDTH = 960
/** Where the drawing begins, right of the labels of the axis. */
const LEFT = 56
const FLOOR = 166
const TOP = 18
const VIEW_BOX = `0 -8 ${WIDTH} 200`
/** A bar leaves this much of its hour to the gap beside it. */
const BAR_SHARE = 0.8
/** Every so many hours one is named below the axis. */
const NAMED_EVERY = 4

type Tick = { y: string; text: string }

/** What `views/parts/hour-chart.eta` draws: an axis with labels, and bars or lines over hours. */
export type HourChart = {
  viewBox: string
  /** What the picture shows, in words. */
  label: string
  /** What its axis counts. */
  caption: string
  left: number
  right: number
  ticks: readonly Tick[]
  hours: readonly { x: string; text: string }[]
  bars: readonly { kind: 'ok' | 'bad'; x: string; y: string; width: string; height: string }[]
  lines: readonly { kind: 'usual' | 'slowest'; path: string }[]
}

const place = (value: number): string => value.toFixed(1)

/** The least of 1, 2, 5, 10, 20, … of which three steps reach `most`. */
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

/** Calls of each hour as bars, with the failed ones on top. */
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

/** A line that is broken where an hour has no value; an hour alone is a short stroke. */
const lineOf = (values: readonly (number | undefined)[], { slot, yOf }: Frame): string =>
  values
    .flatMap((value, index) => {
      if (value === undefined) return []
      const isJoined = values[index - 1] !== undefined
      const x = LEFT + slot * (index + 0.5)
      return isJoined ? [`L${place(x)} ${place(yOf(value))}`] : [`M${place(x - 3)} ${place(yOf(value))}h6`]
    })
    .join('')

/** How long calls took, by hour: the median, and the slowest of a hundred. */
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
