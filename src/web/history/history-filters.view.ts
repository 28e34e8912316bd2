import { ANONYMOUS, type ExecutionFilters } from '../../history/query/execution-filters.ts'
import { localTimeText } from '../../lib/http/pages/zoned-days.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import { shorten } from '../../lib/kernel/format.ts'
import { RESULT_TEXTS } from './call-outcome.view.ts'
import {
  FILTER_LABELS,
  type FilterName,
  type HistoryQuery,
  isTimeFilter,
  type Pairs,
  rangeAddress,
  toAddress,
} from './history-query.ts'

/** Values to filter by: those on the page, and others that the reader may see. */
export type FilterChoices = {
  /** Names of servers by id. Undefined on the page of one server. */
  servers: ReadonlyMap<string, string> | undefined
  tools: readonly string[]
  /** Ids of callers. Their names are in `names`. */
  callers: readonly string[]
  clients: readonly string[]
  /** Email addresses of callers whose identity the reader may see, by id. */
  names: ReadonlyMap<string, string>
}

type Option = { name: FilterName; value: string; text: string }
type Menu = { label: string; options: readonly Option[]; other?: { name: FilterName; label: string } }

const RESULTS: readonly Option[] = [
  { name: 'outcome', value: 'error', text: 'All but OK' },
  ...Object.entries(RESULT_TEXTS).map(([value, text]) => ({ name: 'result' as const, value, text })),
]
const STATUSES: readonly Option[] = [
  { name: 'status', value: '2xx', text: '2xx, successful' },
  { name: 'status', value: '3xx', text: '3xx, redirected' },
  { name: 'status', value: '4xx', text: '4xx, rejected' },
  { name: 'status', value: '5xx', text: '5xx, failed' },
]

/** Maximum number of values that a menu lists. Others can be typed. */
const MAX_OPTIONS = 60
const MAX_CHIP_CHARACTERS = 60

export const callerName = (id: string, names: FilterChoices['names']): string =>
  id === ANONYMOUS ? ANONYMOUS : (names.get(id) ?? 'a user of another organization')

const textOf = (name: string, value: string, { servers, names }: FilterChoices): string => {
  if (name === 'server') return servers?.get(value) ?? 'an unknown server'
  if (name === 'caller') return callerName(value, names)
  if (name === 'outcome' && value === 'ok') return 'OK'
  return RESULTS.find(one => one.name === name && one.value === value)?.text ?? value
}

const selected = (given: Pairs, name: FilterName): string[] =>
  given.flatMap(([each, value]) => (each === name ? [value] : []))

/** Lists the values of a filter: first those that are selected, so that none is lost. */
const optionsOf = (name: FilterName, values: Iterable<string>, given: Pairs, choices: FilterChoices): Option[] =>
  [...new Set([...selected(given, name), ...values])]
    .slice(0, MAX_OPTIONS)
    .map(value => ({ name, value, text: textOf(name, value, choices) }))

const menusOf = (given: Pairs, choices: FilterChoices): Menu[] => {
  const of = (name: FilterName, values: Iterable<string>) => optionsOf(name, values, given, choices)
  const codes = of('status', []).filter(({ value }) => !STATUSES.some(one => one.value === value))
  return [
    ...(choices.servers === undefined ? [] : [{ label: 'Server', options: of('server', choices.servers.keys()) }]),
    { label: 'Tool', options: of('tool', choices.tools), other: { name: 'tool', label: 'Another tool' } },
    { label: 'Outcome', options: RESULTS },
    { label: 'Status', options: [...STATUSES, ...codes], other: { name: 'status', label: 'Another status' } },
    { label: 'Caller', options: of('caller', [...choices.callers, ANONYMOUS]) },
    { label: 'Client', options: of('client', choices.clients), other: { name: 'client', label: 'Another client' } },
  ]
}

/** The time ranges offered, by their length. */
const RANGES = [
  { ms: HOUR_MS, text: 'Last hour' },
  { ms: DAY_MS, text: 'Last 24 hours' },
  { ms: 7 * DAY_MS, text: 'Last 7 days' },
  { ms: 30 * DAY_MS, text: 'Last 30 days' },
]

const timeField = (time: Date | undefined, typed: string | undefined, zone: string) => ({
  /** Without scripts, the field is in the zone of the form. A script changes it to the reader's. */
  at: time?.toISOString(),
  value: time === undefined ? (typed ?? '') : localTimeText(time, zone),
})

const toTimes = (path: string, query: HistoryQuery, now: Date) => {
  const { filters, given, zone } = query
  const floored = now.getTime() - (now.getTime() % MINUTE_MS)
  return {
    from: timeField(filters.from, selected(given, 'from')[0], zone),
    to: timeField(filters.to, selected(given, 'to')[0], zone),
    isSet: given.some(([name]) => isTimeFilter(name)),
    zone,
    ranges: RANGES.map(({ ms, text }) => ({ text, href: rangeAddress(path, query, new Date(floored - ms)) })),
  }
}

const timeOf = (name: string, { from, to }: ExecutionFilters): Date | undefined =>
  name === 'from' ? from : name === 'to' ? to : undefined

/** Builds the chips of the filters in effect. Each links to the page without it. */
const toChips = (path: string, { given, filters }: HistoryQuery, choices: FilterChoices) =>
  given.flatMap(([name, value], index) => {
    if (name === 'zone') return []
    const label = Object.entries(FILTER_LABELS).find(([one]) => one === name)?.[1] ?? name
    const at = timeOf(name, filters)
    return [
      {
        label,
        text: shorten(textOf(name, value, choices), MAX_CHIP_CHARACTERS),
        at: at && { at: at.toISOString(), text: `${localTimeText(at, 'UTC').replace('T', ' ')} UTC`, isExact: true },
        href: toAddress(
          path,
          given.filter((_, other) => other !== index),
        ),
      },
    ]
  })

/** Builds the form with the filters, and the chips of those in effect. */
export const toFilterForm = (path: string, query: HistoryQuery, choices: FilterChoices, now: Date) => {
  const isSelected = ({ name, value }: Option): boolean => query.given.some(([n, v]) => n === name && v === value)
  return {
    path,
    q: selected(query.given, 'q')[0] ?? '',
    times: toTimes(path, query, now),
    menus: menusOf(query.given, choices)
      .filter(({ options, other }) => options.length > 0 || other !== undefined)
      .map(menu => ({
        ...menu,
        options: menu.options.map(option => ({ ...option, isSelected: isSelected(option) })),
        selected: menu.options
          .filter(isSelected)
          .map(({ text }) => text)
          .join(', '),
      })),
    chips: toChips(path, query, choices),
  }
}
