import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import { CALL_RESULTS } from '../../history/call-result.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, nextAddressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { startOfDay, startOfNextDay, timeZone } from '../../lib/http/pages/zoned-days.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, serverRoute } from '../frame/server-tab.ts'
import { toCallView, toHistoryDays } from './history.view.ts'

const CallParams = z.object({ uuid: uuidParam, id: uuidParam })
/** `outcome` is the filter's name in older links. */
const Query = z
  .object({
    result: formText,
    outcome: formText,
    tool: formText,
    from: formText,
    to: formText,
    zone: formText,
    cursor: formText,
  })
  .transform(({ outcome, ...query }) => ({
    ...query,
    result: query.result || (outcome === 'ok' ? 'success' : outcome),
  }))
type Query = z.infer<typeof Query>

/** A date. PostgreSQL has no year 0, in which the first day of year 1 begins in some time zones. */
const Day = z.iso.date().refine(day => day > '0001-01-01')
/** A call's result, or `error` for all but `success`. */
const Result = z.enum([...CALL_RESULTS, 'error'])
/** Maximum length of the tool name in the filter. */
const MAX_TOOL_CHARACTERS = 64

const RESULT_OPTIONS: readonly { value: z.infer<typeof Result> | ''; text: string }[] = [
  { value: '', text: 'All' },
  { value: 'success', text: 'OK' },
  { value: 'error', text: 'Rejected or failed' },
  { value: 'rejected', text: 'Rejected' },
  { value: 'invalid_arguments', text: 'Invalid arguments' },
  { value: 'blocked', text: 'Blocked' },
  { value: 'timeout', text: 'Timed out' },
  { value: 'failed', text: 'Failed' },
]

/** Parses the filters. Returns errors by field. The end date is inclusive. */
const readQuery = ({ result: typedResult, tool, from, to, zone: typedZone, cursor }: Query) => {
  const errors: Record<string, string> = {}
  const zone = timeZone.parse(typedZone)
  const dayOf = (name: 'from' | 'to', text: string): string | undefined => {
    if (text === '') return undefined
    const day = Day.safeParse(text).data
    if (day === undefined) errors[name] = 'Enter a date such as 2026-11-22.'
    return day
  }
  const result = typedResult === '' ? undefined : Result.safeParse(typedResult).data
  if (result === undefined && typedResult !== '') errors.result = 'Choose an outcome from the list.'
  const [first, last] = [dayOf('from', from), dayOf('to', to)]
  if (first !== undefined && last !== undefined && last < first) errors.to = 'The end date is before the start date.'
  const wanted = {
    ...(result === 'error' ? { outcome: result } : { result }),
    tool: tool === '' ? undefined : tool.slice(0, MAX_TOOL_CHARACTERS).toWellFormed(),
    from: first === undefined ? undefined : startOfDay(first, zone),
    to: last === undefined ? undefined : startOfNextDay(last, zone),
    limit: DEFAULT_PAGE_SIZE,
    cursor: cursor === '' ? undefined : cursor,
  }
  return { wanted, errors, isFiltered: [typedResult, tool, from, to].some(text => text !== '') }
}

export type HistoryPagesParts = { frames: ServerFrameParts; execution: ExecutionService }

/** Registers `/servers/:uuid/history`: the calls of a server, and beside them the details of one call. */
export const historyPages: FastifyPluginAsync<HistoryPagesParts> = async (app, { frames, execution }) => {
  const { frameOf } = createServerTab(frames, 'history')
  const show = async (reply: FastifyReply, server: ServerFrame, call?: StoredExecution): Promise<FastifyReply> => {
    const { request } = reply
    const actor = actorOf(request)
    const query = Query.parse(request.query)
    const path = serverTabPath(server.id, 'history')
    const { wanted, errors, isFiltered } = readQuery(query)
    const isWrong = Object.keys(errors).length > 0
    const found = isWrong
      ? { items: [], gaps: [], nextCursor: null }
      : await execution.listExecutions(actor, server.id, wanted)
    const callers = [...found.items, ...(call === undefined ? [] : [call])].flatMap(({ userId }) => userId ?? [])
    const { tools, names } = await execution.listNames(actor, server.id, callers)
    const isFirst = query.cursor === ''
    const page = { ...found, isFirst, isLast: found.nextCursor === null }
    const toLink = (id: string) => ({ href: addressOf(`${path}/${id}`, query), isCurrent: id === call?.id })
    const data = {
      title: call === undefined ? `History of ${server.name}` : `${calledText(call)} · History of ${server.name}`,
      server,
      path,
      query,
      errors,
      tools: tools.toSorted(),
      results: RESULT_OPTIONS,
      days: toHistoryDays(page, names, new Date()).map(({ text, rows }) => ({
        text,
        rows: rows.map(row => ('gap' in row ? row : { ...row, ...toLink(row.id) })),
      })),
      isFiltered,
      isWrong,
      isFirst,
      newest: isFirst ? undefined : addressOf(path, { ...query, cursor: '' }),
      older: nextAddressOf(path, found.nextCursor, { ...query }),
      // Closing the call leads back to its row.
      back: `${addressOf(path, query)}${call === undefined ? '' : `#call-${call.id}`}`,
      call: call && {
        ...toCallView(call, names),
        again:
          call.tool === '' || server.passesOn
            ? undefined
            : addressOf(serverTabPath(server.id, 'inspector'), { tool: call.tool, call: call.id }),
      },
    }
    return reply.page('history/history', data, { status: isWrong ? 400 : 200 })
  }

  app.get('/servers/:uuid/history', serverRoute, async (request, reply) => show(reply, await frameOf(request)))

  app.get('/servers/:uuid/history/:id', { ...serverRoute, schema: { params: CallParams } }, async (request, reply) => {
    const { id } = CallParams.parse(request.params)
    const server = await frameOf(request)
    const call = await execution.getExecution(actorOf(request), id)
    if (call.serverId !== server.id) throw new AppError('not_found', 'Execution not found.')
    return show(reply, server, call)
  })
}
