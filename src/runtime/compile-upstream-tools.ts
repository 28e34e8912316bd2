import type { CallResult } from '../history/call-result.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import type { StopSignal } from '../lib/kernel/stop-signal.ts'
import { mapInTurns } from '../lib/worker/pause.ts'
import { toAttachedToolId } from '../limits/attached-tool.ts'
import type { ResultLimit } from '../results/budget/result-budget.ts'
import { readTexts } from '../results/budget/result-parts.ts'
import { type FreshPassedResult, isCached } from '../results/cache/response-cache.ts'
import { type Masker, MaskingError } from '../results/mask/masking.ts'
import { recordCall } from '../results/mask/record-call.ts'
import { shapePassed } from '../results/shape/shape-passed.ts'
import { toListedOutputSchema } from '../tools/schemas/listed-output-schema.ts'
import type { SchemaTrim } from '../tools/schemas/schema-check.ts'
import { isSecretArgument } from '../tools/secret-parameters.ts'
import type { CatalogueItem } from '../upstreams/catalogue/catalogue.ts'
import { presentedName, presentTools, toValidName, type UpstreamSource } from '../upstreams/catalogue/present-tools.ts'
import type { CallLink } from '../upstreams/connection/call-link.ts'
import { traceRequests } from '../upstreams/connection/call-trace.ts'
import {
  callUpstreamTool,
  explainUpstreamFault,
  findConnectUrl,
  resultOfUpstreamError,
  toUpstreamToolCall,
  type UpstreamToolCall,
} from '../upstreams/connection/call-upstream-tool.ts'
import type { UpstreamConnections } from '../upstreams/connection/upstream-connections.ts'
import type { UpstreamConversation } from '../upstreams/conversation/upstream-conversation.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { CallCost } from './call/call-cost.ts'
import type { CallContext, CompiledTool } from './call/compiled-tool.ts'
import { errorResult, findErrorText, INTERNAL_FAULT, isErrorResult, type PassedResult } from './call/tool-result.ts'
import { CallTimer } from './call-timer.ts'
import type { ExecutionParts } from './compile-tool.ts'
import { limitCalls } from './limited-call.ts'
import { withLink } from './linked-request.ts'
import type { OpenedGlobals } from './opened-globals.ts'
import { passOnError } from './pass-on-errors.ts'
import { planUpstreamResults, type UpstreamResultParts, type UpstreamResultRules } from './upstream-results.ts'

/**
 * The upstreams to compile. `absent` contains those that have never been fetched, so their items are missing from
 * lists.
 */
export type UpstreamSources = { sources: readonly UpstreamSource[]; absent: readonly Upstream[] }

export type UpstreamToolParts = UpstreamResultParts &
  Pick<ExecutionParts, 'recorder' | 'callAdmission' | 'onInternalError'> & {
    upstreamConnections: Pick<UpstreamConnections, 'findFor'>
    upstreamConversation: Pick<UpstreamConversation, 'logs' | 'dedicated' | 'route' | 'subscriptions'>
    /** Limits results to the token budget of the tool or the server. */
    limit: ResultLimit
  }

/** The parts of an upstream tool that calls need, without the members that describe it. */
type UpstreamTool = {
  upstream: Pick<Upstream, 'id' | 'serverId' | 'name'>
  item: UpstreamToolCall
  name: string
  rules: UpstreamResultRules
}

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Describes the call of an upstream tool as a request, for the history. */
const requestOf = ({ upstream, item }: UpstreamTool, body: string) => ({
  method: 'tools/call',
  url: `mcp:${upstream.name}/${encodeURIComponent(item.name.toWellFormed())}`,
  headers: [],
  body,
})

/** Returns the result before shaping, for the ledger to count. */
const toWhole = (received: FreshPassedResult | { ageMs: number }): Pick<CallCost, 'whole'> | undefined => {
  if (!('shapedFrom' in received) || received.shapedFrom === undefined) return undefined
  const { shapedFrom } = received
  return { whole: () => ({ tokens: 0, texts: readTexts(shapedFrom) }) }
}

const failed = (why: string, callResult: CallResult = 'failed'): FreshPassedResult => ({
  result: errorResult(why),
  callResult,
  responseBytes: 0,
})

