import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Chart } from '../../history/charts/chart.ts'
import { haveSums } from '../../history/charts/summed-filters.ts'
import type { ExecutionDetail, StoredExecution } from '../../history/executions.store.ts'
import { nameOfClient } from '../../history/sums/call-sums.ts'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import type { PageData } from '../../lib/http/pages/views.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { CallHistory } from '../../runtime/history/call-history.service.ts'
import type { CallPlace } from '../../servers/access/call-scope.store.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { queryOf } from '../frame/user-page.ts'
import { toChartsView } from './call-charts.view.ts'
import { toCallView, toHistoryDays } from './history.view.ts'
import { type FilterChoices, toFilterForm } from './history-filters.view.ts'
import { type HistoryQuery, readHistoryQuery, toAddress } from './history-query.ts'

/** A page with the calls of a server or of an organization. */
export type HistoryPlace = {
  place: CallPlace
  path: string
  /** Path of its calls in the API, after the version. */
  apiPath: string
  /** Whether the reader may delete calls. */
  mayRemove: boolean
  /** The name of the server or organization, for the title. */
  name: string
  /** The frame around the page, for its layout. */
  frame: Omit<PageData, 'title'>
  /** Names of servers and callers for the page, and tools to filter by. */
  findNames: (callerIds: readonly string[]) => Promise<{
    servers?: ReadonlyMap<string, string> | undefined
    callers: ReadonlyMap<string, string>
    tools: readonly string[]
  }>
  /** Whether this call can be made again in the inspector. */
  mayRepeat: (call: StoredExecution) => boolean
}

type Found = Awaited<ReturnType<ExecutionService['listExecutions']>>
const NOTHING: Found = { items: [], gaps: [], nextCursor: null, lookedUntil: undefined }

/** Returns each value once, without missing and empty ones. */
const present = (values: readonly (string | undefined)[]): string[] => [
  ...new Set(values.flatMap(value => (value === undefined || value === '' ? [] : [value]))),
]

/** The services that read the history for the pages. */
export type HistoryReaders = { execution: ExecutionService; callHistory: Pick<CallHistory, 'chartExecutions'> }

/** Leaves out the charts while Patchbay is too busy for them, so that the calls are still shown. */
const unlessBusy = (error: unknown): undefined => {
  if (error instanceof AppError && error.code === 'unavailable') return undefined
  throw error
}

/** Reads the calls and, on the first page, their charts, unless these have to be asked for because they take time. */
const readCalls = async (
  reply: FastifyReply,
  readers: HistoryReaders,
  { place }: HistoryPlace,
  query: HistoryQuery,
) => {
  const { filters, cursor, charts, errors } = query
  if (errors.length > 0) return { found: NOTHING, chart: undefined, isChartOffered: false }
  const actor = actorOf(reply.request)
  const signal = signalOf(reply)
  const page = { limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor }
  const mayChart = cursor === '' && charts !== 'none'
  const isCharted = mayChart && (charts === 'show' || haveSums(filters))
  const [found, chart] = await Promise.all([
    readers.execution.listExecutions(actor, place, { ...filters, ...page }, signal),
    isCharted ? readers.callHistory.chartExecutions(actor, place, filters, signal).catch(unlessBusy) : undefined,
  ])
  return { found, chart, isChartOffered: mayChart && chart === undefined }
}

/** Addresses of pages with the same filters. */
const linksOf = ({ path }: HistoryPlace, query: HistoryQuery, { nextCursor }: Found) => {
  const at = (cursor: string | null) => (cursor === null ? [] : [['cursor', cursor] as const])
  const current = query.cursor === '' ? null : query.cursor
  return {
    newest: current === null ? undefined : toAddress(path, query.given),
    older: nextCursor === null ? undefined : toAddress(path, [...query.given, ...at(nextCursor)]),
    here: toAddress(path, [...query.given, ...at(current)]),
    ofCall: (id: string) => toAddress(`${path}/${id}`, [...query.given, ...at(current)]),
  }
}

/** Returns the address of the page that deletes the calls that match now. Calls that come later do not count. */
const removalAddress = (path: string, { given, filters }: HistoryQuery): string =>
  toAddress(`${path}/removal`, filters.to === undefined ? [...given, ['to', new Date().toISOString()]] : given)

