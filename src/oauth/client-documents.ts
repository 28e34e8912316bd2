import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Client } from 'oidc-provider'
import type { Counters } from '../platform/counters/index.ts'
import type { HttpClient, OutboundResponse } from '../platform/net/index.ts'
import { checkRedirectUris } from './redirects.ts'

/** A document is a few hundred bytes; the draft says that 5 kB are enough (§6.6). */
export const MAX_DOCUMENT_BYTES = 5 * 1_024
/** Fetching one keeps a browser waiting. */
const DOCUMENT_TIMEOUT_MS = 2_500
/** Fetches that one address may cause; what is remembered costs none. */
const MAX_FETCHES = 60
const FETCHES_WINDOW_MS = 60 * 60 * 1_000
const MAX_CLIENT_ID_CHARACTERS = 2_048

/** Documents kept for when their host is out of order. */
const MAX_KEPT = 500
/** So long after it was last there a document stands in for itself. */
const KEPT_MS = 24 * 60 * 60 * 1_000

/** Answers that cannot have a body (Fetch §2.2.6). */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304])

const toResponse = ({ status, headers, body }: OutboundResponse): Response => {
  const kept = new Headers()
  for (const name of ['cache-control', 'expires', 'content-type']) {
    const value = headers[name]
    if (value !== undefined) kept.set(name, [value].flat().join(', '))
  }
  return new Response(BODYLESS.has(status) ? null : new Uint8Array(body), { status, headers: kept })
}

/**
 * `fetch` for the library, by the guarded client: it follows no redirect, and reaches public addresses alone, whatever
 * the settings allow tools to reach. While a document's host is out of order the last that it gave counts (RFC 9111
 * §4.2.4): clients that are connected stay so.
 */
export const createDocumentFetch = ({ send }: Pick<HttpClient, 'send'>) => {
  const lastGood = new LRUCache<string, OutboundResponse>({ max: MAX_KEPT, ttl: KEPT_MS })

  const fetchDocument = async (url: string, signal: AbortSignal | undefined): Promise<OutboundResponse> => {
    const request = { method: 'GET', url, headers: [['accept', 'application/json']] as const, signal }
    try {
      const response = await send({ ...request, timeoutMs: DOCUMENT_TIMEOUT_MS, maxResponseBytes: MAX_DOCUMENT_BYTES })
      if (response.status === 200) lastGood.set(url, response)
      return response.status >= 500 ? (lastGood.get(url) ?? response) : response
    } catch (error) {
      const kept = lastGood.get(url)
      if (kept === undefined) throw error
      return kept
    }
  }

  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    return toResponse(await fetchDocument(url, init?.signal ?? undefined))
  }
}

/** What a fetch is for; none where a page of ours asks again for what was remembered until a moment ago. */
type FetchContext = { ip: string; req: IncomingMessage } | undefined

/** Which client metadata documents are fetched, and which clients they may describe. */
export const createDocumentPolicy = (counters: Counters) => {
  const fetchedFor = new WeakSet<IncomingMessage>()
  return {
    allowFetch: async (ctx: FetchContext, clientId: string): Promise<boolean> => {
      if (clientId.length > MAX_CLIENT_ID_CHARACTERS) return false
      if (ctx !== undefined) {
        // The library looks for the client a second time, to tell it of the error.
        if (fetchedFor.has(ctx.req)) return false
        fetchedFor.add(ctx.req)
      }
      const { count } = await counters.increment(`oauth-document:${ctx?.ip ?? 'pages'}`, FETCHES_WINDOW_MS)
      return count <= MAX_FETCHES
    },
    /** MCP asks for a name and for redirects; those are held to the rules of all clients. */
    allowClient: async (_ctx: unknown, { clientName, redirectUris = [] }: Client): Promise<boolean> =>
      clientName !== undefined && redirectUris.length > 0 && checkRedirectUris(redirectUris).ok,
  }
}
