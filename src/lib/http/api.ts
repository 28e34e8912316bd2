import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { checkAccess, type FindActors } from './access.ts'
import { respondToCutOff } from './cut-off.ts'
import { readJsonBodies } from './json-body.ts'
import { type ApiDescription, describeApi } from './openapi.ts'
import { type OriginPolicy, refuseForeignOrigins } from './origins.ts'
import { sendProblem } from './problem.ts'
import { REQUEST_ID } from './request-ids.ts'
import { keepSessions, requireCsrfTokens, type SessionOptions } from './sessions.ts'
import { respondToUnknownRoutes } from './unknown-routes.ts'

export type ApiOptions = {
  maxJsonDepth: number
  origins: OriginPolicy
  sessions: SessionOptions
  actors: FindActors
  description: ApiDescription
}

/** Logs one line per response, with the route's pattern instead of the path, which may contain private data. */
const logResponses = (api: FastifyInstance): void => {
  api.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, actor } = request
    const durationMs = Math.round(reply.elapsedTime)
    request.log.info(
      { method, route: routeOptions.url, status: reply.statusCode, durationMs, userId: actor?.userId },
      'api',
    )
  })
}

const setHeaders = (api: FastifyInstance): void => {
  api.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    reply.header(REQUEST_ID, request.id)
    // PostgreSQL does not accept NUL, so a query with a path or filter that contains NUL would fail.
    if (request.url.includes('%00')) throw new AppError('invalid_request', 'The URL contains a NUL character (%00).')
  })
}

/**
 * Sets up a scope of the server for the management API. Await it before registering routes:
 *
 *     app.register(async api => {
 *       await configureApi(api, options)
 *       await api.register(accountRoutes(services))
 *     }, { prefix: '/api/v1' })
 */
export const configureApi = async (api: FastifyInstance, options: ApiOptions): Promise<void> => {
  await api.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: options.sessions.isHttps,
  })
  respondToCutOff(api, sendProblem)
  setHeaders(api)
  refuseForeignOrigins(api, options.origins)
  await keepSessions(api, options.sessions)
  checkAccess(api, options.actors)
  requireCsrfTokens(api)
  readJsonBodies(api, options.maxJsonDepth)
  respondToUnknownRoutes(api)
  logResponses(api)
  describeApi(api, options.description)
}
