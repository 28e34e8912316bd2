import { lookup as systemLookup } from 'node:dns'
import { type LookupFunction, Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import type { AddressPolicy } from './address-policy.ts'
import { type Connection, type ConnectionPool, createConnectionPools, type PendingRequest } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import {
  blocked,
  isLostConnection,
  isUnwritable,
  type Phase,
  type Problem,
  problemOf,
  stoppingProblem,
} from './faults.ts'
import { createOwnOriginCheck } from './target.ts'

/** Idempotent methods, which may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])
/** Maximum number of interim responses (1xx). */
const MAX_INTERIM_RESPONSES = 32
/** The abort reason passed to undici. It is never shown. */
const IS_OVER = new Error('the request is over')

export type DispatcherOptions = {
  /** Decides which addresses are allowed. Dispatchers do not share connections, because their policies may differ. */
  policy: AddressPolicy
  connectTimeoutMs: number
  /** Maximum sockets per origin; undefined for no limit. Further requests wait in order. */
  maxSockets?: number | undefined
  /** Origins of Patchbay itself. Requests to them are refused, because Patchbay must not call itself. */
  ownOrigins?: readonly string[] | undefined
  /** Returns all addresses of a name. Defaults to the system's resolver. */
  lookup?: LookupFunction | undefined
}

export type DispatchRequest = {
  /** Scheme, host and port. */
  origin: string
  /** The host for error messages. Includes the port only if it is not the scheme's default. */
  host: string
  method: string
  /** Path and query. */
  path: string
  /** An array contains alternating names and values. */
  headers: string[] | Record<string, string | string[]>
  body: Dispatcher.DispatchOptions['body']
  /** Whether to send it once more if a reused connection turns out to be closed before any byte of the response. */
  mayRetry: boolean
  /** Maximum idle time within the response body; 0 for no limit. */
  bodyIdleMs: number
  /** Protocol to switch to, or null. */
  upgrade: string | null
}

export type ResponseHeaders = Record<string, string | string[]>
/** Names are in lower case. Values are decoded as Latin-1. */
export type ResponseHead = { status: number; statusText: string; headers: Readonly<ResponseHeaders> }

/** Receives a response. No function is called before `start`, or after `onEnd`, `onUpgrade`, `onFault` or `abort`. */
export type ResponseHandler = {
  onHead: (head: ResponseHead) => void
  onData: (chunk: Buffer) => void
  onEnd: () => void
  /** Called when the server has switched protocols. From then on, the handler owns the socket. */
  onUpgrade?: (head: ResponseHead, socket: Socket) => void
  /** The response is missing or incomplete. `isUnsent`: nothing was sent, so another server may be tried. */
  onFault: (problem: Problem, isUnsent: boolean) => void
}

/**
 * Creates the only way to send requests to other HTTP servers. A request streams in both directions, over connections
 * that the address guard has checked, and is never redirected. Timeouts are up to the caller.
 */
export const createDispatcher = ({
  policy,
  connectTimeoutMs,
  maxSockets = Number.POSITIVE_INFINITY,
  ownOrigins = [],
  lookup = systemLookup,
}: DispatcherOptions) => {
  const connector = createConnector({ policy, lookup, connectTimeoutMs })
  const pools = createConnectionPools({ connector, maxSockets })
  const isOwn = createOwnOriginCheck(ownOrigins)

  /** Prepares a request. The returned functions start, pause, resume and abort it. */
  const dispatch = (request: DispatchRequest, handler: ResponseHandler) => {
    const { origin, host, method } = request
    let phase: Phase = 'queued'
    let pool: ConnectionPool | undefined
    let connection: Connection | undefined
    let controller: Dispatcher.DispatchController | undefined
    let hasBegun = false
    let isRetry = false
    let isOver = false
    let interimResponses = 0
    /** Remaining bytes of the body; NaN if its length is unknown. */
    let missingBytes = Number.NaN

    const fail = (problem: Problem, isUnsent = false): void => {
      if (isOver) return
      isOver = true
      handler.onFault(problem, isUnsent)
    }
    const end = (): void => {
      if (isOver) return
      isOver = true
      handler.onEnd()
    }
    const abort = (): void => {
      isOver = true
      pool?.forget(pending)
      controller?.abort(IS_OVER)
    }
    const mayRetry = (error: Error): boolean =>
      request.mayRetry &&
      !isOver &&
      !isRetry &&
      !hasBegun &&
      connection !== undefined &&
      connection.responses > 0 &&
      isLostConnection(error) &&
      (phase === 'connecting' || IDEMPOTENT.has(method))
    const onError = (error: unknown): void => {
      // If no bytes are missing, the body is complete. Its end was not processed because reading was paused.
      if (missingBytes === 0) {
        end()
        return
      }
      const isTls = origin.startsWith('https:')
      const problem = problemOf(error, { host, phase, isTls, bodyIdleMs: request.bodyIdleMs })
      fail({ ...problem, cause: error }, (phase === 'queued' || phase === 'connecting') && !isUnwritable(error))
    }
    const send = (): void => {
      phase = 'connecting'
      const { path, headers, body = null, bodyIdleMs: bodyTimeout, upgrade } = request
      const options = { path, method, headers, body, upgrade, bodyTimeout, blocking: false }
      connection?.client.dispatch(options, undiciHandler)
    }

    const undiciHandler: Dispatcher.DispatchHandler = {
      onRequestStart: started => {
        // An error thrown here leaves the connection usable.
        if (isOver) throw IS_OVER
        controller = started
        phase = 'sent'
      },
      onResponseStarted: () => {
        hasBegun = true
      },
      onResponseStart: (_, status, headers: ResponseHeaders, statusText = '') => {
        if (isOver) return
        if (status >= 200) {
          phase = 'receiving'
          missingBytes = Number(headers['content-length'])
          handler.onHead({ status, statusText, headers })
        } else if (++interimResponses > MAX_INTERIM_RESPONSES) {
          fail({ fault: 'protocol', text: `${host} sent too many interim responses` })
          abort()
        }
      },
      onResponseData: (_, chunk) => {
        if (isOver) return
        missingBytes -= chunk.length
        handler.onData(chunk)
      },
      onResponseEnd: () => {
        controller = undefined
        if (connection !== undefined) {
          connection.responses++
          pool?.release(connection)
        }
        end()
      },
      onRequestUpgrade: (_, status, headers: ResponseHeaders, socket) => {
        controller = undefined
        if (connection !== undefined) pool?.discard(connection)
        if (isOver || handler.onUpgrade === undefined || !(socket instanceof Socket)) {
          socket.destroy()
          return
        }
        isOver = true
        handler.onUpgrade({ status, statusText: '', headers }, socket)
      },
      onResponseError: (_, error) => {
        controller = undefined
        if (connection === undefined) return
        if (mayRetry(error)) {
          isRetry = true
          // The socket is closed, so the client opens another. In a microtask, because undici is still cleaning up.
          queueMicrotask(send)
          return
        }
        if (phase === 'connecting' && (error === IS_OVER || isUnwritable(error))) pool?.release(connection)
        else pool?.discard(connection)
        onError(error)
      },
    }

    const pending: PendingRequest = {
      start: given => {
        connection = given
        send()
      },
      fail: onError,
    }

    return {
      start: (): void => {
        if (isOwn(origin)) {
          fail(blocked(`${origin} is Patchbay itself, which cannot call itself`), true)
          return
        }
        pool = pools.get(origin)
        if (pool === undefined) fail(stoppingProblem)
        else pool.acquire(pending)
      },
      phase: (): Phase => phase,
      /** Stops reading from the socket. */
      pause: (): void => controller?.pause(),
      resume: (): void => controller?.resume(),
      /** Ends the request without notifying the handler. The server sees its connection close. */
      abort,
    }
  }

  return {
    dispatch,
    /** Closes all connections and fails the requests on them. */
    close: (): Promise<void> => pools.close(),
  }
}

export type OutboundDispatcher = ReturnType<typeof createDispatcher>