/** Returns whether new calls may appear on the page. */
const isLive = ({ cursor, errors, filters }: HistoryQuery): boolean =>
  cursor === '' && errors.length === 0 && filters.to === undefined

const Done = z.object({ done: z.literal('removed'), count: z.coerce.number().int().min(0) })

/** Returns the message shown after calls were deleted. */
const removedText = (query: unknown): string | undefined => {
  const done = Done.safeParse(query).data
  return done && `${formatCount(done.count, 'call')} deleted.`
}

type Names = Awaited<ReturnType<HistoryPlace['findNames']>>

/** Returns the values to filter by. Tools and clients are those of the calls on the page, and the most frequent tools. */
const choicesOf = (
  { servers, callers: names, tools }: Names,
  shown: readonly StoredExecution[],
  chart: Chart | undefined,
  callers: readonly string[],
): FilterChoices => {
  const known = [...tools, ...present(shown.map(({ tool }) => tool)), ...(chart?.tools ?? []).map(({ key }) => key)]
  const clients = present(shown.map(({ client }) => client && nameOfClient(client)))
  return { servers, names, callers, tools: [...new Set(known)].toSorted(), clients: clients.toSorted() }
}

/** Builds the rows of the list by day, each with the address of its call. */
const daysOf = (found: Found, isFirst: boolean, names: Names, hrefOf: (id: string) => string, openId?: string) =>
  toHistoryDays({ ...found, isFirst, isLast: found.nextCursor === null }, names, new Date()).map(({ text, rows }) => ({
    text,
    rows: rows.map(row => ('gap' in row ? row : { ...row, href: hrefOf(row.id), isCurrent: row.id === openId })),
  }))

/** Builds the details of the open call. */
const openCall = (call: ExecutionDetail, { mayRepeat }: HistoryPlace, names: Names) => ({
  ...toCallView(call, names),
  again:
    call.tool === '' || !mayRepeat(call)
      ? undefined
      : addressOf(serverTabPath(call.serverId, 'inspector'), { tool: call.tool, call: call.id }),
})

const exportsOf = ({ apiPath }: HistoryPlace, { forApi }: HistoryQuery) =>
  ['CSV', 'JSON', 'NDJSON'].map(text => ({
    text,
    href: toAddress(`/api/v1${apiPath}/export`, [...forApi, ['format', text.toLowerCase()]]),
  }))

/** Shows the calls that match the filters in the address, and beside them the details of one. */
export const showHistory = async (
  reply: FastifyReply,
  readers: HistoryReaders,
  place: HistoryPlace,
  call?: ExecutionDetail,
): Promise<FastifyReply> => {
  const query = readHistoryQuery(queryOf(reply.request))
  const { path } = place
  const { found, chart, isChartOffered } = await readCalls(reply, readers, place, query)
  const shown = [...found.items, ...(call === undefined ? [] : [call])]
  const wanted = query.filters.caller?.flatMap(id => id ?? []) ?? []
  const callers = present([...shown.map(({ userId }) => userId), ...(chart?.callers ?? []).map(({ key }) => key)])
  const names = await place.findNames([...callers, ...wanted])
  const links = linksOf(place, query, found)
  const choices = choicesOf(names, shown, chart, callers)
  const data = {
    ...place.frame,
    title: `${call === undefined ? '' : `${calledText(call)} · `}History of ${place.name}`,
    scripts: ['call-history'],
    path,
    filters: { ...toFilterForm(path, query, choices, new Date()), errors: query.errors, isLive: isLive(query) },
    days: daysOf(found, query.cursor === '', names, links.ofCall, call?.id),
    hasServers: names.servers !== undefined,
    charts: chart && toChartsView(chart, { path, query, names: names.callers }),
    chartHref: isChartOffered ? toAddress(path, [...query.given, ['charts', 'show']]) : undefined,
    lookedUntil: found.lookedUntil && exactTime(found.lookedUntil),
    isFiltered: query.isFiltered,
    isWrong: query.errors.length > 0,
    newest: links.newest,
    older: links.older,
    exports: exportsOf(place, query),
    removal: place.mayRemove ? removalAddress(path, query) : undefined,
    done: removedText(reply.request.query),
    // Closing the call leads back to its row.
    back: `${links.here}${call === undefined ? '' : `#call-${call.id}`}`,
    call: call && openCall(call, place, names),
  }
  return reply.page('history/history', data, { status: query.errors.length > 0 ? 400 : 200 })
}
