import { z } from 'zod'
import { type ExecutionFilters, filterFields } from '../../history/query/execution-filters.ts'
import { parseLocalTime, startOfDay, startOfNextDay, timeZone } from '../../lib/http/pages/zoned-days.ts'

/** Names of the filters, in the order of the page, and how it calls them. */
export const FILTER_LABELS = {
  q: 'Text',
  from: 'From',
  to: 'Until',
  server: 'Server',
  tool: 'Tool',
  outcome: 'Outcome',
  result: 'Outcome',
  status: 'Status',
  caller: 'Caller',
  client: 'Client',
} as const satisfies Record<keyof typeof filterFields, string>
export type FilterName = keyof typeof FILTER_LABELS

const isFilterName = (name: string): name is FilterName => Object.hasOwn(FILTER_LABELS, name)

/** Parameters of the page that are not filters. */
const OTHER_PARAMETERS: ReadonlySet<string> = new Set([
  'zone',
  'cursor',
  'detail',
  'charts',
  'removed',
  'done',
  'count',
])
/** Filters that have one value. */
const SINGLE: ReadonlySet<string> = new Set(['q', 'from', 'to', 'outcome'])

const Filters = z.strictObject(filterFields)
/** A date. PostgreSQL has no year 0, in which the first day of year 1 begins in some time zones. */
const Day = z.iso.date().refine(day => day > '0001-01-01')

/** Parameters of an address in their order. A name may be repeated. */
export type Pairs = readonly (readonly [name: string, value: string])[]

/** Adds parameters to a path. Unlike `addressOf`, a name may be repeated. */
export const toAddress = (path: string, pairs: Pairs): string =>
  pairs.length === 0
    ? path
    : `${path}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]))}`

export type HistoryQuery = {
  /** The filters and the zone as they are in the address. */
  given: Pairs
  /** The filters as the API takes them: times in UTC. */
  forApi: Pairs
  filters: ExecutionFilters
  errors: readonly string[]
  zone: string
  cursor: string
  /** `show` if charts are wanted that take time, `none` if the page is shown without charts. */
  charts: string
  isFiltered: boolean
}

/** Converts older links, in which `outcome=ok` was `result=success` and `result=error` was `outcome=error`. */
const fromOlderLink = ([name, value]: Pairs[number]): Pairs[number] => {
  if (name === 'result' && value === 'error') return ['outcome', 'error']
  return [name, value]
}

/** Converts a date or a time in the zone to UTC. The day of `to` is included. Returns other texts unchanged. */
const toUtc = (name: 'from' | 'to', text: string, zone: string): string => {
  const day = Day.safeParse(text).data
  if (day !== undefined) return (name === 'from' ? startOfDay : startOfNextDay)(day, zone).toISOString()
  return parseLocalTime(text, zone)?.toISOString() ?? text
}

const REFUSALS: Readonly<Partial<Record<FilterName, string>>> = {
  result: 'is not an outcome',
  outcome: 'is not an outcome',
  caller: 'must be the id of a user, or anonymous',
  from: 'is not a date or time such as 2026-11-22T09:30',
  to: 'is not a date or time such as 2026-11-22T09:30',
}

const describe = (issue: z.core.$ZodIssue, values: ReadonlyMap<string, readonly string[]>): string[] => {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => `There is no filter “${key}”.`)
  const [name = '', index = 0] = issue.path
  if (typeof name !== 'string' || !isFilterName(name)) return [issue.message]
  const value = values.get(name)?.[Number(index)]
  const isWhole = issue.path.length === 1 && !SINGLE.has(name)
  return [`${FILTER_LABELS[name]}${isWhole ? '' : ` “${value}”`} ${REFUSALS[name] ?? issue.message}.`]
}

const groupByName = (pairs: Pairs): Map<string, string[]> => {
  const values = new Map<string, string[]>()
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value])
  return values
}

const parseFilters = (pairs: Pairs): { filters: ExecutionFilters; errors: string[] } => {
  const values = groupByName(pairs)
  const repeated = [...values].filter(([name, given]) => SINGLE.has(name) && given.length > 1).map(([name]) => name)
  if (repeated.length > 0) return { filters: {}, errors: repeated.map(name => `The filter “${name}” is given twice.`) }
  const input = Object.fromEntries([...values].map(([name, given]) => [name, SINGLE.has(name) ? given[0] : given]))
  const parsed = Filters.safeParse(input)
  if (!parsed.success) return { filters: {}, errors: parsed.error.issues.flatMap(issue => describe(issue, values)) }
  const { from, to } = parsed.data
  const isBackwards = from !== undefined && to !== undefined && to <= from
  return { filters: parsed.data, errors: isBackwards ? ['The end of the time range is not after its start.'] : [] }
}

/** Parses the address of a page of the history. Fields of the form that were left empty do not count. */
export const readHistoryQuery = (query: URLSearchParams): HistoryQuery => {
  const zone = timeZone.parse(query.get('zone') ?? '')
  const given = [...query]
    .filter(([name, value]) => value !== '' && !OTHER_PARAMETERS.has(name))
    .map(([name, value]) => fromOlderLink([name, value.toWellFormed()]))
  const forApi = given.map(([name, value]): Pairs[number] =>
    name === 'from' || name === 'to' ? [name, toUtc(name, value, zone)] : [name, value],
  )
  return {
    given: query.get('zone') ? [...given, ['zone', zone]] : given,
    forApi,
    ...parseFilters(forApi),
    zone,
    cursor: query.get('cursor') ?? '',
    charts: query.get('charts') ?? '',
    isFiltered: given.length > 0,
  }
}

export const isTimeFilter = (name: string): boolean => name === 'from' || name === 'to'

/** Returns the address of the page with this time range, and without the time range that it has. */
export const rangeAddress = (path: string, { given }: HistoryQuery, from: Date, to?: Date): string =>
  toAddress(path, [
    ...given.filter(([name]) => !isTimeFilter(name)),
    ['from', from.toISOString()],
    ...(to === undefined ? [] : [['to', to.toISOString()] as const]),
  ])
