import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { FindCreator } from '../worker/fair-queue.ts'
import type { AddressPolicy } from './address-policy.ts'
import { type Connection, type ConnectionPool, createConnectionPools, type PendingRequest } from './connection-pools.ts'
import type { OrganizationShare } from './connection-shares.ts'
import { createConnectors, type OutboundLookup } from './connector.ts'
import { blocked, isLostConnection, isUnwritable, type Problem, problemOf, stoppingProblem } from './faults.ts'
import { isIdempotent } from './outbound-request.ts'
import { MAX_RETRIES, type Phase, type RequestTrace } from './request-trace.ts'
import { createOwnOriginCheck } from './target.ts'

/** Maximum number of interim responses (1xx). */
const MAX_INTERIM_RESPONSES = 32
/** The abort reason passed to undici. It is never shown. */
const IS_OVER = new Error('the request is over')

export type DispatcherOptions = {
  /** Decides which addresses are allowed. Dispatchers do not share connections, because their policies may differ. */
  policy: AddressPolicy
  connectTimeoutMs: number
  /** Maximum sockets per origin; undefined for no limit. Further requests wait. */
  maxSockets?: number | undefined
  /** Limits for each organization at an origin; undefined for none. */
  share?: OrganizationShare | undefined
  /** Origins of Patchbay itself. Requests to them are refused, because Patchbay must not call itself. */
  ownOrigins?: readonly string[] | undefined
  /** Returns who created an organization, or undefined if nobody is known. Never rejects. Used with `share`. */
  findCreator?: FindCreator | undefined
  /** Returns all addresses of a name. */
  lookup: OutboundLookup
  /** Returns why the operator forbids a request, as a sentence for the caller. Undefined if it is allowed. */
  findBan?: FindBan | undefined
}

export type FindBan = (request: Pick<DispatchRequest, 'origin' | 'organizationId'>) => string | undefined

