import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { checkAccess, type FindActors } from './access.ts'
import { readJsonBodies } from './json-body.ts'
import { type OriginPolicy, refuseForeignOrigins } from './origins.ts'
import { keepSessions, requireCsrfTokens, type SessionOptions } from './sessions.ts'

export type ApiOptions = {
  maxJsonDepth: number
  origins: OriginPolicy
  sessions: SessionOptions
  actors: FindActors
}

/**
 * Makes a scope of the server the management API; to be awaited before its routes are registered:
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
  api.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    reply.header('x-request-id', request.id)
  })
  refuseForeignOrigins(api, options.origins)
  await keepSessions(api, options.sessions)
  checkAccess(api, options.actors)
  requireCsrfTokens(api)
  readJsonBodies(api, options.maxJsonDepth)
}
