import { OutboundError, type OutboundFault } from '../../lib/outbound/http-client.ts'
import type { StreamingFetch } from '../../lib/outbound/streaming-fetch.ts'
import { isEventStream, watchStream } from './event-streams.ts'
import type { OutputLimits } from './output-meter.ts'
import { AccountError, UpstreamError, type UpstreamFault } from './upstream-error.ts'

/** Faults that say of the whole upstream that it is out of reach. */
const OUT_OF_REACH: ReadonlySet<OutboundFault> = new Set([
  'dns',
  'refused',
  'connect_timeout',
  'blocked',
  'too_many_redirects',
  'tls',
  'unreachable',
])

const KINDS: Readonly<Record<OutboundFault, UpstreamFault>> = {
  dns: 'refused',
  refused: 'refused',
  reset: 'protocol',
  connect_timeout: 'refused',
  timeout: 'timeout',
  too_large: 'too_large',
  blocked: 'blocked',
  too_many_redirects: 'refused',
  tls: 'refused',
  protocol: 'not_mcp',
  encoding: 'protocol',
  aborted: 'aborted',
  unreachable: 'refused',
}

/** Hosts and URLs at its beginning stay as they are written. */
const asSentence = (text: string): string =>
  `${text.replace(/^(the|no) /, word => word.charAt(0).toUpperCase() + word.slice(1))}.`

export const toRemoteError = (error: OutboundError): UpstreamError =>
  new UpstreamError(KINDS[error.fault], asSentence(error.message), { cause: error })

/** Streams of notifications that fail one after the other, after which the upstream counts as lost: as often as the SDK tries. */
const MAX_FAILED_STREAMS = 3
/** Of an answer to a request with an id of a session that may be gone. */
const MAX_REFUSAL_CHARS = 4_096

const sessionEnded = (): UpstreamError =>
  new UpstreamError('session_ended', 'The upstream no longer knows the session, and did nothing; call again.')

const streamEnded = (cause?: unknown): UpstreamError =>
  new UpstreamError('protocol', 'The upstream closed the stream of events that its answers come by.', { cause })

export type RemoteFetchOptions = {
  fetch: StreamingFetch['fetch']
  /** Whether answers come by the one stream that a GET opens. */
  isSse: boolean
  /** Of each stream of events. */
  limits: OutputLimits
  /** The upstream as a whole is out of reach, or no longer knows us. */
  onLost: (error: UpstreamError) => void
}

/** A `fetch` for a transport of the SDK that notices what the SDK does not tell of. */
export const createRemoteFetch = ({ fetch, isSse, limits, onLost }: RemoteFetchOptions) => {
  let lastFault: UpstreamError | undefined
  let failedStreams = 0
  let hasStream = false
  let streamFault: UpstreamError | undefined

  const noteFault = (error: unknown, isGet: boolean): void => {
    if (error instanceof UpstreamError) lastFault = error
    // Without an account that is good nothing more comes of it.
    if (error instanceof AccountError) onLost(error)
    if (!(error instanceof OutboundError)) return
    lastFault = toRemoteError(error)
    if (isGet) failedStreams++
    if (!isGet && OUT_OF_REACH.has(error.fault)) onLost(lastFault)
    else if (failedStreams >= MAX_FAILED_STREAMS) onLost(lastFault)
  }

  const noteStreamEnd = (cause: unknown, isTheStream: boolean): void => {
    const fault = cause instanceof OutboundError ? toRemoteError(cause) : undefined
    streamFault = fault
    if (cause instanceof UpstreamError) onLost(cause)
    else if (isTheStream) onLost(fault?.kind === 'too_large' ? fault : streamEnded(cause))
  }

  /** Whether the answer says that the session is over: 404 as the specification has it; 400 is what some say instead. */
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
      // The session is that of the stream: a new stream would be one that was never opened by the client.
      if (isSse && isGet && hasStream) throw new Error('the stream has ended')
      let response: Response
      try {
        response = await fetch(url, init)
      } catch (error) {
        noteFault(error, isGet)
        throw error
      }
      if (isGet) failedStreams = 0
      const isTheStream = isSse && isGet && response.ok
      if (isTheStream) hasStream = true
      const watched = isEventStream(response)
        ? watchStream(response, limits, cause => noteStreamEnd(cause, isTheStream))
        : response
      return isTheStream ? watched : checkSession(watched, init.headers)
    },
    /** What broke off the stream that has just ended, told once. */
    takeStreamFault: (): UpstreamError | undefined => {
      const fault = streamFault
      streamFault = undefined
      return fault
    },
    /** The latest request that got no answer: what the SDK makes of it loses what it was. */
    lastFault: (): UpstreamError | undefined => lastFault,
  }
}
