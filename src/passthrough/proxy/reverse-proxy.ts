import { lookup as systemLookup } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { createProxyServer } from 'httpxy'
import { MAX_RESPONSE_HEADER_BYTES } from '../../lib/kernel/limits.ts'
import { createConnectionPools } from '../../lib/outbound/connection-pools.ts'
import { createConnector } from '../../lib/outbound/connector.ts'
import { toOutboundError } from '../../lib/outbound/faults.ts'
import { createOwnOriginCheck } from '../../lib/outbound/own-origins.ts'
import { blocked } from '../../lib/outbound/redirects.ts'
import { ConnectFailure, createGuardedAgents, type GuardedAgentOptions } from './guarded-agents.ts'
import { type OutgoingRequest, type ProxyRequest, passExchange } from './pass-exchange.ts'
import { HeadTimeout, toProxyProblem } from './proxy-faults.ts'

export type ProxyUpgrade = OutgoingRequest & {
  /** Called before the response is sent, to change its headers and status. */
  onResponse: (response: IncomingMessage) => void
  onOpen: (socket: Socket) => void
}

export type ReverseProxyOptions = GuardedAgentOptions & {
  /** Origins of Patchbay itself. */
  ownOrigins?: readonly string[]
}

/** Statuses with which a gateway reports that nothing is behind it. */
const GATEWAY_ERRORS: ReadonlySet<number | undefined> = new Set([502, 503, 504])

type Underway = {
  /** The request has been assigned a connection. */
  hasGone: (outgoing: ClientRequest) => void
  /** The response begins. Returns false if it is too late. */
  finish: () => boolean
  fail: (error: unknown) => void
}

const watch = ({ url, headTimeoutMs, onFault }: OutgoingRequest): Underway => {
  const startedAt = performance.now()
  let outgoing: ClientRequest | undefined
  let isOver = false
  const finish = (): boolean => {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    return true
  }
  const fail = (cause: unknown): void => {
    if (!finish()) return
    const problem = { ...toProxyProblem(cause, { url, headTimeoutMs }), cause }
    onFault({
      error: toOutboundError(problem, performance.now() - startedAt),
      isUnsent: cause instanceof ConnectFailure,
      wasReused: false,
    })
  }
  const timer = setTimeout(() => {
    fail(new HeadTimeout())
    outgoing?.destroy()
  }, headTimeoutMs)
  return {
    hasGone: request => {
      if (isOver) request.destroy()
      else outgoing = request
      // Node reports some failures only with this event.
      request.once('close', () => isOver || fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    },
    finish,
    fail,
  }
}

/**
 * A proxy for one request, so that its events belong to that request. The path is complete; the library would join two
 * paths in its own way.
 */
const createOwnProxy = () => createProxyServer({ prependPath: false })

/**
 * Creates the reverse proxy. It streams in both directions with backpressure, over connections that the address guard
 * has checked. Callers decide which headers go out and come back.
 */
export const createReverseProxy = (options: ReverseProxyOptions) => {
  const agents = createGuardedAgents(options)
  const { policy, connectTimeoutMs, lookup = systemLookup } = options
  const pools = createConnectionPools({
    connector: createConnector({ policy, lookup, connectTimeoutMs }),
    // A stream occupies its connection. Their number is limited where requests come in.
    maxSockets: Number.POSITIVE_INFINITY,
    maxHeaderBytes: MAX_RESPONSE_HEADER_BYTES,
    bodyIdleMs: 0,
  })
  const isOwn = createOwnOriginCheck(options.ownOrigins)
  /** Rewrites the incoming request into what the library will send. */
  const fill = (incoming: IncomingMessage, { path, headers }: OutgoingRequest): void => {
    incoming.url = path
    incoming.headers = headers
  }
  const refusesOwn = ({ url, onFault }: OutgoingRequest): boolean => {
    if (!isOwn(url.origin)) return false
    const error = toOutboundError(blocked(`${url.origin} is Patchbay itself, which cannot be its own upstream`), 0)
    onFault({ error, isUnsent: true, wasReused: false })
    return true
  }

  return {
    pass: (request: ProxyRequest): (() => void) => {
      if (refusesOwn(request)) return () => undefined
      return passExchange(pools.get(request.url.origin), MAX_RESPONSE_HEADER_BYTES, request)
    },
    /** Passes an upgrade on, and then all data of the new protocol. */
    passUpgrade: (incoming: IncomingMessage, socket: Socket, head: Buffer, request: ProxyUpgrade): void => {
      if (refusesOwn(request)) return
      fill(incoming, request)
      const { hasGone, finish, fail } = watch(request)
      const proxy = createOwnProxy()
      proxy.on('error', fail)
      // Runs before the library's own listeners, which forward the response.
      proxy.on('proxyReqWs', outgoing => {
        hasGone(outgoing)
        outgoing.on('response', response => {
          finish()
          request.onResponse(response)
        })
        outgoing.on('upgrade', (response, other: Socket) => {
          finish()
          request.onResponse(response)
          request.onOpen(other)
        })
      })
      const { url: target } = request
      void proxy.ws(incoming, socket, { target, agent: agents.agentFor(target.protocol) }, head).then(finish)
    },
    /** Whether a server responds, with any status. Uses a safe method (RFC 9110 §9.3.7). */
    probe: (url: URL, timeoutMs: number): Promise<boolean> =>
      new Promise(resolve => {
        if (isOwn(url.origin)) {
          resolve(false)
          return
        }
        const request = url.protocol === 'https:' ? requestHttps : requestHttp
        const headers = { 'user-agent': 'patchbay' }
        const outgoing = request(url, { method: 'OPTIONS', agent: agents.agentFor(url.protocol), headers })
        const end = (isThere: boolean): void => {
          clearTimeout(timer)
          resolve(isThere)
          outgoing.destroy()
        }
        const timer = setTimeout(() => end(false), timeoutMs)
        timer.unref()
        outgoing.on('response', ({ statusCode }) => end(!GATEWAY_ERRORS.has(statusCode)))
        outgoing.on('error', () => end(false))
        outgoing.end()
      }),
    close: async (): Promise<void> => {
      agents.close()
      await pools.close()
    },
  }
}

export type ReverseProxy = ReturnType<typeof createReverseProxy>
