import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Actor, Scope } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import { hasBody } from './json-body.ts'
import { BEARER_CHALLENGE } from './problem.ts'

/** Who may call a route. The app does not start unless every API route declares its access. */
export type RouteAccess = 'anyone' | 'user' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess
    /** Scope that a token needs. Defaults to `read` for GET and HEAD, and `write` for other methods. */
    scope?: Scope
  }
  interface FastifyRequest {
    actor: Actor | undefined
    /** How the caller authenticated. Requests with a session cookie also need a CSRF token. */
    signedInBy: 'token' | 'session' | undefined
    /** Whether the whole body had arrived when the caller was identified. */
    wasComplete: boolean
  }
  interface FastifyInstance {
    actorFinders: FindActors
  }
}

export type FindActors = {
  /**
   * Returns undefined if the token is unknown or expired, or if its user has been deleted. Throws `forbidden` if its user
   * is suspended.
   */
  findActorByToken(token: string): Promise<Actor | undefined>
  /** Returns undefined if the user has been deleted or suspended. */
  findActorByUserId(userId: string): Promise<Actor | undefined>
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
export const isSafeMethod = (method: string): boolean => SAFE_METHODS.has(method)

const SIGN_IN = 'Sign in, or send a personal access token.'

/** Takes linear time for any header, because no two adjacent parts can match the same character. */
const BEARER = /^Bearer(?: +(\S+))?$/i

/**
 * Returns the token from `Authorization: Bearer …` (RFC 6750 §2.1): '' if it is empty, undefined without such a header.
 */
export const bearerOf = (request: FastifyRequest): string | undefined => {
  const match = BEARER.exec(request.headers.authorization?.trim() ?? '')
  return match === null ? undefined : (match[1] ?? '')
}

/**
 * Returns the signed-in caller. Throws `unauthenticated` if nobody is signed in, which cannot happen on routes whose
 * `access` requires a user.
 */
export const actorOf = (request: FastifyRequest): Actor => {
  if (request.actor === undefined) throw new AppError('unauthenticated', SIGN_IN)
  return request.actor
}

const neededScope = (request: FastifyRequest): Scope =>
  request.routeOptions.config.scope ?? (isSafeMethod(request.method) ? 'read' : 'write')

const challenge = (reply: FastifyReply, parameters: string): void => {
  reply.header('www-authenticate', `${BEARER_CHALLENGE}${parameters}`)
}

const assertAccess = (request: FastifyRequest, reply: FastifyReply): void => {
  const { access } = request.routeOptions.config
  if (access === undefined || access === 'anyone') return
  const { actor } = request
  if (actor === undefined) {
    const wasTokenSent = bearerOf(request) !== undefined
    challenge(reply, wasTokenSent ? ', error="invalid_token"' : '')
    throw new AppError('unauthenticated', wasTokenSent ? 'The token is unknown, revoked or expired.' : SIGN_IN)
  }
  const scope = neededScope(request)
  if (!actor.scopes.has(scope)) {
    challenge(reply, `, error="insufficient_scope", scope="${scope}"`)
    throw new AppError('forbidden', `This requires a token with the scope "${scope}".`)
  }
  if (access === 'operator' && !actor.isOperator) {
    throw new AppError('forbidden', 'Only the operator of this installation may do this.')
  }
}

/**
 * Throws `unauthenticated`, with a challenge (RFC 6750 §3), if the bearer token is missing or wrong. For routes whose
 * token comes from a setting, named by `name`.
 */
export const assertBearer = (
  request: FastifyRequest,
  reply: FastifyReply,
  { name, isRight }: { name: string; isRight: (token: string) => boolean },
): void => {
  const token = bearerOf(request)
  if (token !== undefined && isRight(token)) return
  challenge(reply, token === undefined ? '' : ', error="invalid_token"')
  const what = token === undefined ? 'The token is missing' : 'The token is wrong'
  throw new AppError('unauthenticated', `${what}. Send the value of ${name} as "Authorization: Bearer …".`)
}

const identify = (request: FastifyRequest, actor: Actor | undefined, by: 'token' | 'session'): void => {
  if (actor === undefined) return
  // Anything suspended can still be read.
  const suspensions = isSafeMethod(request.method) ? undefined : actor.suspensions
  request.actor = { ...actor, address: request.ip, suspensions }
  request.signedInBy = by
}

const authenticate = async (request: FastifyRequest, finders: FindActors): Promise<void> => {
  const token = bearerOf(request)
  if (token !== undefined) {
    identify(request, await finders.findActorByToken(token), 'token')
    return
  }
  const userId = request.session?.userId
  if (userId === undefined) return
  identify(request, await finders.findActorByUserId(userId), 'session')
}

/**
 * Identifies the caller again if the body arrived after that. The client may have sent it long after the head, and the
 * caller's access may have ended in between.
 */
const authenticateAgain = async (request: FastifyRequest, finders: FindActors): Promise<void> => {
  if (request.actor === undefined || request.wasComplete || !hasBody(request.headers)) return
  if (request.signedInBy === 'session') await request.session.reload()
  request.actor = undefined
  request.signedInBy = undefined
  await authenticate(request, finders)
}

/** Sets the actor after a request has signed the user in, so that the response can show the user's page. */
export const goOnSignedIn = (request: FastifyRequest): Promise<void> =>
  authenticate(request, request.server.actorFinders)

const assertDeclared = ({ method, url, config }: RouteOptions): void => {
  if (config?.access === undefined) {
    throw new Error(`The route ${method} ${url} does not declare who may use it: add config: { access: … }`)
  }
}

/**
 * Identifies the caller of each request in this scope before the body is read, and again after if the body comes later
 * than the head, and enforces the route's `access`. A bearer token takes precedence over the session cookie. Call after `keepSessions`. Access is checked after
 * the body has been read, so that a rejected form can be preserved, and with `onRequest` also before.
 */
export const checkAccess = (
  app: FastifyInstance,
  finders: FindActors,
  assertIn: 'onRequest' | 'preValidation' = 'onRequest',
): void => {
  app.decorate('actorFinders', finders)
  app.decorateRequest('actor', undefined)
  app.decorateRequest('signedInBy', undefined)
  app.decorateRequest('wasComplete', false)
  app.addHook('onRoute', assertDeclared)
  app.addHook('onRequest', async request => {
    await authenticate(request, finders)
    request.wasComplete = request.raw.complete
  })
  if (assertIn === 'onRequest') app.addHook('onRequest', async (request, reply) => assertAccess(request, reply))
  app.addHook('preValidation', async (request, reply) => {
    await authenticateAgain(request, finders)
    assertAccess(request, reply)
  })
}
