import { setTimeout as wait } from 'node:timers/promises'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { OutboundFault } from '../../lib/outbound/outbound-fault.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'
import type { StreamingFetch } from '../../lib/outbound/streaming-fetch.ts'
import { createEventScreen } from './event-screen.ts'
import type { MessageScreen } from './message-screen.ts'
import { createOutputMeter, describeOutputLimit, type OutputLimits } from './output-meter.ts'
import { AccountError, UpstreamError, type UpstreamFault } from './upstream-error.ts'

const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

type StreamOptions = {
  limits: OutputLimits
  screen: MessageScreen
  /** Called once when the stream ends or fails, but not when the reader cancels it. */
  onEnd: (cause: unknown) => void
}

/** Passes on an event stream and enforces its limits. Reads slowly while messages are dropped. */
const watchStream = (response: Response, { limits, screen, onEnd }: StreamOptions): Response => {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const exceedsLimit = createOutputMeter(limits)
  const screenEvents = createEventScreen(screen)
  let isCancelled = false

  /** Reads one chunk. Returns what to pass on and how long to wait afterward, or undefined at the end. */
  const readChunk = async () => {
    const { done, value } = await reader.read()
    if (done) return undefined
    if (exceedsLimit(value)) {
      throw new UpstreamError('too_large', `The MCP server sent more than ${describeOutputLimit(limits)}.`)
    }
    return screen.limit.pace(() => screenEvents(Buffer.from(value.buffer, value.byteOffset, value.byteLength)))
  }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        try {
          for (let isWaiting = true; isWaiting; ) {
            const chunk = await readChunk()
            if (isCancelled) return
            if (chunk === undefined) {
              controller.close()
              onEnd(undefined)
              return
            }
            for (const piece of chunk.read) controller.enqueue(piece)
            isWaiting = chunk.read.length === 0
            if (chunk.pauseMs > 0) await wait(chunk.pauseMs, undefined, { ref: false })
          }
        } catch (error) {
          if (isCancelled) return
          controller.error(error)
          void reader.cancel(error).catch(() => {})
          onEnd(error)
        }
      },
      cancel: reason => {
        isCancelled = true
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}

/** Drops the messages of a batch that are over the limit. The SDK calls only `json`, and then checks each message. */
const limitBatch = (response: Response, { accept }: MessageScreen): Response => {
  const json = async (): Promise<unknown> => {
    const text = await response.text()
    const value: JsonValue = JSON.parse(text)
    return Array.isArray(value) ? value.filter(message => accept(message, text.length / value.length)) : value
  }
  return Object.defineProperty(response, 'json', { value: json })
}

const KINDS: Readonly<Record<OutboundFault, UpstreamFault>> = {
  dns: 'refused',
  refused: 'refused',
  reset: 'protocol',
  connect_timeout: 'connect_timeout',
  timeout: 'timeout',
  busy: 'unavailable',
  failing: 'unavailable',
  too_large: 'too_large',
  blocked: 'blocked',
  invalid_request: 'misconfigured',
  too_many_redirects: 'refused',
  tls: 'refused',
  protocol: 'not_mcp',
  encoding: 'protocol',
  aborted: 'aborted',
  unreachable: 'refused',
}

/** Faults that mean that the whole upstream is unreachable. */
const OUT_OF_REACH: ReadonlySet<UpstreamFault> = new Set(['refused', 'connect_timeout', 'blocked', 'misconfigured'])

/** Turns an error message into a sentence. Leaves the case of a host or URL at its start unchanged. */
const asSentence = (text: string): string =>
  `${text.replace(/^(the|no|responses) /, word => word.charAt(0).toUpperCase() + word.slice(1))}.`

export const toRemoteError = (error: OutboundError): UpstreamError =>
  new UpstreamError(KINDS[error.fault], asSentence(error.message), { cause: error })

/**
 * Number of consecutive failed notification streams after which the upstream counts as lost. The SDK retries the same
 * number of times.
 */