/**
 * Returns whether the client is repeating a call with input that an upstream asked for. The result belongs only to that
 * call and must not be cached.
 */
const isRepeated = ({ link }: CallContext): boolean =>
  link?.peer?.kind === 'stateless' && (link.peer.requestState !== undefined || link.peer.inputResponses !== undefined)

/** Keys of the trace context, which differs for every request and so must not be part of a cache key. */
const TRACE: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/**
 * Returns everything that the result may depend on: the arguments and the client's `_meta` without the trace context,
 * such as the user's location.
 */
const cacheKeyOf = (args: JsonObject, { link }: CallContext): JsonValue => [
  args,
  Object.entries(link?.meta ?? {}).filter(([key]) => !TRACE.has(key)),
]

/** Key in a result's `_meta`. Its value tells the client where the caller can connect an account. */
const META_CONNECT = 'patchbay/connect'

/** Returns the result for a caller who must first connect an account: as text, and in `_meta` for programs. */
const connectResult = (text: string, { name }: Pick<Upstream, 'name'>, url: string): PassedResult => ({
  passed: { content: [{ type: 'text', text }], isError: true, _meta: { [META_CONNECT]: { upstream: name, url } } },
})

/** Leaves out the masked members of structured content that the tool's output schema refuses. */
const trimMasked = async (
  passed: JsonObject,
  trim: SchemaTrim | undefined,
  signal: StopSignal | undefined,
): Promise<JsonObject> => {
  const { structuredContent, isError } = passed
  if (trim === undefined || structuredContent === undefined || isError === true) return passed
  const checked = await trim(structuredContent, signal)
  if (checked.kind === 'match') return passed
  return { ...passed, structuredContent: (checked.kind === 'trimmed' ? checked.value : undefined) ?? {} }
}

const callOnce = async (
  { upstream, item, rules: { shaping, maskedTrim } }: UpstreamTool,
  args: JsonObject,
  { caller, signal, link }: CallContext,
  globalMasker: Masker,
  timer: CallTimer,
  { upstreamConnections, upstreamConversation, onInternalError }: UpstreamToolParts,
): Promise<FreshPassedResult> => {
  // Looked up for each call, because the connection may change while the server is mounted.
  const connection = upstreamConnections.findFor(upstream.id, caller?.userId)
  if (connection === undefined) return failed(`The MCP server "${upstream.name}" is disabled or was removed.`)
  // A response may also contain the tokens of the upstream's account.
  const masker = connection.secrets === undefined ? globalMasker : globalMasker.also(connection.secrets)
  try {
    const call = (dedicated: CallLink | undefined) => callUpstreamTool(connection, item, args, signal, dedicated)
    const received = await timer.waitFor(() =>
      traceRequests(timer.trace, () => withLink(link, upstream.id, masker, upstreamConversation, call)),
    )
    const masked = await masker.long.object(received, signal)
    const passed = masked === received ? received : await trimMasked(masked, maskedTrim, signal)
    const json = JSON.stringify(passed)
    const responseBytes = Buffer.byteLength(json)
    const shaped = shaping && (await shapePassed(passed, { masker, signal, ...shaping }))
    if (shaped === undefined) {
      // The MCP server works, so its tool has refused the call.
      return { result: { passed, json }, callResult: passed.isError === true ? 'rejected' : 'success', responseBytes }
    }
    const callResult = isErrorResult(shaped.result) ? 'failed' : 'success'
    return { ...shaped, callResult, responseBytes, shapedFrom: { passed } }
  } catch (error) {
    const why = explainUpstreamFault(error, upstream.name, connection.state(), masker.text)
    if (error instanceof MaskingError) return failed(error.message)
    if (why === undefined) onInternalError(error)
    if (why === undefined) return failed(INTERNAL_FAULT)
    const passedOn = passOnError(error, { link }, why, masker)
    if (passedOn !== undefined) {
      return { result: passedOn, callResult: isErrorResult(passedOn) ? 'rejected' : 'success', responseBytes: 0 }
    }
    const connectUrl = findConnectUrl(error)
    return connectUrl === undefined
      ? failed(why, resultOfUpstreamError(error))
      : { result: connectResult(why, upstream, connectUrl), callResult: 'failed', responseBytes: 0 }
  }
}

