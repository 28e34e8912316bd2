import type { AccessPolicy, Caller } from '../execution/index.ts'
import type { Result } from '../kernel/index.ts'
import { refusal } from './answer.ts'
import type { Challenges } from './challenges.ts'
import { type Exchange, hasLeft, writeRefusal } from './exchange.ts'
import type { Mounted } from './mounted.ts'
import type { OriginPolicy } from './origin.ts'
import { ERROR } from './protocol.ts'
import { type McpLogger, type McpRegistry, RecentFailure } from './registry.ts'

export type AccessRefusal = 'unauthenticated' | 'forbidden'

/** Who the Authorization header belongs to and whether the policy lets them in. At once where it is known already. */
export type Authorize = (
  policy: AccessPolicy,
  authorization: string | undefined,
) => Result<Caller, AccessRefusal> | Promise<Result<Caller, AccessRefusal>>

type Next = (mounted: Mounted, caller: Caller) => void
/** `elsewhere`, if given, answers in place of a server that does not pass its requests on, and of one that is not there. */
export type Admit = (exchange: Exchange, next: Next, elsewhere?: (exchange: Exchange) => void) => void

export type AdmissionOptions = {
  registry: Pick<McpRegistry, 'find'>
  origins: OriginPolicy
  authorize: Authorize
  challenges: Challenges
  logger: McpLogger
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const forbidden = refusal(403, ERROR.transport, 'Forbidden: this token may not use this server')

/**
 * The checks that every route of a server begins with: Origin and Host, the server, access. They run without a
 * promise where everything is known, for this is on the way of every call.
 */
export const createAdmission = ({ registry, origins, authorize, challenges, logger }: AdmissionOptions): Admit => {
  const fail = (exchange: Exchange, error: unknown): void => {
    // One that was just tried is in the log already.
    if (!(error instanceof RecentFailure)) {
      logger.error({ err: error, serverId: exchange.serverId }, 'a server could not be made ready')
    }
    if (exchange.raw.headersSent) return
    writeRefusal(exchange, refusal(503, ERROR.internal, 'This server cannot be made ready right now'), [
      'retry-after',
      '1',
    ])
  }
  const identify = (
    exchange: Exchange,
    mounted: Mounted | undefined,
    next: Next,
    elsewhere?: (exchange: Exchange) => void,
  ): void => {
    if (elsewhere !== undefined && mounted?.router.server.passthrough === undefined) {
      elsewhere(exchange)
      return
    }
    if (mounted === undefined) {
      writeRefusal(exchange, refusal(404, ERROR.transport, 'There is no server at this address'))
      return
    }
    const proceed = (access: Result<Caller, AccessRefusal>): void => {
      if (access.ok) next(mounted, access.value)
      else if (access.error === 'forbidden') writeRefusal(exchange, forbidden)
      else challenges.refuseToken(exchange)
    }
    const access = authorize(mounted.router.server.access, exchange.headers.authorization)
    if (access instanceof Promise)
      access.then(known => hasLeft(exchange) || proceed(known)).catch(error => fail(exchange, error))
    else proceed(access)
  }
  return (exchange, next, elsewhere) => {
    const { headers, serverId } = exchange
    if (!origins.isHostAllowed(headers.host) || !origins.isOriginAllowed(headers.origin)) {
      // No CORS fields: the page that asked is not to read this either.
      exchange.raw.writeHead(403, ['content-type', 'application/json'])
      exchange.raw.end(FOREIGN)
      return
    }
    const mounted = UUID.test(serverId) ? registry.find(serverId.toLowerCase()) : undefined
    if (mounted instanceof Promise) {
      mounted
        .then(ready => hasLeft(exchange) || identify(exchange, ready, next, elsewhere))
        .catch(error => fail(exchange, error))
    } else identify(exchange, mounted, next, elsewhere)
  }
}

const FOREIGN = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: ERROR.transport, message: 'Forbidden: this Origin or Host may not call this installation' },
})
