import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { StoredExecution } from '../../history/executions.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { BodyLimits } from '../../mcp/body.ts'
import type { InProcessClient, InProcessConnection, ListedTool } from '../../mcp/in-process-client.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { getServerFrame, type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { serverIdOf } from '../frame/server-tab.ts'
import { type ArgumentField, parseArguments, parseTypedJson, sketchArguments, toFields } from './argument-form.ts'
import { listUnknown, toRepeat, typedText } from './call-again.ts'
import { toFieldView, toMessageViews, toResultView, toRowView, toToolView } from './inspector.view.ts'

/** Requires the same token scope as a call to the server, because the page makes such calls. */
const config = { access: 'user', scope: 'mcp' } as const
const Query = z.object({
  tool: formText,
  q: formText,
  page: pageNumber,
  as: formText,
  /** The recorded call whose arguments fill in the form. */
  call: z.uuid().or(z.literal('')).catch(''),
})
type Query = z.infer<typeof Query>
/** The submitted form, whose values can only be strings or lists of strings. */
const Form = z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({})

/** Number of tools per page of the list. */
const TOOLS_SHOWN = 50
/** Name of the field that contains all arguments as JSON. */
const WHOLE = 'arguments'

export type InspectorPagesParts = {
  frames: ServerFrameParts
  execution: Pick<ExecutionService, 'getExecution'>
  inspectorClient: InProcessClient
  settings: { limits: BodyLimits }
}

const PASSES_ON = 'This is a passthrough server. It does not call tools itself.'

const toAddress = (path: string, { tool, q, page = 1, as, call }: Partial<Query>): string =>
  addressOf(path, { q, page: page === 1 ? undefined : String(page), tool, as, call })

const matches = (needle: string) => {
  const wanted = needle.trim().toLowerCase()
  return ({ name, title = '', description = '' }: ListedTool): boolean =>
    wanted === '' || [name, title, description].some(text => text.toLowerCase().includes(wanted))
}

const toList = (tools: readonly ListedTool[], path: string, query: Query) => {
  const { q, page, tool, as } = query
  const found = tools.filter(matches(q))
  const { shown, pager } = takePage(found, { page, perPage: TOOLS_SHOWN, path, query: { q, tool, as } })
  return {
    rows: shown.map(row => ({
      ...toRowView(row),
      href: toAddress(path, { q, page, as, tool: row.name }),
      isCurrent: row.name === tool,
    })),
    count: q === '' ? formatCount(tools.length, 'tool') : `${formatCount(found.length, 'tool')} of ${tools.length}`,
    hasTools: tools.length > 0,
    pager,
  }
}

type Typed = { whole: string | undefined; of: (name: string) => string; errors: ReadonlyMap<string, string> }
const UNTYPED: Typed = { whole: undefined, of: () => '', errors: new Map() }

/** Returns a tool and its form. `fields` is undefined if the user types the arguments as JSON. */
const toInspected = (tool: ListedTool, path: string, query: Query, typed: Typed) => {
  const known = toFields(tool.inputSchema)
  const fields = query.as === 'json' ? undefined : known
  const { q, page } = query
  const to = (as: string, call = '') => toAddress(path, { q, page, tool: tool.name, as, call })
  const error = typed.errors.get(WHOLE)
  return {
    ...toToolView(tool),
    action: to(query.as),
    back: toAddress(path, { q, page }),
    fields: fields?.map(toFieldView(typed.of, typed.errors)),
    whole: {
      value: typed.whole ?? JSON.stringify(sketchArguments(known ?? []), undefined, 2),
      error: error === undefined ? undefined : `The JSON ${error}.`,
    },
    asJson: fields === undefined ? undefined : to('json', query.call),
    asForm: fields === undefined && known !== undefined ? to('', query.call) : undefined,
  }
}

/** Without a connection for a passthrough server, which has nothing to inspect. */
type Visit = { server: ServerFrame; path: string; query: Query; connection: InProcessConnection | undefined }

/** Returns what a recorded call shows: the tool, its form with the call's arguments, and what is not filled in. */
const toRepeated = (
  call: StoredExecution,
  tools: readonly ListedTool[],
  connection: InProcessConnection,
  { path, query }: Pick<Visit, 'path' | 'query'>,
) => {
  const { tool, values, notes } = toRepeat(call, tools, connection)
  const repeated = { time: shownTime(call.startedAt), notes }
  if (tool === undefined) return { repeated, inspected: undefined }
  const fields = query.as === 'json' ? undefined : toFields(tool.inputSchema)
  // An argument without a field would be lost, so the form then has all of them as JSON.
  const hasAll = fields !== undefined && listUnknown(values, fields).length === 0
  const typed: Typed = {
    errors: new Map(),
    whole: JSON.stringify(values, undefined, 2),
    of: name => {
      const field = fields?.find(one => one.name === name)
      return field === undefined || !Object.hasOwn(values, name) ? '' : typedText(field, values[name])
    },
  }
  return { repeated, inspected: toInspected(tool, path, hasAll ? query : { ...query, as: 'json', call: '' }, typed) }
}

