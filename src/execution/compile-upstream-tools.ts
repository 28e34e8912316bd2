import { mapInTurns } from '../context/index.ts'
import { newExecutionId } from '../history/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import {
  type CallLink,
  callUpstreamTool,
  explainUpstreamFault,
  findConnectUrl,
  type PresentedTool,
  presentTools,
  toUpstreamToolCall,
  type Upstream,
  type UpstreamConnections,
  type UpstreamExchange,
  type UpstreamSource,
  type UpstreamToolCall,
} from '../upstreams/index.ts'
import { withAccountHidden } from './account-masking.ts'
import type { AnswerBudget } from './budget/answer-budget.ts'
import type { ExecutionParts, OpenedGlobals } from './compile-tool.ts'
import {
  type BlocksResult,
  type CallContext,
  type CompiledTool,
  isPassed,
  isRefused,
  type PassedAnswer,
} from './compiled-server.ts'
import { connectResult } from './connect-result.ts'
import { errorResult } from './faults.ts'
import { withLink } from './linked-request.ts'
import type { Masker } from './masking.ts'
import { answerAddresses } from './pass-addresses.ts'
import { ERROR_CHARACTERS, toMicroseconds } from './perform-call.ts'
import { maskStrings } from './shape.ts'
import { shortenRequest } from './shorten-request.ts'

/** `absent`: upstreams that were never heard yet, so that the lists lack what they offer. */
export type UpstreamSources = { sources: readonly UpstreamSource[]; absent: readonly Upstream[] }

export type UpstreamToolParts = Pick<ExecutionParts, 'recorder' | 'onInternalError'> & {
  connections: Pick<UpstreamConnections, 'findFor'>
  exchange: Pick<UpstreamExchange, 'logs' | 'own' | 'route' | 'subscriptions'>
  /** Holds answers to the budget of their server, or to the tool's own. */
  limit: AnswerBudget['limit']
}

/** What a call takes; what describes the tool is not in it. */
type UpstreamTool = { upstream: Pick<Upstream, 'id' | 'serverId' | 'name'>; item: UpstreamToolCall; name: string }

const INTERNAL_FAULT = 'Patchbay failed to run this call. The operator finds the reason in its log.'

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** What the result says first, where it is an error. */
const errorOf = (result: BlocksResult | PassedAnswer): string | undefined => {
  if (isRefused(result)) return result.refused.message.slice(0, ERROR_CHARACTERS)
  const { isError, content } = isPassed(result) ? result.passed : result
  if (isError !== true) return undefined
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  return isJsonObject(first) && typeof first.text === 'string' ? first.text.slice(0, ERROR_CHARACTERS) : ''
}

export const maskResult = (result: JsonObject, masker: Masker): JsonObject => {
  if (masker.isEmpty) return result
  const masked = maskStrings(result, masker)
  return isJsonObject(masked) ? masked : {}
}

/** A call as history keeps it: what was asked of which upstream, where an HTTP tool has its request. */
const requestOf = ({ upstream, item }: UpstreamTool, body: string) =>
  shortenRequest({
    method: 'tools/call',
    url: `mcp:${upstream.name}/${encodeURIComponent(item.name.toWellFormed())}`,
    headers: [],
    body,
  })

const callOnce = async (
  { upstream, item }: UpstreamTool,
  args: JsonObject,
  { caller, signal, link }: CallContext,
  globalMasker: Masker,
  { connections, exchange, onInternalError }: UpstreamToolParts,
): Promise<BlocksResult | PassedAnswer> => {
  // By its id with each call: what it was when the server was mounted may be closed.
  const connection = connections.findFor(upstream.id, caller?.userId)
  if (connection === undefined) return errorResult(`The upstream "${upstream.name}" is disabled, or was removed.`)
  const masker = withAccountHidden(globalMasker, connection)
  try {
    const call = (own: CallLink | undefined) => callUpstreamTool(connection, item, args, signal, own)
    const passed = maskResult(await withLink(link, upstream.id, masker, exchange, call), masker)
    return { passed, json: JSON.stringify(passed) }
  } catch (error) {
    const why = explainUpstreamFault(error, upstream.name, connection.state(), masker.text)
    if (why === undefined) onInternalError(error)
    if (why === undefined) return errorResult(INTERNAL_FAULT)
    const asked = answerAddresses(error, { link }, why, masker)
    if (asked !== undefined) return asked
    const connectUrl = findConnectUrl(error)
    return connectUrl === undefined ? errorResult(why) : connectResult(why, upstream, connectUrl)
  }
}

const compileOne = (
  tool: UpstreamTool,
  declared: JsonObject,
  { masker }: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const { upstream, item, name } = tool
  // What a tool says of tasks holds between the upstream and us, where there are none.
  const { title, description, inputSchema, outputSchema, annotations, execution: _execution, ...more } = declared
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
    annotations: isJsonObject(annotations) ? annotations : undefined,
    more,
    isReadOnly: false,
    isLinked: true,
    call: async (given, context) => {
      const { caller, client } = context
      const startedAt = new Date()
      const startedMs = performance.now()
      const args = isJsonObject(given) ? given : {}
      const result = await callOnce(tool, args, context, masker, parts)
      const durationMs = toMicroseconds(performance.now() - startedMs)
      const error = errorOf(result)
      const body = JSON.stringify({ name: item.name, arguments: args })
      parts.recorder.record({
        id: newExecutionId(),
        serverId: upstream.serverId,
        instanceId: undefined,
        tool: name,
        userId: caller?.userId,
        client,
        startedAt,
        durationMs,
        outcome: error === undefined ? 'ok' : 'error',
        status: undefined,
        requestBytes: Buffer.byteLength(body),
        responseBytes:
          !isRefused(result) && isPassed(result) && result.json !== undefined ? Buffer.byteLength(result.json) : 0,
        error,
        request: requestOf(tool, masker.text(body)),
      })
      return result
    },
  }
}

/** One tool of an upstream; `name`: as history knows it, and clients where each tool stands by itself. */
export const compileUpstreamTool = (
  { upstream: { id, serverId, name: upstreamName, responseTokens }, item, name }: PresentedTool,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const tool = { upstream: { id, serverId, name: upstreamName }, item: toUpstreamToolCall(item), name }
  return parts.limit(compileOne(tool, item.declared, globals, parts), responseTokens[item.name])
}

/**
 * The tools of upstreams, beside those of the server itself. Of two that would have one name the first stays: a tool of
 * the server, or of the upstream whose name comes first; `onSkipped` hears of the other.
 */
export const compileUpstreamTools = (
  sources: readonly UpstreamSource[],
  own: readonly CompiledTool[],
  globals: OpenedGlobals,
  parts: UpstreamToolParts & { onSkipped: (tool: string, reason: string) => void },
): Promise<CompiledTool[]> => {
  const { tools, skipped } = presentTools(
    sources,
    own.map(({ name }) => name),
  )
  for (const { name, reason } of skipped) parts.onSkipped(name, reason)
  return mapInTurns(tools, tool => compileUpstreamTool(tool, globals, parts))
}
