import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Client } from 'oidc-provider'
import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import { type Counters, networkOf } from '../platform/counters/index.ts'
import type { HttpClient, OutboundResponse } from '../platform/net/index.ts'
import { checkRedirectUris } from './redirects.ts'
import { normaliseRegistration } from './registration.ts'

/** A document is a few hundred bytes; the draft says that 5 kB are enough (§6.6). */
export const MAX_DOCUMENT_BYTES = 5 * 1_024
/** Fetching one keeps a browser waiting. */
const DOCUMENT_TIMEOUT_MS = 2_500
/** Fetches that one network may cause; what is remembered costs none. */
const MAX_FETCHES = 60
/** Of documents that were good before: hosted clients refresh the tokens of many people from few addresses. */
const MAX_KNOWN_FETCHES = 1_000
const FETCHES_WINDOW_MS = 60 * 60 * 1_000
const MAX_CLIENT_ID_CHARACTERS = 2_048

/** Documents kept for when their host is out of order. */
const MAX_KEPT = 500
/** So long after it was last there a document stands in for itself. */
const KEPT_MS = 24 * 60 * 60 * 1_000

/** Answers that cannot have a body (Fetch §2.2.6). */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304])

/** What is read of a document. Of the rest some would have the library fetch more, by each request of the client. */
const READ: ReadonlySet<string> = new Set([
  'client_id',
  'client_name',
  'client_uri',
  'redirect_uris',
  'application_type',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  // Not to be there: the library refuses the document.
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
 * A document held to the rules of registrations, which leave out what we do not have. One that breaks them stays as it
 * is, for the library to say what is wrong with it.
 */
const readDocument = (url: string, body: Buffer): { document: JsonObject; isGood: boolean } | undefined => {
  const said = parseDocument(body)
  if (said === undefined) return undefined
  const document = Object.fromEntries(Object.entries(said).filter(([name]) => READ.has(name)))
  const normal = normaliseRegistration(document)
  if (!normal.ok) return { document, isGood: false }
  return { document: { ...document, ...normal.value }, isGood: document.client_id === url }
}

const toResponse = (url: string, { status, headers, body }: OutboundResponse): Response => {
  const kept = new Headers()
  for (const name of ['cache-control', 'expires', 'content-type']) {
    const value = headers[name]
    if (value !== undefined) kept.set(name, [value].flat().join(', '))
  }
  const document = status === 200 ? readDocument(url, body)?.document : undefined
  const content = document === undefined ? new Uint8Array(body) : JSON.stringify(document)
  return new Response(BODYLESS.has(status) ? null : content, { status, headers: kept })
}

/** What a fetch is for; none where a page of ours asks again for what was remembered until a moment ago. */
type FetchContext = { ip: string; req: IncomingMessage } | undefined

/** MCP asks for a name and for redirects; those are held to the rules of all clients. */
const allowClient = async (_ctx: unknown, { clientName, redirectUris = [] }: Client): Promise<boolean> =>
  clientName !== undefined && redirectUris.length > 0 && checkRedirectUris(redirectUris).ok

/**
 * Client metadata documents, for the library: which it fetches, how, and which clients they may describe. By the
 * guarded client, which follows no redirect and reaches public addresses alone, whatever the settings allow tools to
 * reach. While a document's host is out of order the last good one that it gave counts (RFC 9111 §4.2.4): clients that
 * are connected stay so.
 */
export const createClientDocuments = ({ send }: Pick<HttpClient, 'send'>, counters: Counters) => {
  const lastGood = new LRUCache<string, OutboundResponse>({ max: MAX_KEPT, ttl: KEPT_MS })
  const fetchedFor = new WeakSet<IncomingMessage>()

  const fetchDocument = async (url: string, signal: AbortSignal | undefined): Promise<OutboundResponse> => {
    const request = { method: 'GET', url, headers: [['accept', 'application/json']] as const, signal }
    try {
      const response = await send({ ...request, timeoutMs: DOCUMENT_TIMEOUT_MS, maxResponseBytes: MAX_DOCUMENT_BYTES })
      if (response.status === 200 && readDocument(url, response.body)?.isGood) lastGood.set(url, response)
      return response.status >= 500 ? (lastGood.get(url) ?? response) : response
    } catch (error) {
      const kept = lastGood.get(url)
      if (kept === undefined) throw error
      return kept
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
        // The library looks for the client a second time, to tell it of the error.
        if (fetchedFor.has(ctx.req)) return false
        fetchedFor.add(ctx.req)
      }
      const [most, name] = lastGood.has(clientId)
        ? [MAX_KNOWN_FETCHES, 'oauth-known-document']
        : [MAX_FETCHES, 'oauth-document']
      // Pages come after a request that has fetched it, perhaps in another process: counted for each document.
      const who = ctx === undefined ? hash('sha256', clientId) : networkOf(ctx.ip)
      const { count } = await counters.increment(`${name}:${who}`, FETCHES_WINDOW_MS)
      return count <= most
    },

    allowClient,
  }
}