export type DispatchRequest = {
  /** The organization that the request is made for. Undefined for Patchbay's own requests. */
  organizationId: string | undefined
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
  /** Measures the request, if it is measured. */
  trace?: RequestTrace | undefined
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

type Pools = ReturnType<typeof createConnectionPools>
type Guard = {
  pools: Pools
  isOwn: ReturnType<typeof createOwnOriginCheck>
  findCreator: FindCreator | undefined
  findBan: FindBan | undefined
}

/** A request and its response. It is a class because closures for each request take more memory (ADR 13). */
class OutboundCall implements PendingRequest, Dispatcher.DispatchHandler {
  /** How far the request has come. */
  phase: Phase = 'queued'
  #phaseAtMs = 0
  creatorId: string | undefined
  readonly #request: DispatchRequest
  readonly #handler: ResponseHandler
  readonly #guard: Guard
  #pool: ConnectionPool | undefined
  #connection: Connection | undefined
  #controller: Dispatcher.DispatchController | undefined
  #wasSent = false
  #hasBegun = false
  #isRetry = false
  #isOver = false
  #interimResponses = 0
  /** Remaining bytes of the body; NaN if its length is unknown. */
  #missingBytes = Number.NaN

  constructor(request: DispatchRequest, handler: ResponseHandler, guard: Guard) {
    this.#request = request
    this.#handler = handler
    this.#guard = guard
  }

  get organizationId(): string | undefined {
    return this.#request.organizationId
  }

  /** Sends the request as soon as a connection is free. */
  start(): void {
    const { organizationId, origin, trace } = this.#request
    if (trace !== undefined) this.#phaseAtMs = performance.now()
    if (this.#guard.isOwn(origin)) {
      this.#failFor(blocked(`${origin} is Patchbay itself, which cannot call itself`), true)
      return
    }
    const ban = this.#guard.findBan?.(this.#request)
    if (ban !== undefined) {
      this.#failFor(blocked(ban), true)
      return
    }
    const creator = organizationId === undefined ? undefined : this.#guard.findCreator?.(organizationId)
    if (creator instanceof Promise) creator.then(creatorId => this.#acquire(creatorId)).catch(error => this.fail(error))
    else this.#acquire(creator)
  }

  #acquire(creatorId: string | undefined): void {
    if (this.#isOver) return
    this.creatorId = creatorId
    try {
      this.#pool = this.#guard.pools.get(this.#request.origin)
      if (this.#pool === undefined) this.#failFor(stoppingProblem)
      else this.#pool.acquire(this)
    } catch (error) {
      if (this.#connection !== undefined) this.#pool?.discard(this.#connection)
      this.fail(error)
    }
  }

  /** Adds the time since the last call to the current phase. */
  #measure(): void {
    const { trace } = this.#request
    if (trace === undefined) return
    const nowMs = performance.now()
    trace.add(this.phase, nowMs - this.#phaseAtMs)
    this.#phaseAtMs = nowMs
  }

  /** Measures how long it took to connect, if the connection was opened for this request. */
  #measureConnecting(): void {
    const connection = this.#connection
    if (connection === undefined || connection.responses > 0) return
    this.#measure()
    this.#request.trace?.addLookup(connection.lookupMs)
    connection.lookupMs = 0
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Ends the request without notifying the handler. If the request was sent, its connection is closed. */
  abort(): void {
    this.#finish()
    this.#pool?.forget(this)
    this.#controller?.abort(IS_OVER)
  }

  /** Called by the pool. */
  useConnection(connection: Connection): void {
    this.#connection = connection
    this.#send()
  }

  /** Called by the pool if there will be no connection. */
  fail(error: unknown): void {
    // If no bytes are missing, the body is complete. Its end was not processed because reading was paused.
    if (this.#missingBytes === 0) {
      this.#end()
      return
    }
    const { phase } = this
    const { origin, host, bodyIdleMs } = this.#request
    const problem = problemOf(error, { host, phase, isTls: origin.startsWith('https:'), bodyIdleMs })
    const isUnsent = !this.#wasSent && !isUnwritable(error)
    this.#failFor({ ...problem, cause: error }, isUnsent)
  }

  #failFor(problem: Problem, isUnsent = false): void {
    if (this.#isOver) return
    this.#finish()
    this.#handler.onFault(problem, isUnsent)
  }

  #end(): void {
    if (this.#isOver) return
    this.#finish()
    this.#handler.onEnd()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.phase === 'connecting') this.#measureConnecting()
    else this.#measure()
  }

  #send(): void {
    this.#measure()
    this.phase = 'connecting'
    const { path, method, headers, body = null, bodyIdleMs: bodyTimeout, upgrade } = this.#request
    const options = { path, method, headers, body, upgrade, bodyTimeout, blocking: false }
    this.#connection?.client.dispatch(options, this)
  }

  #mayRetry(error: Error): boolean {
    return (
      this.#request.mayRetry &&
      !this.#isOver &&
      !this.#isRetry &&
      !this.#hasBegun &&
      (this.#request.trace?.retries ?? 0) < MAX_RETRIES &&
      this.#connection !== undefined &&
      this.#connection.responses > 0 &&
      isLostConnection(error) &&
      (this.phase === 'connecting' || isIdempotent(this.#request.method))
    )
  }

  // Called by undici from here on.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An error thrown here leaves the connection usable.
    if (this.#isOver) throw IS_OVER
    this.#controller = controller
    this.#wasSent = true
    this.#measureConnecting()
    this.phase = 'sent'
  }

  onResponseStarted(): void {
    this.#hasBegun = true
  }

  onResponseStart(_: unknown, status: number, headers: ResponseHeaders, statusText = ''): void {
    if (this.#isOver) return
    if (status >= 200) {
      this.#measure()
      this.phase = 'receiving'
      this.#missingBytes = Number(headers['content-length'])
      this.#handler.onHead({ status, statusText, headers })
    } else if (++this.#interimResponses > MAX_INTERIM_RESPONSES) {
      this.#failFor({ fault: 'protocol', text: `${this.#request.host} sent too many interim responses` })
      this.abort()
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#isOver) return
    this.#missingBytes -= chunk.length
    this.#handler.onData(chunk)
  }

  onResponseEnd(): void {
    const connection = this.#connection
    this.#controller = undefined
    // If the handler throws, undici calls `onResponseError`, but the connection may have its next request by then.
    this.#connection = undefined
    if (connection !== undefined) {
      connection.responses++
      this.#pool?.release(connection)
    }
    this.#end()
  }

  onRequestUpgrade(_: unknown, status: number, headers: ResponseHeaders, socket: Duplex): void {
    this.#controller = undefined
    if (this.#connection !== undefined) this.#pool?.discard(this.#connection)
    if (this.#isOver || this.#handler.onUpgrade === undefined || !(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    this.#finish()
    this.#handler.onUpgrade({ status, statusText: '', headers }, socket)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#controller = undefined
    const connection = this.#connection
    if (connection === undefined) return
    if (this.#mayRetry(error)) {
      this.#isRetry = true
      this.#measure()
      this.#request.trace?.repeat({ fault: 'stale' })
      // The socket is closed, so the client opens another. In a microtask, because undici is still cleaning up.
      queueMicrotask(() => this.#send())
      return
    }
    if (this.phase === 'connecting' && (error === IS_OVER || isUnwritable(error))) this.#pool?.release(connection)
    else this.#pool?.discard(connection)
    this.fail(error)
  }
}

/**
 * Creates the only way to send requests to other HTTP servers. A request streams in both directions, over connections
 * that the address guard has checked, and is never redirected. Timeouts are up to the caller.
 */
export const createDispatcher = ({
  policy,
  connectTimeoutMs,
  maxSockets = Number.POSITIVE_INFINITY,
  share,
  ownOrigins = [],
  findCreator,
  lookup,
  findBan,
}: DispatcherOptions) => {
  const connectorFor = createConnectors({ policy, lookup, connectTimeoutMs })
  const pools = createConnectionPools({ connectorFor, maxSockets, share })
  // Only shares count creators.
  const guard = { pools, isOwn: createOwnOriginCheck(ownOrigins), findCreator: share && findCreator, findBan }
  return {
    /** Prepares a request, which its caller starts. */
    dispatch: (request: DispatchRequest, handler: ResponseHandler) => new OutboundCall(request, handler, guard),
    /** Closes all connections and fails the requests on them. */
    close: (): Promise<void> => pools.close(),
  }
}

export type OutboundDispatcher = ReturnType<typeof createDispatcher>
