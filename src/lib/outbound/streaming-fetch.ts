import { createBodyStream } from './body-stream.ts'
import { toResponse } from './bounded-fetch.ts'
import { parseContentEncoding } from './content-encoding.ts'
import { countBody } from './counted-body.ts'
import { type Credential, REDIRECTED_ORIGIN, refuseCredentials } from './credentials.ts'
import { createDispatcher, type DispatcherOptions, type ResponseHead } from './dispatch.ts'
import {
  blocked,
  MAX_STATUS,
  noMemoryProblem,
  type Problem,
  type ToError,
  toOutboundError,
  tooLargeProblem,
  unknownStatusProblem,
} from './faults.ts'
import type { MemoryShares } from './memory-shares.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { createRedirector } from './redirects.ts'
import type { RequestTrace } from './request-trace.ts'
import { UNCOUNTED_BYTES } from './response-memory.ts'
import { type StreamOptions, streamResponse } from './stream-response.ts'

type StreamLimits = {
  /** Time limit until the response begins. */
  headersTimeoutMs: number
  /** Maximum idle time within a body, except for server-sent events. */
  bodyIdleMs: number
  /** Maximum idle time within a stream of server-sent events. */
  streamIdleMs: number
  /** Maximum size of a body, or of each event in a stream of server-sent events. */
  maxResponseBytes: number
}

export type StreamingFetchOptions = DispatcherOptions &
  StreamLimits & {
    /** The organization that all requests are made for. Undefined for Patchbay's own requests. */
    organizationId: string | undefined
    maxRedirects: number
    /** The memory for responses. */
    memory?: MemoryShares | undefined
    /** Values in the requests that may be sent only to certain origins. */
    credentials?: readonly Credential[]
    /** Returns what measures a request. Not asked for GET, whose streams outlive the work that opens them. */
    findTrace?: (() => RequestTrace | undefined) | undefined
  }

export type StreamingFetch = {
  /**
   * Like the global `fetch`, but sends only text bodies. Throws OutboundError, even while the body is being read. If
   * `init.signal` aborts, throws the signal's reason.
   */
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** Closes all connections, and fails all requests and streams. */
  close: () => Promise<void>
}

type StreamingResponse = ResponseHead & { body: ReadableStream<Uint8Array> }

const READER_LEFT = new Error('the reader of the response has left')
const isEventStream = ({ headers }: ResponseHead): boolean =>
  String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')

/** Returns the problem with a response that cannot be accepted, judging by its status and headers. */
const refusalOf = (host: string, { status, headers }: ResponseHead, maxBytes: number): Problem | undefined => {
  if (status > MAX_STATUS) return unknownStatusProblem(host, status)
  const encoding = parseContentEncoding(headers['content-encoding'])
  if (!encoding.ok || encoding.value !== undefined) {
    return {
      fault: 'encoding',
      text: `${host} compressed its response, which was not requested; turn compression off there`,
    }
  }
  return Number(headers['content-length']) > maxBytes ? tooLargeProblem(host, maxBytes) : undefined
}

type FetchOptions = StreamLimits &
  Pick<StreamOptions, 'dispatch' | 'organizationId' | 'signal' | 'trace' | 'toError' | 'abortError'>

/** Sends one request without retries, and returns the response as soon as it begins. */
const fetchStream = (
  prepared: PreparedRequest,
  { dispatch, organizationId, signal, trace, toError, abortError, ...limits }: FetchOptions,
): Promise<StreamingResponse> =>
  new Promise((resolve, reject) => {
    const { host } = prepared.target
    let body: ReturnType<typeof createBodyStream> | undefined

    const start = (head: ResponseHead): Problem | undefined => {
      const isEvents = isEventStream(head)
      const refusal = refusalOf(host, head, isEvents ? Number.POSITIVE_INFINITY : limits.maxResponseBytes)
      if (refusal !== undefined) return refusal
      call.endTimeout()
      const idleMs = isEvents ? limits.streamIdleMs : limits.bodyIdleMs
      body = createBodyStream({
        host,
        isEvents,
        maxBytes: limits.maxResponseBytes,
        idleMs,
        onIdle: () => call.cutFor({ fault: 'timeout', text: `${host} sent nothing for ${idleMs} ms in its response` }),
        pause: () => call.pause(),
        resume: () => call.resume(),
        onCancel: () => call.cut(READER_LEFT),
      })
      resolve({ ...head, body: body.stream })
      return undefined
    }
    const timeoutMs = limits.headersTimeoutMs
    const options = { dispatch, organizationId, signal, trace, toError, abortError, timeoutMs }
    // The idle timeout of the body is not known until the response begins.
    const call = streamResponse(
      prepared,
      { ...options, mayRetry: false, bodyIdleMs: 0 },
      {
        start,
        add: chunk => body?.add(chunk),
        end: () => body?.end(),
        fail: error => {
          reject(error)
          body?.fail(error)
        },
      },
    )
  })

