import type { ClientCalls, HourFigures, ServerCallFigures } from '../../history/call-figures.store.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import { exactTime, timeText } from '../../lib/http/pages/time-text.ts'
import { formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import type { PatchCaller } from '../diagram/patch.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { showOutcome } from '../history/call-outcome.view.ts'
import { type HourChart, shownHour, toCallChart, toDurationChart } from './hour-chart.ts'
import { toSpark } from './spark.ts'

/** A figure for the last 24 hours, formatted as text. Live updates refer to it by `name`. */
export type FigureText = { name: 'calls' | 'failed' | 'p50' | 'p99'; text: string; note: string; isBad: boolean }

/** Returns the path of the page that lists all calls of a server. */
export const historyPath = (serverId: string): string => serverTabPath(serverId, 'history')

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 })
const NONE = '–'

const durationText = (durationMs: number | undefined): string =>
  durationMs === undefined ? NONE : formatDuration(durationMs)

/** Formats a count as `3,000`, or as `3,000+` if counting stopped there. */
export const atLeast = (count: number, isCut: boolean): string => `${formatNumber(count)}${isCut ? '+' : ''}`

export const toFigureTexts = ({ calls, rejected, failed, isCut, p50Ms, p99Ms }: ServerCallFigures): FigureText[] => [
  {
    name: 'calls',
    text: atLeast(calls, isCut),
    note: rejected === 0 ? '' : `${formatNumber(rejected)} rejected`,
    isBad: false,
  },
  {
    name: 'failed',
    text: formatNumber(failed),
    note: failed === 0 ? '' : PERCENT.format(failed / calls),
    isBad: failed > 0,
  },
  { name: 'p50', text: durationText(p50Ms), note: '', isBad: false },
  { name: 'p99', text: durationText(p99Ms), note: '', isBad: false },
]

const FIGURES: Readonly<Record<FigureText['name'], { label: string; of: (hour: HourFigures) => number }>> = {
  calls: { label: 'Calls', of: ({ calls }) => calls },
  failed: { label: 'Failed', of: ({ failed }) => failed },
  p50: { label: 'Median, p50', of: ({ p50Ms }) => p50Ms ?? 0 },
  p99: { label: 'Slowest 1 %, p99', of: ({ p99Ms }) => p99Ms ?? 0 },
}

const busiestOf = ({ hours }: ServerCallFigures) => {
  const [first, ...rest] = hours
  if (first === undefined) return undefined
  const { startsAt, calls } = rest.reduce((most, hour) => (hour.calls > most.calls ? hour : most), first)
  return { hour: shownHour(startsAt), calls: formatCount(calls, 'call') }
}

const chartsOf = (figures: ServerCallFigures): readonly HourChart[] => [
  toCallChart(figures.hours, {
    label: `Calls by hour: ${formatNumber(figures.calls)} in the last 24 hours, ${formatNumber(figures.rejected)} rejected, ${formatNumber(figures.failed)} failed`,
    busiest: busiestOf(figures),
    caption: 'Calls per hour: rejected in amber, failed in red',
    toText: formatNumber,
  }),
  toDurationChart(figures.hours, {
    label: `Call duration by hour: overall median ${durationText(figures.p50Ms)}, 99th percentile ${durationText(figures.p99Ms)}`,
    caption: 'Call duration: median solid, p99 dashed',
    toText: formatDuration,
  }),
]

/** Builds the health section of a server's overview: figures of the last 24 hours, plus charts and a table by hour. */
export const toHealthView = (figures: ServerCallFigures) => ({
  figures: toFigureTexts(figures).map(figure => {
    const { label, of } = FIGURES[figure.name]
    return { ...figure, label, spark: toSpark(figures.hours.map(of)) }
  }),
  /** Note shown if only the most recent calls are evaluated. */
  cut: figures.isCut ? { calls: formatNumber(figures.calls), since: exactTime(figures.since) } : undefined,
  charts: figures.calls === 0 ? [] : chartsOf(figures),
  hours: figures.hours.map(hour => ({
    hour: shownHour(hour.startsAt),
    calls: formatNumber(hour.calls),
    rejected: formatNumber(hour.rejected),
    failed: formatNumber(hour.failed),
    p50: durationText(hour.p50Ms),
    p99: durationText(hour.p99Ms),
  })),
})

/** Returns a row in the list of recent calls. It is rendered on the page and sent by live updates. */
export const toCallView = (call: StoredExecution) => {
  const { text: outcome, state } = showOutcome(call)
  return {
    id: call.id,
    href: `${historyPath(call.serverId)}/${call.id}`,
    at: call.startedAt.toISOString(),
    time: timeText(call.startedAt),
    tool: calledText(call),
    state,
    outcome,
    duration: formatDuration(call.durationMs),
    client: call.client ?? NONE,
  }
}
type CallView = ReturnType<typeof toCallView>

/**
 * Describes a server's first call: "First call received: convert_currency, 200 OK in 12 ms, from claude-code/2.1."
 */
export const firstCallText = ({ tool, outcome, duration, client }: CallView): string =>
  `First call received: ${tool}, ${outcome} in ${duration}${client === NONE ? '' : `, from ${client}`}.`

/** Converts the clients of the last 24 hours into callers for the wiring diagram. */
export const toPatchCallers = (clients: readonly ClientCalls[]): PatchCaller[] =>
  clients.map(({ client, calls }) => ({
    name: client ?? 'unnamed client',
    activity: formatCount(calls, 'call'),
    state: 'good',
  }))
