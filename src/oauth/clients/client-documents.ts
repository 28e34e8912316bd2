import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Client } from 'oidc-provider'
import type { Counters } from '../../lib/db/counters.ts'
import { networkOf } from '../../lib/http/network.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { HttpClient, OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import { checkRedirectUris } from './redirects.ts'
import { normalizeRegistration } from './registration.ts'

/** Documents have a few hundred bytes, and the draft considers 5 kB sufficient (§6.6). */
export const MAX_DOCUMENT_BYTES = 5 * 1_024
/** Timeout for fetching a document. It is short because a browser is waiting. */
const DOCUMENT_TIMEOUT_MS = 2_500
/** Maximum number of fetches per client network and window. Cached documents do not count. */
const MAX_FETCHES = 60
/**
 * The limit for documents that were valid before. Hosted clients refresh the tokens of many users from few addresses.
 */
const MAX_KNOWN_FETCHES = 1_000
const FETCHES_WINDOW_MS = 60 * 60 * 1_000
const MAX_CLIENT_ID_CHARACTERS = 2_048

/** Maximum number of documents that are cached in case their hosts fail. */
const MAX_CACHED = 500
/** How long a cached document is used if it cannot be fetched. */
const CACHE_MS = 24 * 60 * 60 * 1_000

/** Statuses of responses that cannot have a body (Fetch §2.2.6). */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304])

/** Members that the library receives. Some others would make it fetch more for each request of the client. */
const MEMBERS_READ: ReadonlySet<string> = new Set([
  'client_id',
  'client_name',
  'client_uri',
  'redirect_uris',
  'application_type',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  // Not allowed in a document, but passed on so that the library rejects it.
  'client_secret',
  'client_secret_expires_at',
])

const parseDocument = (body: Buffer): JsonObject | undefined => {
  try {
    const document: unknown = JSON.parse(body.toString())
    return isJsonObject(document) ? document : undefined
  } catch {
    return undefined
  }
}

/**
 * Normalizes a document like a registration, and drops unsupported values. Leaves an invalid document unchanged, so
 * that the library reports the error.
 */
const readDocument = (url: string, body: Buffer): { document: JsonObject; isValid: boolean } | undefined => {
  const parsed = parseDocument(body)
  if (parsed === undefined) return undefined
  const document = Object.fromEntries(Object.entries(parsed).filter(([name]) => MEMBERS_READ.has(name)))
  const normal = normalizeRegistration(document)
  if (!normal.ok) return { document, isValid: false }
  return { document: { ...document, ...normal.value }, isValid: document.client_id === url }
}

const toResponse = (url: string, { status, headers, body }: OutboundResponse): Response => {
  const responseHeaders = new Headers()
  for (const name of ['cache-control', 'expires', 'content-type']) {
    const value = headers[name]
    if (value !== undefined) responseHeaders.set(name, [value].flat().join(', '))
  }
  const document = status === 200 ? readDocument(url, body)?.document : undefined
  const content = document === undefined ? new Uint8Array(body) : JSON.stringify(document)
  return new Response(BODYLESS.has(status) ? null : content, { status, headers: responseHeaders })
}

/**
 * The request that caused a fetch. Undefined if one of our pages needs a document that has just
 * expired in the library's cache.
 */
type FetchContext = { ip: string; req: IncomingMessage } | undefined

/** Checks that a document has a name, as MCP requires, and redirect URIs that are allowed for all clients. */
const allowClient = async (_ctx: unknown, { clientName, redirectUris = [] }: Client): Promise<boolean> =>
  clientName !== undefined && redirectUris.length > 0 && checkRedirectUris(redirectUris).ok

/**
 * Fetches client metadata documents for the library, and decides which may be fetched and accepted. Follows no
 * redirects and connects only to public addresses, even if tools may reach others. If a document's host fails, the last
 * valid document is used (RFC 9111 §4.2.4), so that connected clients keep working.
 */
export const createClientDocuments = ({ send }: Pick<HttpClient, 'send'>, counters: Counters) => {
  const lastValid = new LRUCache<string, OutboundResponse>({ max: MAX_CACHED, ttl: CACHE_MS })
  const fetchedFor = new WeakSet<IncomingMessage>()

  const fetchDocument = async (url: string, signal: AbortSignal | undefined): Promise<OutboundResponse> => {
    const limits = { timeoutMs: DOCUMENT_TIMEOUT_MS, maxResponseBytes: MAX_DOCUMENT_BYTES, signal }
    const request = { method: 'GET', url, headers: [['accept', 'application/json']] as const }
    try {
      const response = await send({ ...request, ...limits, organizationId: undefined })
      if (response.status === 200 && readDocument(url, response.body)?.isValid) lastValid.set(url, response)
      return response.status >= 500 ? (lastValid.get(url) ?? response) : response
    } catch (error) {
      const cached = lastValid.get(url)
      if (cached === undefined) throw error
      return cached
    }
  }

  return {
    fetch: async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const url = input instanceof Request ? input.url : String(input)
      return toResponse(url, await fetchDocument(url, init?.signal ?? undefined))
    },

    allowFetch: async (ctx: FetchContext, clientId: string): Promise<boolean> => {
      if (clientId.length > MAX_CLIENT_ID_CHARACTERS) return false
      if (ctx !== undefined) {
        // Allows one fetch per request. The library looks up the client again when it reports an error to the client.
        if (fetchedFor.has(ctx.req)) return false
        fetchedFor.add(ctx.req)
      }
      const [most, name] = lastValid.has(clientId)
        ? [MAX_KNOWN_FETCHES, 'oauth-known-document']
        : [MAX_FETCHES, 'oauth-document']
      // Fetches for our pages have no request here, so they are counted per document. An earlier request, perhaps in
      // another process, has fetched the same document.
      const who = ctx === undefined ? hash('sha256', clientId) : networkOf(ctx.ip)
      const { count } = await counters.increment(`${name}:${who}`, FETCHES_WINDOW_MS)
      return count <= most
    },

    allowClient,
  }
}
