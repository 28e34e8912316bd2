import { PROBLEM_MEDIA_TYPE, type Problem } from '../../lib/http/problem.ts'
import type { OutboundFault } from '../../lib/outbound/outbound-fault.ts'
import { type HttpExchange, writeHead } from '../../mcp/http-exchange.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { type Refusal, refusal } from '../../mcp/rpc-response.ts'
import type { ProxyFault } from '../proxy/reverse-proxy.ts'
import type { PassthroughRoute } from '../route/passthroughs.ts'
import { CONFINED } from './response-headers.ts'

/** Statuses with which the upstream, or a proxy in front of it, rejects credentials. */
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 407])

export const isUnauthorized = (status: number): boolean => UNAUTHORIZED.has(status)

/**
 * Refuses with 502, not 401: after a 401 the client would request a new token from our
 * authorization server, which would not help.
 */
export const credentialsRefusal = (status: number): Refusal =>
  refusal(502, ERROR.transport, `The MCP server responded with ${status}: it rejects the configured credentials`)

/** Writes a problem document (RFC 9457) with 502, for clients that expect a page. */
export const writeBadGateway = (http: HttpExchange, detail: string): void => {
  const { requestId } = http
  const problem = { type: 'about:blank', title: 'Bad Gateway', status: 502, detail, requestId } satisfies Problem
  const body = JSON.stringify(problem)
  const length = String(Buffer.byteLength(body))
  writeHead(http, 502, ['content-type', PROBLEM_MEDIA_TYPE, 'content-length', length, ...CONFINED])
  http.raw.end(body)
}

const STATUS_OF: Partial<Record<OutboundFault, number>> = { timeout: 504, connect_timeout: 504 }

/** Tells the client to retry after a second. By that time, an address that is down has been probed again. */
const retrySoon = (why: string): Refusal => ({
  ...refusal(503, ERROR.transport, why),
  headers: ['retry-after', '1'],
})

export const faultRefusal = ({ error, isUnsent }: ProxyFault): Refusal => {
  const why = `The MCP server did not respond: ${error.message}`
  return isUnsent ? retrySoon(why) : refusal(STATUS_OF[error.fault] ?? 502, ERROR.transport, why)
}

export const downRefusal = ({ upstream, balancer }: PassthroughRoute): Refusal => {
  const why = balancer.whyDown()
  const text = `The MCP server "${upstream}" cannot be reached at any of its addresses`
  return retrySoon(why === undefined ? text : `${text}: ${why}`)
}
