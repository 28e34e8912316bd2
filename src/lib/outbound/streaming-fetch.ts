import { createBodyStream } from './body-stream.ts'
import { toResponse } from './bounded-fetch.ts'
import { parseContentEncoding } from './content-encoding.ts'
import { createDispatcher, type DispatcherOptions, type OutboundDispatcher, type ResponseHead } from './dispatch.ts'
import { blocked, type Problem, type ToError, timeoutProblem, toOutboundError, tooLargeProblem } from './faults.ts'
import { type PreparedRequest, prepareRequest } from './prepared-request.ts'
import { performWithRedirects } from './redirects.ts'
import { createTargetCheck } from './target.ts'

type StreamLimits = {
  /** Until the response begins. */
  headersTimeoutMs: number
  /** Longest silence in a body, except for server-sent events. */
  bodyIdleMs: number
  /** Longest silence in a stream of server-sent events. */
  streamIdleMs: number
  /** Of a body; in a stream of server-sent events, of each event. */
  maxResponseBytes: number
}

export type StreamingFetchOptions = DispatcherOptions &
  StreamLimits & {
    maxRedirects: number
    /** Milliseconds of a monotonic clock. */
    now?: () => number
  }

export type StreamingFetch = {
  /**
   * As the global `fetch`, for text bodies. Throws OutboundError, also while the body is read, and the reason of
   * `init.signal` if that aborts.
   */
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** Closes all connections, and fails all requests and streams. */
  close: () => Promise<void>
}

type StreamingResponse = ResponseHead & { body: ReadableStream<Uint8Array> }

const READER_LEFT = new Error('the reader of the response has left')
const MAX_STATUS = 599

const isEventStream = ({ headers }: ResponseHead): boolean =>
  String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')

/** Returns why a response cannot be accepted, judging by its head. */
const refusalOf = (host: string, { status, headers }: ResponseHead, maxBytes: number): Problem | undefined => {
  if (status > MAX_STATUS)
    return { fault: 'protocol', text: `${host} responded with ${status}, which is not an HTTP status` }
  const encoding = parseContentEncoding(headers['content-encoding'])
  if (!encoding.ok || encoding.value !== undefined) {
    return {
      fault: 'encoding',
      text: `${host} compressed its response, which was not requested; turn compression off there`,
    }
  }
  return Number(headers['content-length']) > maxBytes ? tooLargeProblem(host, maxBytes) : undefined
}

type StreamOptions = StreamLimits & {
  dispatch: OutboundDispatcher['dispatch']
  signal: AbortSignal | undefined
  toError: ToError
}

/** Sends one request, once, and returns the response as soon as it begins. */
const fetchStream = (
  { target, method, headers, body }: PreparedRequest,
  { dispatch, signal, toError, ...limits }: StreamOptions,
): Promise<StreamingResponse> =>
  new Promise((resolve, reject) => {
    const { host, origin, path } = target
    let stream: ReturnType<typeof createBodyStream> | undefined

    const disarm = (): void => {
      clearTimeout(headersTimer)
      signal?.removeEventListener('abort', onAbort)
    }
    /** Fails the response, or the rest of its body. */
    const fail = (error: unknown): void => {
      disarm()
      if (stream === undefined) reject(error)
      else stream.fail(error)
    }
    const cut = (error: unknown): void => {
      fail(error)
      call.abort()
    }
    const cutFor = (problem: Problem): void => cut(toError(problem))
    const onAbort = (): void => cut(signal?.reason)

    const onHead = (head: ResponseHead): void => {
      const isEvents = isEventStream(head)
      const refusal = refusalOf(host, head, isEvents ? Number.POSITIVE_INFINITY : limits.maxResponseBytes)
      if (refusal !== undefined) {
        cutFor(refusal)
        return
      }
      clearTimeout(headersTimer)
      const idleMs = isEvents ? limits.streamIdleMs : limits.bodyIdleMs
      stream = createBodyStream({
        host,
        isEvents,
        maxBytes: limits.maxResponseBytes,
        idleMs,
        onIdle: () => cutFor({ fault: 'timeout', text: `${host} fell silent for ${idleMs} ms in its response` }),
        pause: call.pause,
        resume: call.resume,
        onCancel: () => cut(READER_LEFT),
      })
      resolve({ ...head, body: stream.stream })
    }

    const request = {
      origin,
      host,
      method,
      path,
      headers,
      body: body ?? null,
      mayRetry: false,
      bodyIdleMs: 0,
      upgrade: null,
    }
    const call = dispatch(request, {
      onHead,
      onData: chunk => {
        const refusal = stream?.add(chunk)
        if (refusal !== undefined) cutFor(refusal)
      },
      onEnd: () => {
        disarm()
        stream?.end()
      },
      onFault: problem => fail(toError(problem)),
    })
    const headersTimer = setTimeout(() => cutFor(timeoutProblem(host, call.phase())), limits.headersTimeoutMs)
    headersTimer.unref()
    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    call.start()
  })

/** The only headers that may go to another origin: what form the response should have is no secret. */
const keepsAcrossOrigins = (name: string): boolean => name === 'accept' || name === 'accept-encoding'

const toRequest = (url: string | URL, { body, method = 'GET', headers: given }: RequestInit) => {
  if (body !== undefined && body !== null && typeof body !== 'string') throw new TypeError('only text can be sent')
  const headers = new Headers(given)
  // The compression of the server would delay events.
  headers.set('accept-encoding', 'identity')
  return { url: String(url), method, headers: [...headers], body: body ?? undefined }
}

/**
 * Creates a `fetch` for libraries, with the same checks of every request and redirect as `createHttpClient`, whose
 * responses stream for as long as they last. A request is sent once. Another origin receives no body and no headers that
 * may hold a secret.
 */
export const createStreamingFetch = (options: StreamingFetchOptions): StreamingFetch => {
  const { maxRedirects, now = () => performance.now() } = options
  const { dispatch, close } = createDispatcher(options)
  const checkTarget = createTargetCheck()

  const fetch: StreamingFetch['fetch'] = async (url, init = {}) => {
    const startedAt = now()
    const toError: ToError = problem => toOutboundError(problem, now() - startedAt)
    const signal = init.signal ?? undefined
    const request = toRequest(url, init)
    const target = checkTarget(request.url)
    if (!target.ok) throw toError(blocked(`${target.error}; correct the URL`))
    const prepared = prepareRequest(request, target.value)
    if (!prepared.ok) throw toError(blocked(`${prepared.error}; correct the headers`))
    const response = await performWithRedirects(prepared.value, {
      perform: next => fetchStream(next, { ...options, dispatch, signal, toError }),
      maxRedirects,
      checkTarget,
      toError,
      discard: ({ body }) => void body.cancel(),
      keepsAcrossOrigins,
    })
    const result = toResponse(response, response.body)
    if (result.body === null) void response.body.cancel()
    return result
  }
  return { fetch, close }
}