/** Reads the arguments from a form, and returns them with the typed text and any errors. */
const readForm = (fields: readonly ArgumentField[] | undefined, body: unknown, maxDepth: number) => {
  const form = Form.parse(body ?? {})
  const of = (name: string): string => {
    const value = form[name]
    return typeof value === 'string' ? value : ''
  }
  if (fields !== undefined) {
    const named = (name: string) => of(`argument:${name}`)
    const { args, errors } = parseArguments(fields, named, maxDepth)
    return { args, typed: { whole: undefined, of: named, errors } satisfies Typed }
  }
  const whole = of(WHOLE)
  const parsed = parseTypedJson(whole.trim() === '' ? '{}' : whole, maxDepth)
  const args: JsonObject = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const error = parsed.ok ? (isJsonObject(parsed.value) ? undefined : 'must be an object') : parsed.error
  return { args, typed: { ...UNTYPED, whole, errors: new Map(error === undefined ? [] : [[WHOLE, error]]) } }
}

/**
 * Registers `/servers/:uuid/inspector`, an MCP client in the browser. It makes calls as the user and follows the same
 * rules as clients of `/s/:uuid`.
 */
export const inspectorPages: FastifyPluginAsync<InspectorPagesParts> = async (
  app,
  { frames, execution, inspectorClient: client, settings: { limits } },
) => {
  const begin = async (request: FastifyRequest): Promise<Visit> => {
    const actor = actorOf(request)
    const server = await getServerFrame(frames, actor, serverIdOf(request), 'inspector')
    const visit = { server, path: serverTabPath(server.id, 'inspector'), query: Query.parse(request.query) }
    if (server.passesOn) return { ...visit, connection: undefined }
    const connection = await client.connect(server.id, actor)
    await connection.request('server/discover')
    return { ...visit, connection }
  }

  /** Returns the record of a call, or undefined if it cannot be read, because the result is shown all the same. */
  const findRecord = async (request: FastifyRequest, id: string): Promise<StoredExecution | undefined> => {
    try {
      return await execution.getExecution(actorOf(request), id)
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  /** Returns a call of this server that the user may see. Throws `not_found` for any other. */
  const getCall = async (request: FastifyRequest, server: ServerFrame, id: string): Promise<StoredExecution> => {
    const actor = actorOf(request)
    // As for the history, whose pages show these arguments, too.
    if (!actor.scopes.has('read')) throw new AppError('forbidden', 'This requires a token with the scope "read".')
    const call = await execution.getExecution(actor, id)
    if (call.serverId === server.id) return call
    throw new AppError('not_found', 'Execution not found.')
  }

  const show = (reply: FastifyReply, { server, query, path }: Visit, data: object, status = 200): FastifyReply =>
    reply.page(
      'inspector/inspector',
      { title: `Inspector of ${server.name}`, server, path, query, ...data },
      { status },
    )

  app.get('/servers/:uuid/inspector', { config, schema: { params: serverParams } }, async (request, reply) => {
    const visit = await begin(request)
    const { connection, path, query } = visit
    if (connection === undefined) return show(reply, visit, {})
    const call = query.call === '' ? undefined : await getCall(request, visit.server, query.call)
    const tools = await connection.listTools()
    const tool = tools.find(({ name }) => name === query.tool)
    const opened =
      call === undefined
        ? { inspected: tool && toInspected(tool, path, query, UNTYPED) }
        : toRepeated(call, tools, connection, visit)
    const isUnknown = opened.inspected === undefined && query.tool !== ''
    const data = {
      list: toList(tools, path, { ...query, tool: opened.inspected?.name ?? query.tool }),
      ...opened,
      isUnknown,
      result: undefined,
      messages: toMessageViews(connection.messages),
    }
    return show(reply, visit, data, isUnknown ? 404 : 200)
  })

  app.post(
    '/servers/:uuid/inspector',
    { config, schema: { params: serverParams }, bodyLimit: limits.maxRequestBytes },
    async (request, reply) => {
      const visit = await begin(request)
      const { connection, path, query } = visit
      if (connection === undefined) throw new AppError('conflict', PASSES_ON)
      const tools = await connection.listTools()
      const tool = tools.find(({ name }) => name === query.tool)
      if (tool === undefined) throw new AppError('not_found', 'The server no longer has a tool with this name.')
      const fields = query.as === 'json' ? undefined : toFields(tool.inputSchema)
      const { args, typed } = readForm(fields, request.body, limits.maxJsonDepth)
      const hasErrors = typed.errors.size > 0
      const before = connection.messages.length
      const called = hasErrors ? undefined : await connection.callTool(tool.name, args, signalOf(reply))
      const id = called?.executionId
      const recorded = id === undefined ? undefined : await findRecord(request, id)
      const data = {
        inspected: toInspected(tool, path, query, typed),
        isUnknown: false,
        result: called && toResultView(called, recorded),
        messages: toMessageViews(called === undefined ? connection.messages : connection.messages.slice(before)),
      }
      const status = hasErrors ? 400 : 200
      if (!isFragmentRequest(request)) {
        return show(reply, visit, { ...data, list: toList(tools, path, query) }, status)
      }
      // Replaces the form itself only if it has errors.
      if (hasErrors) reply.header('hx-retarget', '#inspected').header('hx-reswap', 'outerHTML')
      return reply.fragment(hasErrors ? 'inspector/inspected' : 'inspector/outcome', data, status)
    },
  )
}
