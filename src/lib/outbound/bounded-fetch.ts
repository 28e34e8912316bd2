import { CONNECT_TIMEOUT_MS } from '../kernel/limits.ts'
import { success } from '../kernel/result.ts'
import { createHttpClient } from './client.ts'
import type { ResponseHead } from './dispatch.ts'
import { MAX_STATUS, toOutboundError, unknownStatusProblem } from './faults.ts'
import { operatorLookup } from './name-resolver.ts'
import type { HttpClient, OutboundRequest } from './outbound-request.ts'

/** Statuses of responses without a body (Fetch standard, "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])
/** A valid reason phrase (RFC 9112 §4). `Response` throws for any other. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/
/** Maximum sockets per origin for trusted addresses, which receive few concurrent requests. */
const MAX_SOCKETS = 16

/** Limits of one request and its complete response. */
export type FetchBounds = { timeoutMs: number; maxResponseBytes: number }

/** The options that libraries pass to a custom `fetch`. */
export type BoundedRequest = {
  method?: string | undefined
  headers?: ConstructorParameters<typeof Headers>[0]
  body?: unknown
  signal?: AbortSignal | null | undefined
}

export type BoundedFetch = (url: string | URL, request?: BoundedRequest) => Promise<Response>

/**
 * Builds a `Response`, without a body if the status does not allow one, and without an invalid reason phrase, which has
 * no meaning in HTTP.
 */
export const toResponse = (
  { status, statusText, headers }: Readonly<ResponseHead>,
  body: ConstructorParameters<typeof Response>[0],
): Response => {
  const fields = new Headers()
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) fields.append(name, value)
  }
  const reason = REASON.test(statusText) ? statusText : ''
  return new Response(NO_BODY.has(status) ? null : body, { status, statusText: reason, headers: fields })
}

const toText = (body: unknown): string | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('only text and forms can be sent')
}

/**
 * Creates a `fetch` for libraries. Responses are complete and within a timeout and a size limit. Throws OutboundError.
 */
export const createBoundedFetch =
  (
    { send }: Pick<HttpClient, 'send'>,
    bounds: FetchBounds & Pick<OutboundRequest, 'organizationId' | 'credentials'>,
  ): BoundedFetch =>
  async (url, { method = 'GET', headers, body, signal } = {}) => {
    const sent = [...new Headers(headers)]
    const request = { method, url: String(url), headers: sent, body: toText(body), ...bounds }
    const startedAt = performance.now()
    const response = await send({ ...request, signal: signal ?? undefined })
    if (response.status > MAX_STATUS) {
      const { host } = new URL(response.url)
      throw toOutboundError(unknownStatusProblem(host, response.status), performance.now() - startedAt)
    }
    return toResponse(response, new Uint8Array(response.body))
  }

/**
 * Creates a `fetch` for addresses that the operator configured, and for addresses discovered through them. Allows every
 * address, including private ones, but does not follow redirects.
 */
export const createTrustedFetch = (bounds: FetchBounds): { fetch: BoundedFetch; close: () => Promise<void> } => {
  const client = createHttpClient({
    policy: () => success(undefined),
    maxRedirects: 0,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, bounds.timeoutMs),
    maxSockets: MAX_SOCKETS,
    lookup: operatorLookup(),
  })
  return { fetch: createBoundedFetch(client, { ...bounds, organizationId: undefined }), close: () => client.close() }
}
