import { z } from 'zod'
import type { Caller } from '../execution/index.ts'
import { AppError, isJsonObject, type JsonObject } from '../kernel/index.ts'
import { checkUserAccess, type McpPrincipal } from '../servers/index.ts'
import { type Answer, answerText, errorAnswer } from './answer.ts'
import { type BodyLimits, parseBody } from './body.ts'
import { createCall } from './call.ts'
import { classify } from './classify.ts'
import { answerAtOnce, callTool, findTool, isRefusal, type ReportFault } from './dispatcher.ts'
import { clientName } from './envelope.ts'
import { metaOf, type RequestMessage, readableId } from './message.ts'
import type { Mounted } from './mounted.ts'
import { META, STATELESS_VERSION } from './protocol.ts'
import { type McpRegistry, RecentFailure } from './registry.ts'
import type { ServerInfo } from './router.ts'

/** Who uses a server from within: a person whose session says who they are. Undefined: a stranger. */
export type InProcessUser = Pick<McpPrincipal, 'userId' | 'organizationIds'> | undefined

/** A JSON-RPC message as it was written. */
export type ExchangedMessage = { direction: 'sent' | 'received'; at: Date; text: string }

const ListedTool = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.custom<JsonObject>(isJsonObject),
})
/** A tool as tools/list shows it. */
export type ListedTool = z.infer<typeof ListedTool>
const ListResult = z.looseObject({ tools: z.array(ListedTool), nextCursor: z.string().optional() })

const RpcError = z.object({ code: z.number(), message: z.string() })
/** A JSON-RPC error that a request was answered with. */
export type RpcError = z.infer<typeof RpcError>
type Reply = { result: JsonObject; error?: undefined } | { result?: undefined; error: RpcError }

const toReply = (text: string): Reply => {
  const answer: unknown = JSON.parse(text)
  if (isJsonObject(answer) && isJsonObject(answer.result)) return { result: answer.result }
  return { error: RpcError.parse(isJsonObject(answer) ? answer.error : undefined) }
}

export type InProcessClientOptions = {
  registry: Pick<McpRegistry, 'find'>
  limits: BodyLimits
  /** How it calls itself; history shows it. */
  clientInfo: ServerInfo
  report: ReportFault
  /** Milliseconds since 1970. */
  now: () => number
}

type Sent = { mounted: Mounted; caller: Caller; text: string; signal: AbortSignal | undefined }

const answerCall = (sent: Sent, message: RequestMessage, report: ReportFault): Promise<Answer> | Answer => {
  const { router } = sent.mounted
  const found = findTool(router, message.params)
  if (isRefusal(found)) return errorAnswer(message.id, found)
  const client = clientName(metaOf(message.params)?.[META.clientInfo])
  const call = createCall(message.id, sent.caller, client)
  if (sent.signal?.aborted) call.signal.abort()
  sent.signal?.addEventListener('abort', call.signal.abort, { once: true })
  return callTool(router, found, message, call, 'stateless', report)
}

/**
 * A client of the servers mounted here, for pages: its requests are the messages of the stateless era, and take the way
 * of every client's but for HTTP. What it may use is judged by who the person is, with each request, as tokens are.
 */
export const createInProcessClient = ({ registry, limits, clientInfo, report, now }: InProcessClientOptions) => {
  const answer = (sent: Sent): Promise<Answer> | Answer => {
    const body = parseBody(Buffer.from(sent.text), limits)
    if (!body.ok) return errorAnswer(null, body.error)
    const classified = classify(body.value, { version: STATELESS_VERSION, method: undefined })
    if (!classified.ok) return errorAnswer(readableId(body.value), classified.error)
    const { era } = classified.value
    if (era !== 'stateless' || classified.value.message.kind !== 'request') throw new Error('no request was sent')
    const { message } = classified.value
    return message.method === 'tools/call'
      ? answerCall(sent, message, report)
      : answerAtOnce(sent.mounted.router, message)
  }

  const find = async (serverId: string): Promise<Mounted> => {
    let mounted: Mounted | undefined
    try {
      mounted = await registry.find(serverId.toLowerCase())
    } catch (error) {
      if (!(error instanceof RecentFailure)) report(error, 'a server could not be made ready')
      throw new AppError('unavailable', 'This server cannot be made ready right now.', { retryAfterSeconds: 1 })
    }
    if (mounted === undefined) throw new AppError('not_found', 'There is no such server.')
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

  /** Throws `not_found` where there is no such server, `forbidden` where it is not for this person. */
  const connect = async (serverId: string, user: InProcessUser) => {
    const mounted = await find(serverId)
    const messages: ExchangedMessage[] = []
    let lastId = 0

    const request = async (method: string, params: JsonObject = {}, signal?: AbortSignal): Promise<Reply> => {
      const access = checkUserAccess(mounted.router.server.access, user)
      if (!access.ok) throw new AppError('forbidden', 'This server is not for you to use.')
      const text = toText(++lastId, method, params)
      messages.push({ direction: 'sent', at: new Date(now()), text })
      const received = answerText(await answer({ mounted, caller: access.value, text, signal }))
      messages.push({ direction: 'received', at: new Date(now()), text: received })
      return toReply(received)
    }

    const listTools = async (atLeast = Number.POSITIVE_INFINITY): Promise<ListedTool[]> => {
      const tools: ListedTool[] = []
      for (
        let cursor: string | undefined, isLast = false;
        !isLast && tools.length < atLeast;
        isLast = cursor === undefined
      ) {
        const { result, error } = await request('tools/list', cursor === undefined ? {} : { cursor })
        // The list changed under the cursor: what has been read by then is shown.
        if (error !== undefined) return tools
        const page = ListResult.parse(result)
        tools.push(...page.tools)
        cursor = page.nextCursor
      }
      return tools
    }

    return {
      /** All that was said so far, oldest first. */
      messages,
      request,
      /** The tools in the order of the list: all of them, or its first pages that hold so many. */
      listTools,
      /** How many tools it has, for who has been let in by a request. */
      toolCount: mounted.router.tools.size,
      callTool: (name: string, args: JsonObject, signal: AbortSignal): Promise<Reply> =>
        request('tools/call', { name, arguments: args }, signal),
    }
  }

  return { connect }
}
export type InProcessClient = ReturnType<typeof createInProcessClient>
export type InProcessConnection = Awaited<ReturnType<InProcessClient['connect']>>
