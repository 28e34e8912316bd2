import type { OutboundFault, ProxyFault } from '../../platform/net/index.ts'
import type { PassthroughWay } from '../../upstreams/index.ts'
import { type Refusal, refusal } from '../answer.ts'
import { ERROR } from '../protocol.ts'

/** The upstream, or a proxy before it, asks for other credentials than it got. */
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 407])
/** Statuses by which a gateway says that nobody is behind it. */
const NOBODY: ReadonlySet<number> = new Set([502, 503, 504])

export const isUnauthorized = (status: number): boolean => UNAUTHORIZED.has(status)
export const saysNobody = (status: number): boolean => NOBODY.has(status)

/** A client that was told 401 would ask our authorization server for another token, which would change nothing. */
export const credentialsRefusal = (status: number): Refusal =>
  refusal(502, ERROR.transport, `The upstream answered ${status}: it does not take the credentials configured for it`)

const STATUS_OF: Partial<Record<OutboundFault, number>> = { timeout: 504, connect_timeout: 504 }

export const faultRefusal = ({ error, isUnsent }: ProxyFault): Refusal => {
  const status = isUnsent ? 503 : (STATUS_OF[error.fault] ?? 502)
  return refusal(status, ERROR.transport, `The upstream gave no answer: ${error.message}`)
}

export const downRefusal = ({ upstream, balancer }: PassthroughWay): Refusal => {
  const why = balancer.whyDown()
  const text = `The upstream "${upstream}" cannot be reached at any of its addresses`
  return refusal(503, ERROR.transport, why === undefined ? text : `${text}: ${why}`)
}

export const tooLarge = (maxBytes: number): Refusal =>
  refusal(413, ERROR.transport, `The request body is over ${maxBytes} bytes (PATCHBAY_MAX_REQUEST_BYTES)`)

/** An address that is down is looked at this often: then it may be back. */
export const RETRY_SOON = ['retry-after', '1'] as const
