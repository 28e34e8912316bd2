import { mapInTurns } from '../context/index.ts'
import { newExecutionId } from '../history/index.ts'
import { isJsonObject, type JsonObject, type JsonValue, type StopSignal } from '../kernel/index.ts'
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
import { readTexts } from './budget/answer-parts.ts'
import type { CallAccount } from './call-account.ts'
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
import { isAgain, type PassedFresh } from './kept/answer-keeping.ts'
import { withLink } from './linked-request.ts'
import { maskResult } from './mask-json.ts'
import type { Masker } from './masking.ts'
import { answerAddresses } from './pass-addresses.ts'
import { ERROR_CHARACTERS, markAgain, toMicroseconds } from './perform-call.ts'
import { shapePassed } from './shape-passed.ts'
import { maskBeginning, shortenRequest } from './shorten-request.ts'
import { planUpstreamAnswers, type UpstreamAnswerParts, type UpstreamAnswers } from './upstream-answers.ts'

/** `absent`: upstreams that were never heard yet, so that the lists lack what they offer. */
export type UpstreamSources = { sources: readonly UpstreamSource[]; absent: readonly Upstream[] }

export type UpstreamToolParts = UpstreamAnswerParts &
  Pick<ExecutionParts, 'recorder' | 'onInternalError'> & {
    connections: Pick<UpstreamConnections, 'findFor'>
    exchange: Pick<UpstreamExchange, 'logs' | 'own' | 'route' | 'subscriptions'>
    /** Holds answers to the budget of their server, or to the tool's own. */
    limit: AnswerBudget['limit']
  }

/** What a call takes; what describes the tool is not in it. */
type UpstreamTool = {
  upstream: Pick<Upstream, 'id' | 'serverId' | 'name'>
  item: UpstreamToolCall
  name: string
  answers: UpstreamAnswers
}

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

/** A call as history keeps it: what was asked of which upstream, where an HTTP tool has its request. */
const requestOf = ({ upstream, item }: UpstreamTool, body: string) =>
  shortenRequest({
    method: 'tools/call',
    url: `mcp:${upstream.name}/${encodeURIComponent(item.name.toWellFormed())}`,
    headers: [],
    body,
  })

/** What the ledger is told of an answer that was shaped: all that it was before. */
const toWhole = (answer: PassedFresh | { ageMs: number }): Pick<CallAccount, 'whole' | 'bytes'> | undefined => {
  if (!('shapedFrom' in answer) || answer.shapedFrom === undefined) return undefined
  const { shapedFrom, responseBytes } = answer
  return { whole: () => ({ tokens: 0, texts: readTexts(shapedFrom) }), bytes: responseBytes }
}

const failed = (why: string): PassedFresh => ({ result: errorResult(why), responseBytes: 0 })

/** Whether a client comes back with what it was asked for: that is for the one call that waits for it. */
const isRepeated = ({ link }: CallContext): boolean =>
  link?.peer?.kind === 'stateless' && (link.peer.requestState !== undefined || link.peer.inputResponses !== undefined)

/** What says no more than which trace a request is part of: each has another. */
const TRACE: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** What the answer may depend on: the arguments, and what the client says beside them, such as where its user is. */
const askedBy = (args: JsonObject, { link }: CallContext): JsonValue => [
  args,
  Object.entries(link?.meta ?? {}).filter(([key]) => !TRACE.has(key)),
]

const callOnce = async (
  { upstream, item, answers: { shaping } }: UpstreamTool,
  args: JsonObject,
  { caller, signal, link }: CallContext,
  globalMasker: Masker,
  { connections, exchange, onInternalError }: UpstreamToolParts,
): Promise<PassedFresh> => {
  // By its id with each call: what it was when the server was mounted may be closed.
  const connection = connections.findFor(upstream.id, caller?.userId)
  if (connection === undefined) return failed(`The upstream "${upstream.name}" is disabled, or was removed.`)
  const masker = withAccountHidden(globalMasker, connection)
  try {
    const call = (own: CallLink | undefined) => callUpstreamTool(connection, item, args, signal, own)
    const passed = await maskResult(await withLink(link, upstream.id, masker, exchange, call), masker)
    const json = JSON.stringify(passed)
    const responseBytes = Buffer.byteLength(json)
    const shaped = shaping && (await shapePassed(passed, { masker, ...shaping }))
    return shaped === undefined
      ? { result: { passed, json }, responseBytes }
      : { result: shaped, responseBytes, shapedFrom: { passed } }
  } catch (error) {
    const why = explainUpstreamFault(error, upstream.name, connection.state(), masker.text)
    if (why === undefined) onInternalError(error)
    if (why === undefined) return failed(INTERNAL_FAULT)
    const asked = answerAddresses(error, { link }, why, masker)
    if (asked !== undefined) return { result: asked, responseBytes: 0 }
    const connectUrl = findConnectUrl(error)
    return connectUrl === undefined
      ? failed(why)
      : { result: connectResult(why, upstream, connectUrl), responseBytes: 0 }
  }
}

const compileOne = (
  tool: UpstreamTool,
  declared: JsonObject,
  { masker }: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const { upstream, item, name, answers } = tool
  // What a tool says of tasks holds between the upstream and us, where there are none.
  const { title, description, inputSchema, outputSchema, annotations, execution: _execution, ...more } = declared
  const named = { serverId: upstream.serverId, name }
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
    annotations: isJsonObject(annotations) ? annotations : undefined,
    more,
    isReadOnly: answers.isReadOnly,
    isLinked: true,
    call: async (given, context) => {
      const { caller, client } = context
      const startedAt = new Date()
      const startedMs = performance.now()
      const args = isJsonObject(given) ? given : {}
      const send = (signal: StopSignal) => callOnce(tool, args, { ...context, signal }, masker, parts)
      const keeping = isRepeated(context) ? undefined : answers.keepingFor?.(context)
      const answer = await (keeping === undefined
        ? callOnce(tool, args, context, masker, parts)
        : keeping(askedBy(args, context), context.signal, send))
      const { result, responseBytes } = answer
      const durationMs = toMicroseconds(performance.now() - startedMs)
      const error = errorOf(result)
      const body = JSON.stringify({ name: item.name, arguments: args })
      const executionId = newExecutionId()
      parts.recorder.record({
        id: executionId,
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
        responseBytes,
        error,
        request: markAgain(requestOf(tool, maskBeginning(body, masker)), isAgain(answer) ? answer : undefined),
      })
      // Whether there is a tool of that name, only an upstream that did not fail has said.
      context.account = { executionId, ...(error === undefined && { tool: named, ...toWhole(answer) }) }
      return result
    },
  }
}

/** One tool of an upstream; `name`: as history knows it, and clients where each tool stands by itself. */
export const compileUpstreamTool = (
  presented: PresentedTool,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => {
  const { upstream, item, name } = presented
  const { id, serverId, name: upstreamName } = upstream
  const tool: UpstreamTool = {
    upstream: { id, serverId, name: upstreamName },
    item: toUpstreamToolCall(item),
    name,
    answers: planUpstreamAnswers(presented, globals, parts),
  }
  return parts.limit(compileOne(tool, item.declared, globals, parts), tool.answers.responseTokens)
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
