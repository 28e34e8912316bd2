import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { createClientOrigins, createOwnOrigin } from '../lib/http/origins.ts'
import { newRequestId, REQUEST_ID } from '../lib/http/request-ids.ts'
import { watchSlowResponses } from '../lib/http/slow-responses.ts'
import { isWebSocketUpgrade } from '../lib/http/websocket-upgrade.ts'
import type { Floods } from '../limits/floods.ts'
import { listenForUpgrades, type Upgrade } from '../passthrough/proxy/upgrades.ts'
import type { CompiledPassthrough } from '../runtime/call/compiled-passthrough.ts'
import { type Authorize, createAdmission } from './admission.ts'
import type { BodyLimits } from './body.ts'
import { type Challenges, createChallenges } from './challenges.ts'
import { handleDirectly } from './direct-requests.ts'
import { createFloodCheck } from './floods.ts'
import { type HttpExchange, type ReportFault, writeFault, writeRefusal } from './http-exchange.ts'
import { createPost } from './post.ts'
import { ALL_METHODS, isPreflight, sendPreflightResponse } from './preflight.ts'
import { ERROR } from './protocol.ts'
import type { McpLogger, McpRegistry } from './registry/registry.ts'
import { errorResponse, refusal } from './rpc-response.ts'
import type { ServerRequest } from './server-request.ts'
import { createHttpSse } from './sessions/http-sse.ts'
import { createSessionIds } from './sessions/session-id.ts'
import { createSessionPosts } from './sessions/session-posts.ts'
import { createSessions } from './sessions/sessions.ts'
import type { SigningKey } from './signer.ts'
import { createRequestStates } from './stateless/request-states.ts'
import { createStatelessCalls } from './stateless/stateless-calls.ts'
import { type CheckRoom, createListen } from './streams/listen.ts'
import { createSessionHttp, methodNotAllowed } from './streams/session-http.ts'
import { createSessionStreams } from './streams/session-streams.ts'
import { createWatchAccess, type WatchAccess } from './streams/stream-access.ts'

/** The checks that passthrough servers share with all other servers. */
export type PassthroughChecks = {
  challenges: Challenges
  checkRoom: CheckRoom
  watchAccess: WatchAccess
  isStopping: () => boolean
  report: ReportFault
}

/** Handles requests to passthrough servers after admission. */
export type PassthroughHandler = {
  serve: (request: ServerRequest, passthrough: CompiledPassthrough) => void
  serveUpgrade: (upgrade: Upgrade, request: ServerRequest, passthrough: CompiledPassthrough) => void
}

export type McpRoutesOptions = {
  registry: McpRegistry
  authorize: Authorize
  floods: Pick<Floods, 'find'>
  /** Creates the handler for requests to passthrough servers. */
  createPassthrough: (checks: PassthroughChecks) => PassthroughHandler
  /** The public origin. */
  baseUrl: string
  allowedOrigins: readonly string[]
  listensOnLoopback: boolean
  limits: BodyLimits & { maxSessionsPerServer: number; maxSessionIdleMs: number }
  /** Keys for session ids. The first key signs new ids. Ids signed with any of the keys are valid. */
  signingKeys: readonly SigningKey[]
  /** Milliseconds since 1970. */
  now: () => number
  logger: McpLogger
}

type ServerParams = { Params: { uuid: string } }
type Handle = (request: ServerRequest) => void

/**
 * Routes for MCP clients: `/s/:uuid`, and the HTTP+SSE transport below it. Handlers write to Node's
 * response and bypass Fastify's reply, which would cost every call several microseconds.
 */
