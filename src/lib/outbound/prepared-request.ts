import { isReservedHeader } from '../kernel/http-headers.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { ACCEPTED_ENCODINGS } from './content-encoding.ts'
import type { OutboundRequest } from './outbound-request.ts'
import type { Target } from './target.ts'

/** A checked request: the original one, or one built for a redirect. */
export type PreparedRequest = {
  target: Target
  method: string
  /** The headers of the original request that are still sent after redirects. */
  configured: OutboundRequest['headers']
  /** Alternating names and values of the configured headers and our own. */
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

/** Prepares a request. The error says which part of the request is not allowed. */
export const prepareRequest = (
  { method, headers: configured, body }: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  target: Target,
): Result<PreparedRequest, string> => {
  if (method === 'CONNECT') return failure('the method CONNECT opens a tunnel and cannot be used')
  const headers = buildHeaders(configured)
  return headers.ok ? success({ target, method, configured, headers: headers.value, body }) : headers
}