/** Members of a shaped or masked result that do not match are left out, which clients must accept. Other results are not changed. */
const listOutput = (schema: JsonObject, { shaping, maskedTrim }: UpstreamResultRules): JsonObject =>
  (shaping?.outputTrim ?? maskedTrim) === undefined ? schema : toListedOutputSchema(schema)

const compileOne = (
  tool: UpstreamTool,
  declared: JsonObject,
  { masker }: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const { upstream, item, name, rules } = tool
  // Task support only concerns Patchbay and the upstream, and Patchbay does not use tasks.
  const { title, description, inputSchema, outputSchema, annotations, execution: _execution, ...more } = declared
  const named = { serverId: upstream.serverId, name }
  const limited = {
    organizationId: parts.shapingContext.group,
    serverId: upstream.serverId,
    name,
    toolId: toAttachedToolId({ upstreamId: upstream.id, name: toValidName(item.name) }),
    instanceId: undefined,
    callPrice: undefined,
    isSecret: isSecretArgument,
  }
  const call: CompiledTool['call'] = async (args, context) => {
    const { caller, client, requestId } = context
    const timer = new CallTimer()
    const send = (signal: StopSignal) => callOnce(tool, args, { ...context, signal }, masker, timer, parts)
    const cachedSend = isRepeated(context) ? undefined : rules.cacheFor?.(context)
    const received = await (cachedSend === undefined
      ? callOnce(tool, args, context, masker, timer, parts)
      : cachedSend(cacheKeyOf(args, context), context.signal, send))
    const { result, responseBytes } = received
    const durationMs = timer.end()
    const error = findErrorText(result)
    const body = JSON.stringify({ name: item.name, arguments: args })
    const executionId = recordCall(parts.recorder, masker, {
      serverId: upstream.serverId,
      tool: name,
      caller,
      client,
      requestId,
      startedAt: timer.startedAt,
      durationMs,
      timing: timer.timing(),
      attempts: timer.attempts(),
      result: isCached(received) ? 'success' : received.callResult,
      status: undefined,
      requestBytes: Buffer.byteLength(body),
      responseBytes,
      error,
      request: requestOf(tool, body),
      cached: isCached(received) ? received : undefined,
      schemaMismatch: received.schemaMismatch,
      arguments: { values: args, isSecret: isSecretArgument },
    })
    // Only a successful call proves that the tool exists.
    const isMismatch = received.schemaMismatch !== undefined
    return {
      result,
      cost: { executionId, isMismatch, ...(error === undefined && { tool: named, ...toWhole(received) }) },
    }
  }
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    outputSchema: isJsonObject(outputSchema) ? listOutput(outputSchema, rules) : undefined,
    annotations: isJsonObject(annotations) ? annotations : undefined,
    more,
    isReadOnly: rules.isReadOnly,
    isLinked: true,
    call: limitCalls(limited, call, { ...parts, masker }),
  }
}

/** Compiles an upstream tool under its name on the server. The name is unique and is also used in the history. */
export const compileUpstreamTool = (
  upstream: Upstream,
  item: CatalogueItem,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const { id, serverId, name } = upstream
  const tool: UpstreamTool = {
    upstream: { id, serverId, name },
    item: toUpstreamToolCall(item),
    name: presentedName(upstream, item.name),
    rules: planUpstreamResults(upstream, item, globals, parts),
  }
  return { ...parts.limit(compileOne(tool, item.declared, globals, parts), tool.rules.responseTokens), group: name }
}

/**
 * Compiles the upstreams' tools. If several tools share a name, lists only one: the server's own tool, or else the tool
 * of the upstream whose name sorts first. `onSkipped` receives the others.
 */
export const compileUpstreamTools = (
  sources: readonly UpstreamSource[],
  dedicated: readonly CompiledTool[],
  globals: OpenedGlobals,
  parts: UpstreamToolParts & { onSkipped: (tool: string, reason: string) => void },
): Promise<CompiledTool[]> => {
  const { tools, skipped } = presentTools(
    sources,
    dedicated.map(({ name }) => name),
  )
  for (const { name, reason } of skipped) parts.onSkipped(name, reason)
  return mapInTurns(tools, ({ upstream, item }) => compileUpstreamTool(upstream, item, globals, parts))
}
