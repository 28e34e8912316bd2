import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../execution/index.ts'
import { createForwardedFor, createOriginPolicy, wishesWebSocket } from '../platform/http/index.ts'
import { listenForUpgrades, type ReverseProxy } from '../platform/net/index.ts'
import { type Authorize, createAdmission } from './admission.ts'
import { errorAnswer, refusal } from './answer.ts'
import { createChallenges } from './challenges.ts'
import { takePosts } from './direct-posts.ts'
import { type Exchange, writeRefusal } from './exchange.ts'
import { createHttpSse } from './http-sse.routes.ts'
import type { CheckRoom } from './listen.ts'
import type { Mounted } from './mounted.ts'
import { createPassthrough } from './passthrough/passthrough.ts'
import { ALL_METHODS, answerPreflight, isPreflight } from './preflight.ts'
import { ERROR } from './protocol.ts'
import { takeRareMethods } from './rare-methods.ts'
import type { McpLogger, McpRegistry } from './registry.ts'
import { createRequestStates } from './request-states.ts'
import { createSessionIds, type SigningKey } from './session-id.ts'
import { createSessions } from './sessions.ts'
import { createStreamAccess } from './stream-access.ts'
import { createStreamableHttp, refuseMethod } from './streamable-http.routes.ts'

export type McpRoutesOptions = {
  registry: McpRegistry
  authorize: Authorize
  /** By which the requests of passthrough servers reach their upstreams. */
  proxy: ReverseProxy
  /** Networks of the proxies before us, whose word on the caller's address is passed on. */
  trustProxy: readonly string[]
  /** The origin that clients see. */
  baseUrl: string
  allowedOrigins: readonly string[]
  listensOnLoopback: boolean
  limits: {
    maxRequestBytes: number
    maxJsonDepth: number
    maxSessionsPerServer: number
    maxSessionIdleMs: number
  }
  /** For session ids. The first signs, all verify. */
  signingKeys: readonly SigningKey[]
  /** Milliseconds since 1970. */
  now: () => number
  logger: McpLogger
}

type ServerParams = { Params: { uuid: string } }
type Handle = (exchange: Exchange, mounted: Mounted, caller: Caller) => void

/**
 * What MCP clients talk to: `/s/:uuid` and the older transport below it. Written straight to the socket's response,
 * past Fastify's reply: on this path every microsecond is paid by every call.
 */
