import type { IncomingMessage } from 'node:http'
import type { Client } from 'oidc-provider'
import type { Counters } from '../platform/counters/index.ts'
import type { HttpClient } from '../platform/net/index.ts'
import { checkRedirectUris } from './redirects.ts'

/** A document is a few hundred bytes; the draft says that 5 kB are enough (§6.6). */
export const MAX_DOCUMENT_BYTES = 5 * 1_024
/** Fetching one keeps a browser waiting. */
const DOCUMENT_TIMEOUT_MS = 2_500
/** Fetches that one address may cause; what is remembered costs none. */
const MAX_FETCHES = 60
const FETCHES_WINDOW_MS = 60 * 60 * 1_000
const MAX_CLIENT_ID_CHARACTERS = 2_048

/** Answers that cannot have a body (Fetch §2.2.6). */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * `fetch` for the library, by the guarded client: it follows no redirect, and reaches public addresses alone, whatever
 * the settings allow tools to reach.
 */
export const createDocumentFetch =
  ({ send }: Pick<HttpClient, 'send'>) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    const { status, headers, body } = await send({
      method: 'GET',
      url,
      headers: [['accept', 'application/json']],
      timeoutMs: DOCUMENT_TIMEOUT_MS,
      maxResponseBytes: MAX_DOCUMENT_BYTES,
      signal: init?.signal ?? undefined,
    })
    const kept = new Headers()
    for (const name of ['cache-control', 'expires', 'content-type']) {
      const value = headers[name]
      if (value !== undefined) kept.set(name, [value].flat().join(', '))
    }
    return new Response(BODYLESS.has(status) ? null : new Uint8Array(body), { status, headers: kept })
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