export const mcpRoutes =
  (options: McpRoutesOptions): FastifyPluginAsync =>
  async app => {
    const { registry, authorize, limits, now, logger, signingKeys, baseUrl } = options
    const origins = createClientOrigins(options)
    const challenges = createChallenges(createOwnOrigin(baseUrl))
    const findFlood = createFloodCheck(options.floods)
    const { admit, findFor } = createAdmission({ registry, origins, authorize, challenges, findFlood, logger })
    const watchAccess = createWatchAccess(authorize, now)
    const report: ReportFault = (error, message, requestId) =>
      logger.error({ err: error, ...(requestId !== undefined && { requestId }) }, message)
    const sessions = createSessions({
      ids: createSessionIds(signingKeys),
      now,
      idleMs: limits.maxSessionIdleMs,
      maxPerServer: limits.maxSessionsPerServer,
    })
    app.addHook('onClose', async () => sessions.close())
    const stopWatching = watchSlowResponses(app.server)
    app.addHook('onClose', async () => stopWatching())

    const { maxSessionsPerServer } = limits
    const isStopping = (): boolean => registry.isClosing
    const checkRoom: CheckRoom = ({ openStreams }) => {
      if (isStopping()) return refusal(503, ERROR.transport, 'This installation is stopping')
      if (openStreams < maxSessionsPerServer) return undefined
      const limit = `${maxSessionsPerServer} open streams (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
      return refusal(503, ERROR.transport, `This server has reached its limit of ${limit}`)
    }
    const passthrough = options.createPassthrough({ challenges, checkRoom, watchAccess, isStopping, report })
    const streams = createSessionStreams(watchAccess, now)
    const post = createPost({
      admit,
      limits,
      challenges,
      sessions,
      sessionPosts: createSessionPosts({ sessions, streams, maxSessionsPerServer, report }),
      statelessCalls: createStatelessCalls(createRequestStates(signingKeys, now), report),
      listen: createListen(checkRoom, watchAccess),
      report,
    })
    const sessionHttp = createSessionHttp({ sessions, streams, checkRoom })
    const sse = createHttpSse({ baseUrl, limits, challenges, checkRoom, watchAccess, now, report })

    // Avoids a child logger per request, which would be expensive and is never used.
    app.setChildLoggerFactory(parent => parent)
    // Bodies are read after the access checks, so that a caller without access cannot make us buffer one.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))

    // Handles Fastify's own errors, such as an invalid Content-Type.
    app.setErrorHandler<FastifyError>((error, { id }, reply) => {
      const status = error.statusCode ?? 500
      const why = refusal(status, ERROR.transport, status < 500 ? error.message : 'Internal error', { requestId: id })
      if (status >= 500) report(error, 'unexpected error while handling an MCP request', id)
      return reply.code(status).header(REQUEST_ID, id).type('application/json').send(errorResponse(null, why).head)
    })

    const exchangeOf = (request: FastifyRequest<ServerParams>, reply: FastifyReply): HttpExchange => {
      reply.hijack()
      const { raw } = request
      return {
        incoming: raw,
        raw: reply.raw,
        headers: raw.headers,
        serverId: request.params.uuid,
        requestId: request.id,
      }
    }
    const serve = (http: HttpExchange, handle: Handle, elsewhere?: (http: HttpExchange) => void): void => {
      const next = (admitted: ServerRequest): void => {
        const compiled = admitted.mounted.router.server.passthrough
        if (compiled === undefined) handle(admitted)
        else passthrough.serve(admitted, compiled)
      }
      try {
        admit(http, next, elsewhere)
      } catch (error) {
        writeFault(http, error, report)
      }
    }
    const handler =
      (handle: Handle) =>
      (request: FastifyRequest<ServerParams>, reply: FastifyReply): void =>
        serve(exchangeOf(request, reply), handle)
    /** Handles requests to paths below a server's URL, which exist only for passthrough servers. */
    const passOn = (http: HttpExchange): void => serve(http, respondNotFound, notFound)
    /** Responds to CORS preflight requests. Passthrough servers pass on all other OPTIONS requests. */
    const preflight =
      (methods?: string) =>
      (request: FastifyRequest<ServerParams>, reply: FastifyReply): void => {
        const http = exchangeOf(request, reply)
        const respond = (): void => sendPreflightResponse(http, methods)
        if (isPreflight(http)) findFor(http, respond)
        else serve(http, respond, methods === undefined ? respond : notFound)
      }
    const refuse =
      (allowed: string): Handle =>
      ({ http }) =>
        writeRefusal(http, methodNotAllowed(allowed))

    app.post<ServerParams>('/s/:uuid', handler(post))
    // Nearly all POSTs bypass Fastify's routes.
    handleDirectly(app, { post: http => serve(http, post), rareMethod: passOn })
    app.get<ServerParams>('/s/:uuid', { exposeHeadRoute: false }, handler(sessionHttp.get))
    app.delete<ServerParams>('/s/:uuid', handler(sessionHttp.delete))
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
      // Node may report upgrades to any protocol here, not only WebSocket.
      const serverId = isWebSocketUpgrade(incoming) ? SERVER_PATH.exec(incoming.url ?? '')?.[1] : undefined
      if (serverId === undefined) {
        ignore()
        return
      }
      const requestId = newRequestId()
      const http: HttpExchange = { incoming, raw, headers: incoming.headers, serverId, requestId }
      const next = (admitted: ServerRequest): void => {
        const compiled = admitted.mounted.router.server.passthrough
        if (compiled === undefined) notFound(http)
        else passthrough.serveUpgrade(upgrade, admitted, compiled)
      }
      try {
        admit(http, next, notFound)
      } catch (error) {
        report(error, 'unexpected error while handling an MCP request', requestId)
        upgrade.socket.destroy()
      }
    })
  }

const respondNotFound: Handle = ({ http }) => notFound(http)
const notFound = (http: HttpExchange): void =>
  writeRefusal(http, refusal(404, ERROR.transport, 'There is nothing at this address'))

const SERVER_PATH = /^(?:https?:\/\/[^/]*)?\/s\/([^/?#]+)/i

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const ALLOWED = [
  ['/s/:uuid', 'GET, POST, DELETE'],
  ['/s/:uuid/sse', 'GET'],
  ['/s/:uuid/messages', 'POST'],
] as const