export const mcpRoutes =
  (options: McpRoutesOptions): FastifyPluginAsync =>
  async app => {
    const { registry, authorize, limits, now, logger, signingKeys, baseUrl } = options
    const origins = createOriginPolicy(options)
    const challenges = createChallenges(baseUrl)
    const admit = createAdmission({ registry, origins, authorize, challenges, logger })
    const access = createStreamAccess(authorize, now)
    const report = (error: unknown, message: string): void => logger.error({ err: error }, message)
    const sessions = createSessions({
      ids: createSessionIds(signingKeys),
      now,
      idleMs: limits.maxSessionIdleMs,
      maxPerServer: limits.maxSessionsPerServer,
    })
    const states = createRequestStates(signingKeys, now)
    app.addHook('onClose', async () => sessions.close())

    const checkRoom: CheckRoom = mounted => {
      if (registry.isClosing) return refusal(503, ERROR.transport, 'This installation is stopping')
      const most = limits.maxSessionsPerServer
      if (mounted.openStreams < most) return undefined
      const why = `This server has ${most} streams open, as many as it may (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
      return refusal(503, ERROR.transport, why)
    }
    const passthrough = createPassthrough({
      proxy: options.proxy,
      challenges,
      checkRoom,
      maxRequestBytes: limits.maxRequestBytes,
      baseUrl,
      access,
      isStopping: () => registry.isClosing,
      forwardedFor: createForwardedFor(options.trustProxy),
      report,
    })
    const streamable = createStreamableHttp({ sessions, states, limits, challenges, checkRoom, access, now, report })
    const sse = createHttpSse({ baseUrl, limits, challenges, checkRoom, access, now, report })

    // A logger of its own for each request costs as much as all the rest here, and nothing is written with it.
    app.setChildLoggerFactory(parent => parent)
    // Bodies are read by the handlers, after the checks of access: nobody makes us hold one for nothing.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))

    // What Fastify refuses by itself, such as a Content-Type that is none.
    app.setErrorHandler<FastifyError>((error, _request, reply) => {
      const status = error.statusCode ?? 500
      const why = refusal(status, ERROR.transport, status < 500 ? error.message : 'Internal error')
      if (status >= 500) report(error, 'a request failed for a reason nobody thought of')
      return reply.code(status).type('application/json').send(errorAnswer(null, why).head)
    })

    const exchangeOf = (request: FastifyRequest<ServerParams>, reply: FastifyReply): Exchange => {
      reply.hijack()
      const { raw } = request
      return { incoming: raw, raw: reply.raw, headers: raw.headers, serverId: request.params.uuid }
    }
    const serve = (exchange: Exchange, handle: Handle, elsewhere?: (exchange: Exchange) => void): void => {
      const next = (mounted: Mounted, caller: Caller): void => {
        const { passthrough: way } = mounted.router.server
        if (way === undefined) handle(exchange, mounted, caller)
        else passthrough.serve(exchange, mounted, caller, way)
      }
      try {
        admit(exchange, next, elsewhere)
      } catch (error) {
        // Out of an event's listener it would end the process, and every other call with it.
        report(error, 'a request failed for a reason nobody thought of')
        if (!exchange.raw.headersSent) writeRefusal(exchange, refusal(500, ERROR.internal, 'Internal error'))
      }
    }
    const handler =
      (handle: Handle) =>
      (request: FastifyRequest<ServerParams>, reply: FastifyReply): void =>
        serve(exchangeOf(request, reply), handle)
    /** Below a server's own address there is something only where its requests are passed on. */
    const passOn = (exchange: Exchange): void => serve(exchange, notFound, notFound)
    /** What a browser asks is answered here; anything else is answered only where the upstream does. */
    const preflight =
      (methods?: string) =>
      (request: FastifyRequest<ServerParams>, reply: FastifyReply): void => {
        const exchange = exchangeOf(request, reply)
        const answer = (): void => answerPreflight(exchange, origins, methods)
        if (isPreflight(exchange)) answer()
        else serve(exchange, answer, methods === undefined ? answer : notFound)
      }
    const refuse =
      (allowed: string): Handle =>
      exchange =>
        refuseMethod(exchange, allowed)

    app.post<ServerParams>('/s/:uuid', handler(streamable.post))
    takeRareMethods(app, passOn)
    takePosts(app, exchange => serve(exchange, streamable.post))
    app.get<ServerParams>('/s/:uuid', { exposeHeadRoute: false }, handler(streamable.get))
    app.delete<ServerParams>('/s/:uuid', handler(streamable.delete))
    app.get<ServerParams>('/s/:uuid/sse', { exposeHeadRoute: false }, handler(sse.open))
    app.post<ServerParams>('/s/:uuid/messages', handler(sse.post))
    for (const [url, allowed] of ALLOWED) {
      app.options<ServerParams>(url, preflight())
      const others = METHODS.filter(method => !allowed.split(', ').includes(method))
      app.route<ServerParams>({ method: others, url, handler: handler(refuse(allowed)) })
    }
    app.route<ServerParams>({
      method: METHODS,
      url: '/s/:uuid/*',
      handler: (request, reply) => passOn(exchangeOf(request, reply)),
    })
    app.options<ServerParams>('/s/:uuid/*', preflight(ALL_METHODS))

    listenForUpgrades(app.server, upgrade => {
      const { incoming, raw, ignore } = upgrade
      // Where Node asks nobody what to do about it, every wish for another protocol ends up here.
      const serverId = wishesWebSocket(incoming) ? SERVER_PATH.exec(incoming.url ?? '')?.[1] : undefined
      if (serverId === undefined) {
        ignore()
        return
      }
      const exchange: Exchange = { incoming, raw, headers: incoming.headers, serverId }
      const next = (mounted: Mounted, caller: Caller): void => {
        const { passthrough: way } = mounted.router.server
        if (way === undefined) notFound(exchange)
        else passthrough.serveUpgrade({ ...upgrade, exchange }, mounted, caller, way)
      }
      try {
        admit(exchange, next, notFound)
      } catch (error) {
        report(error, 'a request failed for a reason nobody thought of')
        upgrade.socket.destroy()
      }
    })
  }

const notFound = (exchange: Exchange): void =>
  writeRefusal(exchange, refusal(404, ERROR.transport, 'There is nothing at this address'))

const SERVER_PATH = /^(?:https?:\/\/[^/]*)?\/s\/([^/?#]+)/i

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const ALLOWED = [
  ['/s/:uuid', 'GET, POST, DELETE'],
  ['/s/:uuid/sse', 'GET'],
  ['/s/:uuid/messages', 'POST'],
] as const
