import { z } from 'zod'
import { AppError } from '../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { type Suspensions, suspensionOfServer } from '../lib/kernel/suspensions.ts'
import type { OuterCall } from '../runtime/call/compiled-server.ts'
import { type Caller, checkUserAccess, type User } from '../servers/access/access.ts'
import { type BodyLimits, parseBody } from './body.ts'
import { createCall } from './call.ts'
import { callTool, findTool } from './call-tool.ts'
import { classify } from './classify.ts'
import { CLOSED_CHANNEL } from './client-channel.ts'
import { clientName } from './envelope.ts'
import type { ReportFault } from './http-exchange.ts'
import { metaOf, type RequestMessage, readableId } from './message.ts'
import { META, STATELESS_VERSION } from './protocol.ts'
import type { MountedServer } from './registry/mounted-server.ts'
import { type McpRegistry, RecentFailure } from './registry/registry.ts'
import type { RoutedCall, ServerInfo } from './registry/router.ts'
import { respondAtOnce } from './respond.ts'
import { errorResponse, isRefusal, type RpcResponse, responseText } from './rpc-response.ts'

/** The signed-in user of a page, or undefined for an anonymous visitor. */
export type InProcessUser = User | undefined

/** A JSON-RPC message exactly as it was exchanged. */
export type ExchangedMessage = { direction: 'sent' | 'received'; at: Date; text: string }

const ListedTool = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.custom<JsonObject>(isJsonObject),
})
/** A tool as listed by tools/list. */
export type ListedTool = z.infer<typeof ListedTool>
const ListResult = z.looseObject({ tools: z.array(ListedTool), nextCursor: z.string().optional() })

const RpcError = z.object({ code: z.number(), message: z.string() })
/** The JSON-RPC error of a response. */
export type RpcError = z.infer<typeof RpcError>
type Reply = { result: JsonObject; error?: undefined } | { result?: undefined; error: RpcError }

const toReply = (text: string): Reply => {
  const response: unknown = JSON.parse(text)
  if (isJsonObject(response) && isJsonObject(response.result)) return { result: response.result }
  return { error: RpcError.parse(isJsonObject(response) ? response.error : undefined) }
}

export type InProcessClientOptions = {
  registry: Pick<McpRegistry, 'find'>
  limits: BodyLimits
  /** Name and version for the history. */
  clientInfo: ServerInfo
  suspensions: Suspensions
  report: ReportFault
}

type Sent = {
  mounted: MountedServer
  caller: Caller
  text: string
  signal: AbortSignal | undefined
  /** Receives the id of a recorded call. */
  onRecorded: (executionId: string) => void
}

/** Reports the id under which the call is recorded. */
const reporting = ({ routed, args }: RoutedCall, onRecorded: Sent['onRecorded']): RoutedCall => {
  const { tool } = routed
  const call: typeof tool.call = async (...given) => {
    const outcome = await tool.call(...given)
    if (outcome.cost !== undefined) onRecorded(outcome.cost.executionId)
    return outcome
  }
  return { routed: { ...routed, tool: { ...tool, call } }, args }
}

const startCall = (sent: Sent, message: RequestMessage, report: ReportFault): Promise<RpcResponse> | RpcResponse => {
  const { router } = sent.mounted
  const found = findTool(router, message.params)
  if (isRefusal(found)) return errorResponse(message.id, found)
  const client = clientName(metaOf(message.params)?.[META.clientInfo])
  const call = createCall(message, { caller: sent.caller, client }, CLOSED_CHANNEL)
  if (sent.signal?.aborted) call.signal.abort()
  sent.signal?.addEventListener('abort', call.signal.abort, { once: true })
  return callTool(router, reporting(found, sent.onRecorded), call, 'stateless', report).finally(call.releases.end)
}

/**
 * Creates an MCP client for our own pages. It sends stateless messages to servers in this process, without HTTP. They
 * are handled like the messages of any other client. Access is checked for each request.
 */
