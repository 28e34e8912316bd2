import { MCP_SCOPES } from '../../lib/kernel/mcp-scopes.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { tooLarge } from '../../mcp/body.ts'
import type { Challenges } from '../../mcp/challenges.ts'
import { headerOf } from '../../mcp/headers.ts'
import type { HttpExchange } from '../../mcp/http-exchange.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { type Refusal, refusal } from '../../mcp/rpc-response.ts'
import type { ServerRequest } from '../../mcp/server-request.ts'
import type { CheckRoom } from '../../mcp/streams/listen.ts'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import type { PassthroughRoute } from '../route/passthroughs.ts'
import type { PassedTarget } from '../route/target.ts'
import { isLoop } from './request-headers.ts'
import { readPassedTarget } from './request-target.ts'

export type AdmittedPassage = { route: PassthroughRoute; target: PassedTarget }

/** Returns a refusal if the caller's token lacks the scope for calls. */
const checkScope = ({ http, caller }: ServerRequest, challenges: Challenges): Refusal | undefined => {
  const held = caller?.limitedTo
  if (held === undefined || held.has('mcp:call')) return undefined
  return challenges.insufficientScope(
    http,
    MCP_SCOPES.filter(scope => scope === 'mcp:call' || held.has(scope)),
  )
}

/** Whether the body has a Content-Length or is chunked. Other transfer codings are not decoded (RFC 9112 §6.1). */
const isFramingKnown = ({ headers }: HttpExchange): boolean =>
  headers['transfer-encoding'] === undefined || headers['transfer-encoding'].toLowerCase() === 'chunked'

/** Methods whose response repeats the request (RFC 9110 §9.3.8), including headers that are only for the upstream. */
const ECHO_METHODS: ReadonlySet<string | undefined> = new Set(['TRACE', 'TRACK'])

/**
 * Request destinations whose response becomes part of the page (fetch standard, "destination"). Our own pages trust
 * scripts and styles from their origin, and must not load any from an upstream through us.
 */
const PARTS_OF_PAGES: ReadonlySet<string> = new Set([
  'audioworklet',
  'embed',
  'font',
  'json',
  'manifest',
  'object',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'speculationrules',
  'style',
  'worker',
  'xslt',
])
const becomesPartOfPage = ({ headers }: HttpExchange): boolean =>
  PARTS_OF_PAGES.has(headerOf(headers, 'sec-fetch-dest') ?? '')

const check = (
  http: HttpExchange,
  { route }: CompiledPassthrough,
  maxRequestBytes: number,
): Result<AdmittedPassage, Refusal> => {
  const { headers, incoming } = http
  const target = readPassedTarget(incoming.url ?? '')
  if (ECHO_METHODS.has(incoming.method)) {
    return failure(refusal(405, ERROR.transport, 'This method would reveal what is sent to the MCP server'))
  }
  if (becomesPartOfPage(http)) {
    return failure(refusal(403, ERROR.transport, 'Forbidden: web pages cannot embed responses from this server'))
  }
  if (!target.ok) return failure(refusal(400, ERROR.transport, `Bad request: ${target.error}`))
  if (!isFramingKnown(http)) {
    const why = 'This Transfer-Encoding is not supported: send the body with its length, or chunked'
    return failure(refusal(501, ERROR.transport, why))
  }
  if (Number(headers['content-length']) > maxRequestBytes) return failure(tooLarge(maxRequestBytes))
  if (isLoop(headers)) return failure(refusal(508, ERROR.transport, 'This request is in a loop of passthrough servers'))
  if (!route.ok) return failure(refusal(503, ERROR.transport, route.error))
  return success({ route: route.value, target: target.value })
}

type AdmitPassageOptions = { challenges: Challenges; checkRoom: CheckRoom; maxRequestBytes: number }

/** Checks a request before it is passed on, after access to the server has been checked. */
export const createAdmitPassage =
  ({ challenges, checkRoom, maxRequestBytes }: AdmitPassageOptions) =>
  (request: ServerRequest, passthrough: CompiledPassthrough): Result<AdmittedPassage, Refusal> => {
    const refused = checkScope(request, challenges) ?? checkRoom(request.mounted)
    return refused === undefined ? check(request.http, passthrough, maxRequestBytes) : failure(refused)
  }