const lengthOf = ({ headers }: ResponseHead): number | undefined => {
  const length = Number(headers['content-length'])
  return Number.isSafeInteger(length) ? length : undefined
}

/** Whether the body is too small to be counted. The HTTP parser enforces the declared length. */
const isSmall = (received: ResponseHead): boolean => (lengthOf(received) ?? Number.POSITIVE_INFINITY) <= UNCOUNTED_BYTES

/** Ends a response that nobody reads. Ignores a rejection, because the body may already have failed. */
const discard = ({ body }: StreamingResponse): void => {
  body.cancel().catch(() => undefined)
}

/** The only headers that may be sent to another origin. They describe the requested format and hold no secrets. */
const keepsAcrossOrigins = (name: string): boolean => name === 'accept' || name === 'accept-encoding'

const toRequest = (url: string | URL, { body, method = 'GET', headers: given }: RequestInit) => {
  if (body !== undefined && body !== null && typeof body !== 'string') throw new TypeError('only text can be sent')
  const headers = new Headers(given)
  // Compression by the server would delay events.
  headers.set('accept-encoding', 'identity')
  return { url: String(url), method, headers: [...headers], body: body ?? undefined }
}

/**
 * Creates a `fetch` for libraries that read long-lived streaming responses. Checks every request and redirect as
 * `createHttpClient` does. Sends each request once, without retries. Another origin receives no body, and no headers
 * that may hold secrets.
 */
export const createStreamingFetch = (options: StreamingFetchOptions): StreamingFetch => {
  const { dispatch, close } = createDispatcher(options)
  const follow = createRedirector(options.maxRedirects)
  const { credentials = [], memory } = options

  const fetch: StreamingFetch['fetch'] = async (url, init = {}) => {
    const startedAt = performance.now()
    const toError: ToError = problem => toOutboundError(problem, performance.now() - startedAt)
    const signal = init.signal ?? undefined
    const abortError = (): unknown => signal?.reason
    const isGet = init.method === undefined || init.method === 'GET'
    const trace = isGet ? undefined : options.findTrace?.()
    const count = async (received: StreamingResponse, host: string, shares: MemoryShares) => {
      const { organizationId } = options
      const creatorId = organizationId === undefined ? undefined : await options.findCreator?.(organizationId)
      return countBody(received.body, {
        memory: shares,
        owner: { organizationId, creatorId },
        isEvents: isEventStream(received),
        contentLength: lengthOf(received),
        maxBytes: options.maxResponseBytes,
        toError: error => toError(noMemoryProblem(error, host)),
      })
    }
    const response = await follow(toRequest(url, init), {
      perform: async (next, location) => {
        const { origin } = next.target
        // Not named, because a redirect may contain a secret in its host, changed so that it could not be masked.
        const refusal = refuseCredentials(
          credentials,
          origin,
          location === undefined ? undefined : () => REDIRECTED_ORIGIN,
        )
        if (refusal !== undefined) throw toError(blocked(refusal))
        const received = await fetchStream(next, { ...options, dispatch, signal, trace, toError, abortError })
        if (memory === undefined || isSmall(received)) return received
        return { ...received, body: await count(received, next.target.host, memory) }
      },
      toError,
      discard,
      keepsAcrossOrigins,
    })
    if (trace !== undefined) trace.status = response.status
    const result = toResponse(response, response.body)
    if (result.body === null) discard(response)
    return result
  }
  return { fetch, close }
}
