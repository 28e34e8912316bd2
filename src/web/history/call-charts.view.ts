import type { Chart, ChartFigures } from '../../history/charts/chart.ts'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { shownHour, toCallChart, toDurationChart } from '../overview/hour-chart.ts'
import { callerName } from './history-filters.view.ts'
import { type HistoryQuery, rangeAddress, toAddress } from './history-query.ts'

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 })
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const NONE = '–'

const durationText = (ms: number | undefined): string => (ms === undefined ? NONE : formatDuration(ms))

/** The page of a chart, and the names to show on it. */
type Shown = { path: string; query: HistoryQuery; names: ReadonlyMap<string, string> }

const toFigures = ({ calls, rejected, failed, counted, tokensSent, tokensBefore, ...times }: ChartFigures) => [
  { label: 'Calls', text: formatNumber(calls) },
  { label: 'Rejected', text: formatNumber(rejected), note: rejected > 0 ? PERCENT.format(rejected / calls) : '' },
  {
    label: 'Failed',
    text: formatNumber(failed),
    note: failed > 0 ? PERCENT.format(failed / calls) : '',
    isBad: failed > 0,
  },
  { label: 'Median, p50', text: durationText(times.p50Ms) },
  { label: 'p95', text: durationText(times.p95Ms) },
  { label: 'Slowest 1 %, p99', text: durationText(times.p99Ms) },
  {
    label: 'Tokens sent',
    text: counted === 0 ? NONE : SHORT.format(tokensSent),
    note: tokensBefore > tokensSent ? `${PERCENT.format((tokensBefore - tokensSent) / tokensBefore)} saved` : '',
  },
]

const toCells = (figures: ChartFigures) => ({
  calls: formatNumber(figures.calls),
  rejected: formatNumber(figures.rejected),
  failed: formatNumber(figures.failed),
  p50: durationText(figures.p50Ms),
  p95: durationText(figures.p95Ms),
  p99: durationText(figures.p99Ms),
  tokens: figures.counted === 0 ? NONE : formatNumber(figures.tokensSent),
})

const toCharts = ({ from, to, total, bars, barSeconds }: Chart) => {
  const areDays = barSeconds * 1_000 >= DAY_MS || to.getTime() - from.getTime() > 2 * DAY_MS
  const range = { from: from.toISOString(), to: to.toISOString(), stepMs: barSeconds * 1_000 }
  const [first, ...rest] = bars
  const most = first && rest.reduce((busiest, bar) => (bar.calls > busiest.calls ? bar : busiest), first)
  return [
    {
      id: 'chart-calls',
      range,
      ...toCallChart(bars, {
        label: `Calls over time: ${formatNumber(total.calls)}, ${formatNumber(total.rejected)} rejected, ${formatNumber(total.failed)} failed`,
        // The text is about an hour of one day.
        busiest:
          areDays || barSeconds !== 3_600 || most === undefined
            ? undefined
            : { hour: shownHour(most.startsAt), calls: formatCount(most.calls, 'call') },
        caption: 'Calls: rejected in amber, failed in red',
        toText: formatNumber,
        areDays,
      }),
    },
    {
      id: 'chart-durations',
      range,
      ...toDurationChart(bars, {
        label: `Call duration over time: overall p50 ${durationText(total.p50Ms)}, p95 ${durationText(total.p95Ms)}, p99 ${durationText(total.p99Ms)}`,
        caption: 'Call duration: p50 solid, p95 dotted, p99 dashed',
        toText: formatDuration,
        areDays,
      }),
    },
    {
      id: 'chart-tokens',
      range,
      ...toCallChart(
        bars.map(({ startsAt, tokensSent }) => ({ startsAt, calls: tokensSent, rejected: 0, failed: 0 })),
        {
          label: `Tokens sent over time: ${formatNumber(total.tokensSent)}`,
          caption: 'Tokens of results sent',
          toText: value => SHORT.format(value),
          areDays,
        },
      ),
    },
  ]
}

/** Returns the rows of a chart by tool or by caller, with a bar for the share of the most frequent one. */
const toRows = (
  rows: readonly (ChartFigures & { key: string })[] | undefined,
  name: 'tool' | 'caller',
  { path, query, names }: Shown,
) => {
  const most = Math.max(1, ...(rows ?? []).map(({ calls }) => calls))
  const others = query.given.filter(([one]) => one !== name)
  return rows?.map(({ key, ...figures }) => ({
    text: name === 'caller' ? callerName(key, names) : key,
    href: toAddress(path, [...others, [name, key]]),
    bar: { x: '0', width: ((figures.calls / most) * 100).toFixed(1) },
    ...toCells(figures),
  }))
}

/** Builds the charts of the calls that match, and the tables with their numbers. */
export const toChartsView = (chart: Chart, shown: Shown) => {
  const { path, query } = shown
  const width = chart.barSeconds * 1_000
  return {
    isDefaultRange: query.filters.from === undefined && query.filters.to === undefined,
    from: exactTime(chart.from),
    to: exactTime(chart.to),
    figures: toFigures(chart.total),
    isEmpty: chart.total.calls === 0,
    charts: chart.total.calls === 0 ? [] : toCharts(chart),
    bars: chart.bars
      .filter(({ calls }) => calls > 0)
      .map(({ startsAt, ...figures }) => ({
        startsAt: exactTime(startsAt),
        href: rangeAddress(path, query, startsAt, new Date(startsAt.getTime() + width)),
        ...toCells(figures),
      })),
    tables: [
      { id: 'tools', title: 'By tool', column: 'Tool', rows: toRows(chart.tools, 'tool', shown) },
      { id: 'callers', title: 'By caller', column: 'Caller', rows: toRows(chart.callers, 'caller', shown) },
    ].filter(({ rows }) => rows !== undefined && rows.length > 0),
    countedUntil: chart.lookedUntil && {
      ...exactTime(chart.lookedUntil),
      older: rangeAddress(path, query, chart.from, chart.lookedUntil),
    },
  }
}