export const createInProcessClient = ({
  registry,
  limits,
  clientInfo,
  suspensions,
  report,
}: InProcessClientOptions) => {
  const respond = (sent: Sent): Promise<RpcResponse> | RpcResponse => {
    const body = parseBody(Buffer.from(sent.text), limits)
    if (!body.ok) return errorResponse(null, body.error)
    const classified = classify(body.value, { version: STATELESS_VERSION, method: undefined })
    if (!classified.ok) return errorResponse(readableId(body.value), classified.error)
    const { era } = classified.value
    if (era !== 'stateless' || classified.value.message.kind !== 'request') throw new Error('no request was sent')
    const { message } = classified.value
    return message.method === 'tools/call'
      ? startCall(sent, message, report)
      : respondAtOnce(sent.mounted.router, message)
  }

  const find = async (serverId: string): Promise<MountedServer> => {
    let mounted: MountedServer | undefined
    try {
      mounted = await registry.find(serverId.toLowerCase())
    } catch (error) {
      if (!(error instanceof RecentFailure)) report(error, 'could not mount an MCP server')
      throw new AppError('unavailable', 'This server is temporarily unavailable.', { retryAfterSeconds: 1 })
    }
    if (mounted === undefined) throw new AppError('not_found', 'Server not found.')
    return mounted
  }

  const toText = (id: number, method: string, params: JsonObject): string => {
    const meta = {
      [META.protocolVersion]: STATELESS_VERSION,
      [META.clientInfo]: clientInfo,
      [META.clientCapabilities]: {},
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
    if (Buffer.byteLength(text) <= limits.maxRequestBytes) return text
    const message = `The request is larger than ${limits.maxRequestBytes} bytes (PATCHBAY_MAX_REQUEST_BYTES).`
    throw new AppError('payload_too_large', message)
  }

  const assertCallable = ({ router }: MountedServer): void => {
    const suspended = suspensionOfServer(suspensions, router.server.access)
    if (suspended !== undefined) throw new AppError('forbidden', suspended)
  }

  /**
   * Throws `not_found` if the server does not exist. Requests throw `forbidden` if the user has no access, and calls also
   * if the server is suspended.
   */
  const connect = async (serverId: string, user: InProcessUser) => {
    const mounted = await find(serverId)
    const messages: ExchangedMessage[] = []
    let lastId = 0

    const request = async (
      method: string,
      params: JsonObject = {},
      signal?: AbortSignal,
      onRecorded: Sent['onRecorded'] = () => {},
    ): Promise<Reply> => {
      const access = checkUserAccess(mounted.router.server.access, user)
      if (!access.ok) throw new AppError('forbidden', 'You do not have access to this server.')
      // The lists of a suspended server can still be read.
      if (method !== 'tools/list') assertCallable(mounted)
      const text = toText(++lastId, method, params)
      messages.push({ direction: 'sent', at: new Date(), text })
      const received = responseText(await respond({ mounted, caller: access.value, text, signal, onRecorded }))
      messages.push({ direction: 'received', at: new Date(), text: received })
      return toReply(received)
    }

    const listTools = async (atLeast = Number.POSITIVE_INFINITY): Promise<ListedTool[]> => {
      const tools: ListedTool[] = []
      let cursor: string | undefined
      do {
        const { result, error } = await request('tools/list', cursor === undefined ? {} : { cursor })
        // The list has changed in the meantime, so return what has been read.
        if (error !== undefined) break
        const page = ListResult.parse(result)
        tools.push(...page.tools)
        cursor = page.nextCursor
      } while (cursor !== undefined && tools.length < atLeast)
      return tools
    }

    return {
      /** All messages so far, oldest first. */
      messages,
      request,
      /** Returns the tools in list order: all of them, or enough full pages to contain `atLeast` tools. */
      listTools,
      /** Returns how clients call a tool that is not listed. Use it only after a request, because requests check access. */
      findOuterCall: (name: string): OuterCall | undefined => mounted.router.server.findOuterCall?.(name),
      /** Returns whether the tool can be called by this name, listed or not. The same applies. */
      canCall: (name: string): boolean => mounted.router.tools.has(name),
      /** Number of listed tools. Read it only after a request, because requests check access. */
      toolCount: mounted.router.listedTools,
      /** Calls a tool. `executionId` is undefined if the call is not in the history. */
      callTool: async (name: string, args: JsonObject, signal: AbortSignal) => {
        let executionId: string | undefined
        const reply = await request('tools/call', { name, arguments: args }, signal, id => {
          executionId = id
        })
        return { ...reply, executionId }
      },
    }
  }

  return { connect }
}
export type InProcessClient = ReturnType<typeof createInProcessClient>
export type InProcessConnection = Awaited<ReturnType<InProcessClient['connect']>>
