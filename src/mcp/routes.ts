import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../execution/index.ts'
import { createOriginPolicy } from '../platform/http/index.ts'
import { type Authorize, createAdmission } from './admission.ts'
import { errorAnswer, refusal } from './answer.ts'
import { createChallenges } from './challenges.ts'
import { takePosts } from './direct-posts.ts'
import { type Exchange, writeRefusal } from './exchange.ts'
import { createHttpSse } from './http-sse.routes.ts'
import type { CheckRoom } from './listen.ts'
import type { Mounted } from './mounted.ts'
import { answerPreflight } from './preflight.ts'
import { ERROR } from './protocol.ts'
import type { McpLogger, McpRegistry } from './registry.ts'
import { createSessionIds, type SigningKey } from './session-id.ts'
import { createSessions } from './sessions.ts'
import { createStreamAccess } from './stream-access.ts'
import { createStreamableHttp, refuseMethod } from './streamable-http.routes.ts'

export type McpRoutesOptions = {
  registry: McpRegistry
  authorize: Authorize
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
    app.addHook('onClose', async () => sessions.close())

    const checkRoom: CheckRoom = mounted => {
      if (registry.isClosing) return refusal(503, ERROR.transport, 'This installation is stopping')
      const most = limits.maxSessionsPerServer
      if (mounted.openStreams < most) return undefined
      const why = `This server has ${most} streams open, as many as it may (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
      return refusal(503, ERROR.transport, why)
    }
    const streamable = createStreamableHttp({ sessions, limits, challenges, checkRoom, access, now, report })
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
    const serve = (exchange: Exchange, handle: Handle): void => {
      try {
        admit(exchange, (mounted, caller) => handle(exchange, mounted, caller))
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
    const preflight = (request: FastifyRequest<ServerParams>, reply: FastifyReply): void =>
      answerPreflight(exchangeOf(request, reply), origins)
    const refuse =
      (allowed: string): Handle =>
      exchange =>
        refuseMethod(exchange, allowed)

    app.post<ServerParams>('/s/:uuid', handler(streamable.post))
    takePosts(app, exchange => serve(exchange, streamable.post))
    app.get<ServerParams>('/s/:uuid', { exposeHeadRoute: false }, handler(streamable.get))
    app.delete<ServerParams>('/s/:uuid', handler(streamable.delete))
    app.get<ServerParams>('/s/:uuid/sse', { exposeHeadRoute: false }, handler(sse.open))
    app.post<ServerParams>('/s/:uuid/messages', handler(sse.post))
    for (const [url, allowed] of ALLOWED) {
      app.options<ServerParams>(url, preflight)
      const others = METHODS.filter(method => !allowed.split(', ').includes(method))
      app.route<ServerParams>({ method: others, url, handler: handler(refuse(allowed)) })
    }
  }

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const ALLOWED = [
  ['/s/:uuid', 'GET, POST, DELETE'],
  ['/s/:uuid/sse', 'GET'],
  ['/s/:uuid/messages', 'POST'],
] as const
