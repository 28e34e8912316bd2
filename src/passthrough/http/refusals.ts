import type { OutboundFault } from '../../lib/outbound/outbound-request.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { type Refusal, refusal } from '../../mcp/rpc-response.ts'
import type { ProxyFault } from '../proxy/reverse-proxy.ts'
import type { PassthroughRoute } from '../route/passthroughs.ts'

/** The upstream, or a proxy before it, rejects its credentials. */
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 407])

export const isUnauthorized = (status: number): boolean => UNAUTHORIZED.has(status)

/** Not a 401: the client would request a new token from our authorization server, which would not help. */
export const credentialsRefusal = (status: number): Refusal =>
  refusal(502, ERROR.transport, `The upstream responded with ${status}: it rejects the configured credentials`)

const STATUS_OF: Partial<Record<OutboundFault, number>> = { timeout: 504, connect_timeout: 504 }

/** An address that is down is tried again after a second, when it may be back. */
const retrySoon = (why: string): Refusal => ({
  ...refusal(503, ERROR.transport, why),
  headers: ['retry-after', '1'],
})

export const faultRefusal = ({ error, isUnsent }: ProxyFault): Refusal => {
  const why = `The upstream did not respond: ${error.message}`
  return isUnsent ? retrySoon(why) : refusal(STATUS_OF[error.fault] ?? 502, ERROR.transport, why)
}

export const downRefusal = ({ upstream, balancer }: PassthroughRoute): Refusal => {
  const why = balancer.whyDown()
  const text = `The upstream "${upstream}" cannot be reached at any of its addresses`
  return retrySoon(why === undefined ? text : `${text}: ${why}`)
}
