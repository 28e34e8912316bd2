import { isReservedHeader } from '../kernel/http-headers.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { ACCEPTED_ENCODINGS } from './content-encoding.ts'
import type { OutboundRequest } from './http-client.ts'
import type { Target } from './target.ts'

/** One request of a call: the first, or what a redirect made of it. */
export type Hop = {
  target: Target
  method: string
  /** What the tool configures. */
  configured: OutboundRequest['headers']
  /** Names and values in turn, as they go out: what is configured, and the client's own. */
  headers: string[]
  body: string | undefined
}

const buildHeaders = (configured: OutboundRequest['headers']): Result<string[], string> => {
  const headers: string[] = []
  let hasUserAgent = false
  let hasAccept = false
  let hasAcceptEncoding = false
  for (const [name, value] of configured) {
    const lower = name.toLowerCase()
    if (isReservedHeader(lower)) return failure(`the header ${name} cannot be set by a tool`)
    if (lower === 'user-agent') hasUserAgent = true
    else if (lower === 'accept') hasAccept = true
    else if (lower === 'accept-encoding') hasAcceptEncoding = true
    headers.push(name, value)
  }
  if (!hasUserAgent) headers.push('user-agent', 'patchbay')
  if (!hasAccept) headers.push('accept', '*/*')
  if (!hasAcceptEncoding) headers.push('accept-encoding', ACCEPTED_ENCODINGS)
  return success(headers)
}

const buildHop = (hop: Omit<Hop, 'headers'>): Result<Hop, string> => {
  const headers = buildHeaders(hop.configured)
  return headers.ok ? success({ ...hop, headers: headers.value }) : headers
}

/** The first request of a call. The error says what in it cannot be sent. */
export const buildFirstHop = (
  { method, headers, body }: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  target: Target,
): Result<Hop, string> =>
  method === 'CONNECT'
    ? failure('the method CONNECT opens a tunnel and cannot be used')
    : buildHop({ target, method, configured: headers, body })

/** Redirects that keep to the method (307, 308) and those that turn it into GET, the latter as browsers do. */
const REDIRECTS = new Set([301, 302, 303, 307, 308])
export const isRedirect = (status: number): boolean => REDIRECTS.has(status)

const becomesGet = (status: number, method: string): boolean =>
  (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')

const nothing = (): boolean => false

/**
 * What a redirect makes of a request (RFC 9110 §15.4). Across origins neither a configured header nor a body goes
 * along, but for headers that `keepsAcrossOrigins` names: any other may hold a secret; nor does anything go from https
 * to http. The error says which rule refused it.
 */
export const buildNextHop = (
  hop: Hop,
  status: number,
  target: Target,
  keepsAcrossOrigins: (lowerCaseName: string) => boolean = nothing,
): Result<Hop, string> => {
  const isElsewhere = target.origin !== hop.target.origin
  if (hop.target.origin.startsWith('https:') && !target.origin.startsWith('https:')) {
    return failure(`${hop.target.host} redirected from https to http`)
  }
  const isGet = becomesGet(status, hop.method)
  const body = isGet ? undefined : hop.body
  if (isElsewhere && body !== undefined) {
    return failure(`${hop.target.host} redirected a request with a body to another origin, ${target.origin}`)
  }
  const configured = hop.configured.filter(([name]) => {
    const lower = name.toLowerCase()
    return isElsewhere ? keepsAcrossOrigins(lower) : !(isGet && lower.startsWith('content-'))
  })
  return buildHop({ target, method: isGet ? 'GET' : hop.method, configured, body })
}
