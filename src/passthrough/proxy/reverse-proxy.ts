import type { Socket } from 'node:net'
import { Readable, type Writable } from 'node:stream'
import { createDispatcher, type DispatcherOptions, type ResponseHead } from '../../lib/outbound/dispatch.ts'
import { type Problem, toOutboundError } from '../../lib/outbound/faults.ts'
import type { OutboundError } from '../../lib/outbound/outbound-request.ts'
import type { RequestTrace } from '../../lib/outbound/request-trace.ts'

/** Why a request got no response. */
export type ProxyFault = {
  error: OutboundError
  /** Whether nothing was sent, so that another address may be tried. */
  isUnsent: boolean
}

export type ProxyRequest = {
  /** The organization of the server that passes the request on. */
  organizationId: string | undefined
  /** The server's URL. Only its scheme, host and port are used. */
  url: URL
  method: string
  /** Path and query to send. */
  path: string
  /** All headers to send, keyed by lowercase name. */
  headers: Record<string, string | string[]>
  /** The body, which is sent in chunks unless the headers contain its length. */
  body: Buffer | Readable | undefined
  /** Timeout until the response begins. */
  headTimeoutMs: number
  /** Measures the request, if anybody wants to know. */
  trace?: RequestTrace | undefined
  /** Receives the response head. Returns the stream to which the body is written, or undefined to abort. */
  onHead: (head: ResponseHead) => Writable | undefined
  /** Receives the size in bytes of each chunk of the response body. */
  onBytes: (count: number) => void
  /** Called if the response is cut off. */
  onBroken: (error: OutboundError) => void
  /** Called at most once, and never after the response has begun. */
  onFault: (fault: ProxyFault) => void
  /** Makes this a WebSocket upgrade request. Receives the socket if the server accepts it. */
  onWebSocket?: (head: ResponseHead, socket: Socket) => void
}

/** Statuses that a gateway sends if the server behind it is unavailable. */
const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504])
export const isGatewayError = (status: number): boolean => GATEWAY_ERRORS.has(status)

/**
 * Creates the reverse proxy, which streams requests and responses with backpressure. Callers decide
 * which headers are passed on in each direction.
 */
export const createReverseProxy = (options: Omit<DispatcherOptions, 'maxSockets' | 'share'>) => {
  // `maxSockets` and `share` are not set: streams occupy their connections, and admission limits the number of streams.
  const { dispatch, close } = createDispatcher(options)

  /** Passes a request on. Returns a function that aborts it silently. */
  const pass = (request: ProxyRequest): (() => void) => {
    const { organizationId, url, method, path, headers, body, headTimeoutMs, trace, onWebSocket } = request
    const { origin, host } = url
    const startedAt = performance.now()
    let to: Writable | undefined
    const abort = (): void => {
      clearTimeout(timer)
      call.abort()
    }
    const fail = (problem: Problem, isUnsent: boolean): void => {
      clearTimeout(timer)
      const error = toOutboundError(problem, performance.now() - startedAt)
      if (call.phase === 'receiving') request.onBroken(error)
      else request.onFault({ error, isUnsent: isUnsent && problem.fault !== 'aborted' })
    }
    const call = dispatch(
      {
        organizationId,
        origin,
        host,
        method,
        path,
        headers,
        body: body ?? null,
        mayRetry: !(body instanceof Readable),
        bodyIdleMs: 0,
        upgrade: onWebSocket === undefined ? null : 'websocket',
        trace,
      },
      {
        onHead: head => {
          clearTimeout(timer)
          to = request.onHead(head)
          if (to === undefined) abort()
        },
        onData: chunk => {
          if (to === undefined || to.destroyed) return
          request.onBytes(chunk.length)
          if (to.write(chunk)) return
          call.pause()
          to.once('drain', () => call.resume())
        },
        onEnd: () => to?.end(),
        onUpgrade: (head, socket) => {
          clearTimeout(timer)
          if (onWebSocket === undefined) socket.destroy()
          else onWebSocket(head, socket)
        },
        onFault: fail,
      },
    )
    const timer = setTimeout(() => {
      fail(
        { fault: 'timeout', text: `${host} did not start to respond within ${headTimeoutMs} ms; raise its timeoutMs` },
        false,
      )
      abort()
    }, headTimeoutMs)
    call.start()
    return abort
  }

  return {
    pass,
    /** Whether a server responds, with any status but a gateway's. Uses a safe method (RFC 9110 §9.3.7). */
    probe: (url: URL, timeoutMs: number, organizationId: string | undefined): Promise<boolean> =>
      new Promise(resolve => {
        pass({
          organizationId,
          url,
          method: 'OPTIONS',
          path: `${url.pathname}${url.search}`,
          headers: { 'user-agent': 'patchbay' },
          body: undefined,
          headTimeoutMs: timeoutMs,
          onHead: ({ status }) => {
            resolve(!isGatewayError(status))
            return undefined
          },
          onBytes: () => {},
          onBroken: () => {},
          onFault: () => resolve(false),
        })
      }),
    /** Closes all connections. */
    close,
  }
}

export type ReverseProxy = ReturnType<typeof createReverseProxy>
