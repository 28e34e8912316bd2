import { lookup as systemLookup } from 'node:dns'
import { MAX_RESPONSE_HEADER_BYTES } from '../kernel/limits.ts'
import type { HttpClientOptions } from './client.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { stoppingProblem, type ToError, toOutboundError } from './faults.ts'
import { buildFirstHop, type Hop } from './hop.ts'
import { type OpenAnswer, openExchange } from './open-exchange.ts'
import { createOwnOriginCheck } from './own-origins.ts'
import { blocked, followRedirects } from './redirects.ts'
import { createTargetCheck } from './target.ts'

export type GuardedFetchOptions = Pick<
  HttpClientOptions,
  'policy' | 'maxRedirects' | 'connectTimeoutMs' | 'maxSockets' | 'ownOrigins' | 'lookup' | 'now'
> & {
  /** From a request to the beginning of its answer. */
  headersTimeoutMs: number
  /** Silence in the middle of a body that has an end. */
  bodyIdleMs: number
  /** Silence in a stream of server-sent events. */
  streamIdleMs: number
  /** Of a body that has an end, and of a single event of a stream. */
  maxResponseBytes: number
}

export type GuardedFetch = {
  /**
   * As the global `fetch`, for text bodies. Throws OutboundError, also while the body is read, and the reason of
   * `init.signal` when that says so.
   */
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** Ends every request, and every stream under way. */
  close: () => Promise<void>
}

/** Answers that have no body (Fetch standard, "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** What goes along to another origin: how the answer should look, which is no secret. */
const keepsAcrossOrigins = (name: string): boolean => name === 'accept' || name === 'accept-encoding'

const buildRequest = (url: string | URL, init: RequestInit) => {
  const { body = null, method = 'GET' } = init
  if (body !== null && typeof body !== 'string') throw new TypeError('only text is sent')
  const headers = new Headers(init.headers)
  // Compressed, events would wait in the compressor.
  headers.set('accept-encoding', 'identity')
  return { url: String(url), method, headers: [...headers], body: body ?? undefined }
}

const toResponse = ({ status, statusText, headers, body }: OpenAnswer): Response => {
  const responseHeaders = new Headers()
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) responseHeaders.append(name, value)
  }
  if (!NO_BODY.has(status)) return new Response(body, { status, statusText, headers: responseHeaders })
  void body.cancel()
  return new Response(null, { status, statusText, headers: responseHeaders })
}

/**
 * A `fetch` that libraries are given for addresses that a tenant steers: the same checks as `createHttpClient` at every
 * request and redirect, but the body streams, as it comes, for as long as it comes. A request goes out once; one with a
 * body is never redirected to another origin, and of the headers only what says nothing goes there.
 */
export const createGuardedFetch = (options: GuardedFetchOptions): GuardedFetch => {
  const { policy, maxRedirects, connectTimeoutMs, maxSockets, bodyIdleMs } = options
  const now = options.now ?? (() => performance.now())
  const isOwn = createOwnOriginCheck(options.ownOrigins)
  const maxHeaderBytes = MAX_RESPONSE_HEADER_BYTES
  const connector = createConnector({ policy, lookup: options.lookup ?? systemLookup, connectTimeoutMs })
  const pools = createConnectionPools({ connector, maxSockets, maxHeaderBytes, bodyIdleMs })
  const checkTarget = createTargetCheck()
  let isClosed = false

  const fetch: GuardedFetch['fetch'] = async (url, init = {}) => {
    const startedAt = now()
    const toError: ToError = problem => toOutboundError(problem, now() - startedAt)
    const signal = init.signal ?? undefined

    const perform = (hop: Hop): Promise<OpenAnswer> => {
      if (isClosed) throw toError(stoppingProblem)
      const { origin } = hop.target
      if (isOwn(origin)) throw toError(blocked(`${origin} is Patchbay itself, which cannot be its own upstream`))
      return openExchange(hop, { ...options, pools, maxHeaderBytes, signal, toError })
    }

    const request = buildRequest(url, init)
    const target = checkTarget(request.url)
    if (!target.ok) throw toError(blocked(`${target.error}; correct the URL`))
    const first = buildFirstHop(request, target.value)
    if (!first.ok) throw toError(blocked(`${first.error}; correct the headers`))
    const { answer } = await followRedirects(first.value, await perform(first.value), {
      perform,
      maxRedirects,
      checkTarget,
      toError,
      discard: ({ body }) => void body.cancel(),
      keepsAcrossOrigins,
    })
    return toResponse(answer)
  }

  return {
    fetch,
    close: async () => {
      isClosed = true
      await pools.close()
    },
  }
}
