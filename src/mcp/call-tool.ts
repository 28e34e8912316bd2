import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { nextTurn } from '../lib/worker/pause.ts'
import { withNextPage } from '../runtime/call/compiled-tool.ts'
import {
  type BlocksResult,
  isLongText,
  isPassed,
  isRefused,
  type LongText,
  type PassedResult,
} from '../runtime/call/tool-result.ts'
import type { Call } from './call.ts'
import { internalError, type ReportFault } from './http-exchange.ts'
import type { Era } from './registry/listing.ts'
import type { RoutedCall, Router } from './registry/router.ts'
import {
  bytesResponse,
  errorResponse,
  invalidParams,
  type Json,
  type Refusal,
  type RpcResponse,
  resultResponse,
  upstreamRefusal,
} from './rpc-response.ts'

type Structured = { structuredContent?: unknown; content?: unknown }

/** Adds structured content that is not an object as text, for clients that read only text (server/tools). */
const withText = <R extends Structured>(result: R): R => {
  const { structuredContent, content } = result
  if (structuredContent === undefined || isJsonObject(structuredContent)) return result
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  if (blocks.some(block => isJsonObject(block) && block.type === 'text')) return result
  return { ...result, content: [...blocks, { type: 'text', text: JSON.stringify(structuredContent) }] }
}

/** Wraps structured content as the member `result` where needed, because it must be an object before 2026-07-28. */
const withObject = <R extends Structured>(result: R, isOutputWrapped: boolean): R => {
  const { structuredContent } = result
  const isWrapped = structuredContent !== undefined && (isOutputWrapped || !isJsonObject(structuredContent))
  return isWrapped ? { ...result, structuredContent: { result: structuredContent } } : result
}

const renderSessionResult = (result: BlocksResult, isOutputWrapped: boolean): string =>
  JSON.stringify(withObject(withText(result), isOutputWrapped))

/** Renders a result with its type and the server's name and version (2026-07-28, basic). */
const renderStatelessResult = (router: Router, result: BlocksResult): string =>
  `${router.statelessHead},${JSON.stringify(withText(result)).slice(1)}`

const INPUT_REQUIRED = 'input_required'

/** Whether the result asks the client to repeat its request with more input (2026-07-28). */
export const isInputRequired = ({ resultType }: JsonObject): boolean => resultType === INPUT_REQUIRED

/** Renders an upstream's result for the caller's era, with our `_meta` merged into that of the result. */
export const renderPassed = (
  router: Router,
  { passed, json }: PassedResult,
  era: Era,
  isOutputWrapped: boolean,
): string => {
  const complete = withText(passed)
  if (era === 'stateless') {
    const hasOwn = '_meta' in passed || 'resultType' in passed
    if (json !== undefined && complete === passed && !hasOwn && json !== '{}')
      return `${router.statelessHead},${json.slice(1)}`
    const own = isJsonObject(complete._meta) ? complete._meta : {}
    return JSON.stringify({
      ...complete,
      resultType: isInputRequired(passed) ? INPUT_REQUIRED : 'complete',
      _meta: { ...own, ...router.meta },
    })
  }
  const shown = withObject(complete, isOutputWrapped)
  return json !== undefined && shown === passed ? json : JSON.stringify(shown)
}

/** Number of bytes escaped at once, small enough for V8 to treat the strings as small objects. */
const PIECE_BYTES = 64 * 1_024
/**
 * Number of pieces that are escaped before other work runs. With more, the calls of others wait longer. With fewer, large
 * results stay in memory longer, which takes more garbage collection.
 */
const PIECES_PER_TURN = 2
const CLOSING = Buffer.from('}}')
const CLOSING_STRUCTURED = Buffer.from('}}}')

/**
 * Escapes UTF-8 for a JSON string, in pieces. Other work can run after some of them, because 10 MB take 15 ms. Reads
 * the bytes as Latin-1, because JSON escapes only ASCII characters. No decoding is needed, and a character may span two
 * pieces.
 */
const escapeUtf8 = async (utf8: Buffer): Promise<Buffer[]> => {
  const pieces: Buffer[] = []
  for (let at = 0; at < utf8.length; at += PIECE_BYTES) {
    if (at > 0 && pieces.length % PIECES_PER_TURN === 0) await nextTurn()
    const quoted = Buffer.from(JSON.stringify(utf8.toString('latin1', at, at + PIECE_BYTES)), 'latin1')
    pieces.push(quoted.subarray(1, -1))
  }
  return pieces
}

const closeLongText = ({ utf8, structuredAs, after }: LongText): Buffer[] => {
  const block = after === undefined ? '' : `,${JSON.stringify({ type: 'text', text: after })}`
  const end = Buffer.from(`"}${block}]`)
  return structuredAs === undefined
    ? [end, CLOSING]
    : [end, Buffer.from(`,"structuredContent":{"${structuredAs}":`), utf8, CLOSING_STRUCTURED]
}

/** Renders a long text as a result, including the closing brace of the envelope. */
const renderLongText = async (router: Router, text: LongText, era: Era): Promise<Json> => ({
  head: `${era === 'stateless' ? `${router.statelessHead},` : '{'}"content":[{"type":"text","text":"`,
  rest: [...(await escapeUtf8(text.utf8)), ...closeLongText(text)],
})

/** Returns the tool that a tools/call names and its arguments, or a refusal (server/tools, "Error Handling"). */
export const findTool = (router: Router, params: JsonObject | undefined): RoutedCall | Refusal => {
  const name = params?.name
  if (typeof name !== 'string') return invalidParams('Invalid params: name is missing or not a string')
  const args = params?.arguments === undefined ? {} : params.arguments
  if (!isJsonObject(args)) return invalidParams('Invalid params: arguments is not an object')
  const routed = router.tools.get(name)
  if (routed !== undefined) return { routed, args }
  return invalidParams(router.server.explainMissing?.('tools', name) ?? `Unknown tool: ${name}`)
}

/** Calls a tool. Returns the tool's own errors as results, so that the model can read them and correct the call. */
export const callTool = async (
  router: Router,
  { routed: { tool, isOutputWrapped }, args }: RoutedCall,
  call: Call,
  era: Era,
  report: ReportFault,
): Promise<RpcResponse> => {
  const { id } = call
  try {
    const outcome = withNextPage(await tool.call(args, call))
    router.server.noteSent?.(outcome, call.signal)
    const { result } = outcome
    if (isRefused(result)) return errorResponse(id, upstreamRefusal(result.refused, era))
    if (isPassed(result)) return resultResponse(id, renderPassed(router, result, era, isOutputWrapped))
    if (isLongText(result)) return bytesResponse(id, await renderLongText(router, result, era))
    const text =
      era === 'stateless' ? renderStatelessResult(router, result) : renderSessionResult(result, isOutputWrapped)
    return resultResponse(id, text)
  } catch (error) {
    report(error, 'unexpected error in a tool call', call.requestId)
    return errorResponse(id, internalError(200, call.requestId))
  }
}
