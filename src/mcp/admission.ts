import { DatabaseFailure } from '../lib/db/failures.ts'
import type { ClientOrigins } from '../lib/http/origins.ts'
import { REQUEST_ID } from '../lib/http/request-ids.ts'
import type { AccessPolicy, Caller, createServerAccess } from '../servers/access/access.ts'
import type { Challenges } from './challenges.ts'
import { type HttpExchange, hasDisconnected, writeRefusal } from './http-exchange.ts'
import { ERROR } from './protocol.ts'
import type { MountedServer } from './registry/mounted-server.ts'
import { type McpLogger, type McpRegistry, RecentFailure } from './registry/registry.ts'
import { errorResponse, type Refusal, refusal } from './rpc-response.ts'
import type { ServerRequest } from './server-request.ts'

/**
 * Identifies the caller from the Authorization header and checks the access policy. Returns a promise only if something
 * has to be loaded.
 */
export type Authorize = ReturnType<typeof createServerAccess>

/**
 * Admits a request to its server and passes it to `next`. If `otherwise` is given, it handles
 * requests to unknown servers and to servers that are not passthrough servers.
 */
export type Admit = (
  http: HttpExchange,
  next: (request: ServerRequest) => void,
  otherwise?: (http: HttpExchange) => void,
) => void

/** Calls `next` with the server of a request, or undefined, unless the web page that sent it may not call it. */
type FindFor = (http: HttpExchange, next: (mounted: MountedServer | undefined) => void) => void

export type AdmissionOptions = {
  registry: Pick<McpRegistry, 'find'>
  origins: ClientOrigins
  authorize: Authorize
  challenges: Challenges
  /** Returns the refusal for a caller who keeps calling over a limit. */
  findFlood: (policy: AccessPolicy, caller: Caller) => Refusal | undefined
  logger: McpLogger
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const FORBIDDEN = refusal(403, ERROR.transport, 'Forbidden: this token may not use this server')
const suspended = (text: string): Refusal => refusal(403, ERROR.transport, text)
const NO_SERVER = refusal(404, ERROR.transport, 'There is no server at this address')
const NOT_READY: Refusal = {
  ...refusal(503, ERROR.internal, 'This server is temporarily unavailable'),
  headers: ['retry-after', '1'],
}
/** An error of the database is named, because it is not the server's or the token's fault. */
const notReady = ({ message }: DatabaseFailure): Refusal => ({ ...NOT_READY, message: message.replace(/\.$/, '') })

/**
 * Runs the first three steps for every request to a server: find the server, check Origin and Host, check access. A step
 * returns a promise only if something has to be loaded, because every call takes this path.
 */
export const createAdmission = (options: AdmissionOptions) => {
  const { registry, origins, authorize, challenges, findFlood, logger } = options
  const findServer = ({ serverId }: HttpExchange): MountedServer | undefined | Promise<MountedServer | undefined> =>
    UUID.test(serverId) ? registry.find(serverId.toLowerCase()) : undefined

  /**
   * Returns whether the page that sent the request, if one did, may read the response, and notes that in the exchange.
   * A missing server is treated like one that requires a token.
   */
  const checkOrigin = (http: HttpExchange, mounted: MountedServer | undefined): boolean => {
    const { origin } = http.headers
    if (origin === undefined) return true
    const server = mounted?.router.server
    const isOpen = server?.access.tier !== 'public' || server.allowAnyOrigin === true
    http.allowedOrigin = origins.allowedOriginFor(origin, isOpen)
    return http.allowedOrigin !== undefined
  }

  const checkAccess = ({ headers }: HttpExchange, { router }: MountedServer): ReturnType<Authorize> =>
    authorize(router.server.access, headers.authorization)

  const fail = (http: HttpExchange, error: unknown): void => {
    const cause = error instanceof RecentFailure ? error.cause : error
    const isDatabaseDown = cause instanceof DatabaseFailure
    // The original failure, and an outage of the database, have already been logged.
    if (cause === error && !isDatabaseDown) {
      logger.error(
        { err: error, serverId: http.serverId, requestId: http.requestId },
        'could not admit a request to an MCP server',
      )
    }
    if (!http.raw.headersSent) writeRefusal(http, isDatabaseDown ? notReady(cause) : NOT_READY)
  }
  const whenKnown = <T>(http: HttpExchange, value: T | Promise<T>, proceed: (value: T) => void): void => {
    if (value instanceof Promise) {
      value.then(known => hasDisconnected(http) || proceed(known)).catch(error => fail(http, error))
    } else proceed(value)
  }

  /** Runs the steps that need no token. They are all of a preflight request. */
  const findFor: FindFor = (http, next) => {
    if (!origins.isHostAllowed(http.headers.host)) writeForeign(http)
    else {
      whenKnown(http, findServer(http), mounted => {
        if (checkOrigin(http, mounted)) next(mounted)
        else writeForeign(http)
      })
    }
  }

  const admit: Admit = (http, next, otherwise) =>
    findFor(http, mounted => {
      if (otherwise !== undefined && mounted?.router.server.passthrough === undefined) otherwise(http)
      else if (mounted === undefined) writeRefusal(http, NO_SERVER)
      else {
        whenKnown(http, checkAccess(http, mounted), access => {
          const flood = access.ok ? findFlood(mounted.router.server.access, access.value) : undefined
          if (flood !== undefined) writeRefusal(http, flood)
          else if (access.ok) next({ http, mounted, caller: access.value })
          else if (typeof access.error === 'object') writeRefusal(http, suspended(access.error.suspended))
          else writeRefusal(http, access.error === 'forbidden' ? FORBIDDEN : challenges.invalidToken(http))
        })
      }
    })

  return { findFor, admit }
}

const FOREIGN = refusal(403, ERROR.transport, 'Forbidden: this Origin or Host is not allowed')

/** Omits CORS headers, so that the calling page cannot read this response. */
const writeForeign = ({ raw, requestId }: HttpExchange): void => {
  raw.writeHead(403, ['content-type', 'application/json', REQUEST_ID, requestId])
  raw.end(errorResponse(null, FOREIGN).head)
}
