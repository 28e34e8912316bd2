import { lookup as systemLookup } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { createProxyServer } from 'httpxy'
import { MAX_RESPONSE_HEADER_BYTES } from '../../kernel/index.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { toOutboundError } from './faults.ts'
import { ConnectFailure, createGuardedAgents, type GuardedAgentOptions } from './guarded-agents.ts'
import { createOwnOriginCheck } from './own-origins.ts'
import { type Passing, passExchange, type RequestPassing } from './pass-exchange.ts'
import { HeadTimeout, toProxyProblem } from './proxy-faults.ts'
import { blocked } from './redirects.ts'

export type UpgradePassing = Passing & {
  /** Before it is sent on: its headers and status may be changed. */
  onAnswer: (answer: IncomingMessage) => void
  /** Both sides are one stream each way from now on. */
  onOpen: (socket: Socket) => void
}

export type ReverseProxyOptions = GuardedAgentOptions & {
  /** Origins of Patchbay itself. */
  ownOrigins?: readonly string[]
}

/** Statuses by which a gateway says that nobody is behind it. */
const NOBODY: ReadonlySet<number | undefined> = new Set([502, 503, 504])

type Underway = {
  /** The request has its connection. */
  hasGone: (outgoing: ClientRequest) => void
  /** The answer begins. False where it comes too late. */
  finish: () => boolean
  fail: (error: unknown) => void
}

const watch = ({ url, headTimeoutMs, onFault }: Passing): Underway => {
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
      // Node tells of some ends by nothing else.
      request.once('close', () => isOver || fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    },
    finish,
    fail,
  }
}

/**
 * The library's proxy, for one request: its events are those of that request. The path is whole already: the
 * library would join two by rules of its own.
 */
const createOwnProxy = () => createProxyServer({ prependPath: false })

/**
 * Passes whole requests on, as streams in both directions, over connections that the address guard has checked. Each end
 * waits for the other, and ends with it. What goes out and what comes back is the caller's to say.
 */
export const createReverseProxy = (options: ReverseProxyOptions) => {
  const agents = createGuardedAgents(options)
  const { policy, connectTimeoutMs, lookup = systemLookup } = options
  const pools = createConnectionPools({
    connector: createConnector({ policy, lookup, connectTimeoutMs }),
    // A stream keeps its connection: how many there are at once is bounded where requests come in.
    maxSockets: Number.POSITIVE_INFINITY,
    maxHeaderBytes: MAX_RESPONSE_HEADER_BYTES,
    bodyIdleMs: 0,
  })
  const isOwn = createOwnOriginCheck(options.ownOrigins)
  /** Makes the request what goes out: the library sends what stands in it. */
  const fill = (incoming: IncomingMessage, { path, headers }: Passing): void => {
    incoming.url = path
    incoming.headers = headers
  }
  const refusesOwn = ({ url, onFault }: Passing): boolean => {
    if (!isOwn(url.origin)) return false
    const error = toOutboundError(blocked(`${url.origin} is Patchbay itself, which cannot be its own upstream`), 0)
    onFault({ error, isUnsent: true, wasReused: false })
    return true
  }

  return {
    /** Passes on a request; the returned function breaks it off. */
    pass: (wish: RequestPassing): (() => void) => {
      if (refusesOwn(wish)) return () => undefined
      return passExchange(pools.get(wish.url.origin), MAX_RESPONSE_HEADER_BYTES, wish)
    },
    /** Passes on the wish for another protocol, and then whatever is said in it. */
    passUpgrade: (incoming: IncomingMessage, socket: Socket, head: Buffer, wish: UpgradePassing): void => {
      if (refusesOwn(wish)) return
      fill(incoming, wish)
      const { hasGone, finish, fail } = watch(wish)
      const proxy = createOwnProxy()
      proxy.on('error', fail)
      // Before the library's own listeners, which send on what stands in the answer.
      proxy.on('proxyReqWs', outgoing => {
        hasGone(outgoing)
        outgoing.on('response', answer => {
          finish()
          wish.onAnswer(answer)
        })
        outgoing.on('upgrade', (answer, other: Socket) => {
          finish()
          wish.onAnswer(answer)
          wish.onOpen(other)
        })
      })
      const { url: target } = wish
      void proxy.ws(incoming, socket, { target, agent: agents.agentFor(target.protocol) }, head).then(finish)
    },
    /** Whether somebody answers there, whatever it is; asked by a method that changes nothing (RFC 9110 §9.3.7). */
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
        outgoing.on('response', ({ statusCode }) => end(!NOBODY.has(statusCode)))
        outgoing.on('error', () => end(false))
        outgoing.end()
      }),
    /** Cuts all that is under way. */
    close: async (): Promise<void> => {
      agents.close()
      await pools.close()
    },
  }
}

export type ReverseProxy = ReturnType<typeof createReverseProxy>
