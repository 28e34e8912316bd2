import { calledText } from '../execution/index.ts'
import type { ClientCalls, HourFigures, ServerCallFigures, StoredExecution } from '../history/index.ts'
import { formatCount, formatDuration, formatNumber, timeText } from '../platform/http/index.ts'
import { serverTabPath } from '../servers/index.ts'
import { type HourChart, toCallChart, toDurationChart } from './hour-chart.ts'
import type { PatchCaller } from './patch/patch.ts'
import { type Spark, toSpark } from './spark.ts'

/** A figure of the last day as text; live updates bring the same by its name. */
export type FigureText = { name: 'calls' | 'errors' | 'p50' | 'p99'; text: string; note: string; isBad: boolean }

export type Health = {
  figures: readonly (FigureText & { label: string; spark: Spark })[]
  /** Where more calls came than are looked at. */
  cut: string | undefined
  charts: readonly HourChart[]
  hours: readonly { hour: string; calls: string; errors: string; p50: string; p99: string }[]
}

/** The page where all calls of a server are. */
export const historyPath = (serverId: string): string => serverTabPath(serverId, 'history')

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 })
const NONE = '–'

const durationText = (durationMs: number | undefined): string =>
  durationMs === undefined ? NONE : formatDuration(durationMs)

const hourText = (date: Date): string => date.toISOString().slice(11, 16)

export const toFigureTexts = ({ calls, errors, isCut, p50Ms, p99Ms }: ServerCallFigures): FigureText[] => [
  { name: 'calls', text: `${formatNumber(calls)}${isCut ? '+' : ''}`, note: '', isBad: false },
  {
    name: 'errors',
    text: formatNumber(errors),
    note: errors === 0 ? '' : PERCENT.format(errors / calls),
    isBad: errors > 0,
  },
  { name: 'p50', text: durationText(p50Ms), note: '', isBad: false },
  { name: 'p99', text: durationText(p99Ms), note: '', isBad: false },
]

const FIGURES: Readonly<Record<FigureText['name'], { label: string; of: (hour: HourFigures) => number }>> = {
  calls: { label: 'Calls', of: ({ calls }) => calls },
  errors: { label: 'Errors', of: ({ errors }) => errors },
  p50: { label: 'Median, p50', of: ({ p50Ms }) => p50Ms ?? 0 },
  p99: { label: 'Slowest 1 %, p99', of: ({ p99Ms }) => p99Ms ?? 0 },
}

const describeCalls = ({ calls, errors, hours }: ServerCallFigures): string => {
  const busiest = hours.reduce((most, hour) => (hour.calls > most.calls ? hour : most), {
    startsAt: new Date(0),
    calls: 0,
  })
  if (calls === 0) return 'Calls by hour: none in the last day'
  const peak = `most in the hour from ${hourText(busiest.startsAt)}, ${formatCount(busiest.calls, 'call')}`
  return `Calls by hour: ${formatNumber(calls)} in the last day, ${formatCount(errors, 'error')}; ${peak}`
}

const chartsOf = (figures: ServerCallFigures): readonly HourChart[] => [
  toCallChart(figures.hours, {
    label: describeCalls(figures),
    caption: 'calls an hour, errors in red on top',
    toText: formatNumber,
  }),
  toDurationChart(figures.hours, {
    label: `Durations by hour: in all, half of the calls took ${durationText(figures.p50Ms)} or less, 99 of a hundred ${durationText(figures.p99Ms)} or less`,
    caption: 'duration of a call: median as a line, p99 dashed',
    toText: formatDuration,
  }),
]

/** How a server did in the last day: four figures, and the same by hour as charts and as a table. */
export const toHealthView = (figures: ServerCallFigures): Health => ({
  figures: toFigureTexts(figures).map(figure => {
    const { label, of } = FIGURES[figure.name]
    return { ...figure, label, spark: toSpark(figures.hours.map(of)) }
  }),
  cut: figures.isCut
    ? `This server is busy: the figures are those of its newest ${formatNumber(figures.calls)} calls, since ${timeText(figures.since)}.`
    : undefined,
  charts: figures.calls === 0 ? [] : chartsOf(figures),
  hours: figures.hours.map(hour => ({
    hour: hourText(hour.startsAt),
    calls: formatNumber(hour.calls),
    errors: formatNumber(hour.errors),
    p50: durationText(hour.p50Ms),
    p99: durationText(hour.p99Ms),
  })),
})

/** A call in the list of the newest ones, on the page and as it comes in. */
export type CallView = {
  id: string
  /** Of the page that shows all of it. */
  href: string
  /** ISO 8601, and in words. */
  at: string
  time: string
  tool: string
  state: 'good' | 'failed'
  outcome: string
  duration: string
  client: string
}

const outcomeText = ({ outcome, status, request }: StoredExecution): string => {
  if (outcome === 'error') return `failed${status === undefined ? '' : `, ${status}`}`
  return request?.answerAgeMs === undefined ? 'answered' : 'answered again'
}

export const toCallView = (call: StoredExecution): CallView => ({
  id: call.id,
  href: `${historyPath(call.serverId)}/${call.id}`,
  at: call.startedAt.toISOString(),
  time: timeText(call.startedAt),
  tool: calledText(call),
  state: call.outcome === 'ok' ? 'good' : 'failed',
  outcome: outcomeText(call),
  duration: formatDuration(call.durationMs),
  client: call.client ?? NONE,
})

/** "convert_currency answered in 12 ms, to claude-code/2.1". */
export const firstCallText = ({ tool, outcome, duration, client }: CallView): string =>
  `The first call has come: ${tool} ${outcome} in ${duration}${client === NONE ? '' : `, for ${client}`}.`

/** Who called in the last day, for the patch diagram. */
export const toPatchCallers = (clients: readonly ClientCalls[]): PatchCaller[] =>
  clients.map(({ client, calls }) => ({
    name: client ?? 'unnamed client',
    what: formatCount(calls, 'call'),
    state: 'good',
  }))