const MAX_FAILED_STREAMS = 3
/** Maximum number of characters of a 400 response to search for the word “session”. */
const MAX_REFUSAL_CHARS = 4_096

const sessionEnded = (): UpstreamError =>
  new UpstreamError('session_ended', 'The MCP server no longer knows the session and did nothing. Call again.')

const streamEnded = (cause?: unknown): UpstreamError =>
  new UpstreamError('protocol', 'The MCP server closed the event stream that carries its responses.', { cause })

export type RemoteFetchOptions = {
  fetch: StreamingFetch['fetch']
  /** Whether responses arrive on the single stream that a GET opens (HTTP+SSE). */
  isSse: boolean
  /** Per event stream. */
  limits: OutputLimits
  screen: MessageScreen
  /** Called when the upstream is unreachable or no longer recognizes the session. */
  onLost: (error: UpstreamError) => void
}

/** Creates a `fetch` for the SDK's transports that reports failures hidden by the SDK. */
export const createRemoteFetch = ({ fetch, isSse, limits, screen, onLost }: RemoteFetchOptions) => {
  let lastFault: UpstreamError | undefined
  let failedStreams = 0
  let hasStream = false
  let streamFault: UpstreamError | undefined

  const recordFault = (error: unknown, isGet: boolean): void => {
    if (error instanceof UpstreamError) lastFault = error
    // Without a working account, no request can succeed.
    if (error instanceof AccountError) onLost(error)
    if (!(error instanceof OutboundError)) return
    lastFault = toRemoteError(error)
    if (isGet) failedStreams++
    if ((!isGet && OUT_OF_REACH.has(lastFault.kind)) || failedStreams >= MAX_FAILED_STREAMS) onLost(lastFault)
  }

  const recordStreamEnd = (cause: unknown, isTheStream: boolean): void => {
    const fault = cause instanceof OutboundError ? toRemoteError(cause) : undefined
    streamFault = fault
    if (cause instanceof UpstreamError) onLost(cause)
    else if (isTheStream)
      onLost(fault?.kind === 'too_large' || fault?.kind === 'unavailable' ? fault : streamEnded(cause))
  }

  /** Detects the end of a session: 404 according to the specification, but 400 from some servers. */
  const checkSession = async (response: Response, headers: RequestInit['headers']): Promise<Response> => {
    if (response.status !== 404 && response.status !== 400) return response
    if (!new Headers(headers).has('mcp-session-id')) return response
    if (response.status === 404) onLost(sessionEnded())
    if (response.status !== 400) return response
    const text = await response.text()
    if (/session/i.test(text.slice(0, MAX_REFUSAL_CHARS))) onLost(sessionEnded())
    return new Response(text, response)
  }

  return {
    fetch: async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
      const isGet = init.method === undefined || init.method === 'GET'
      // The session belongs to the first stream, so a second stream would have no session.
      if (isSse && isGet && hasStream) throw new Error('the event stream has ended')
      let response: Response
      try {
        response = await fetch(url, init)
      } catch (error) {
        recordFault(error, isGet)
        throw error
      }
      if (isGet) failedStreams = 0
      const isTheStream = isSse && isGet && response.ok
      if (isTheStream) hasStream = true
      // Each reopened stream counts, because it may consist of its first event, which always passes.
      if (isGet && isEventStream(response)) screen.limit.count('requests', 0)
      const watched = isEventStream(response)
        ? watchStream(response, { limits, screen, onEnd: cause => recordStreamEnd(cause, isTheStream) })
        : limitBatch(response, screen)
      return isTheStream ? watched : checkSession(watched, init.headers)
    },
    /** Returns the error that broke the last ended stream, and clears it. */
    takeStreamFault: (): UpstreamError | undefined => {
      const fault = streamFault
      streamFault = undefined
      return fault
    },
    /** Returns why the last request that got no response failed. The SDK's own error omits the details. */
    lastFault: (): UpstreamError | undefined => lastFault,
  }
}
