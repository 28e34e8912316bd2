import type { FastifyInstance } from 'fastify'
import { AppError, unknownAddress } from '../kernel/errors.ts'
import { sendProblem } from './problem.ts'

/** Converts a route such as `/tools/:id` to a regular expression that matches its paths. */
const toPattern = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  )

type KnownRoutes = ReadonlyMap<string, { pattern: RegExp; methods: ReadonlySet<string> }>

/** Collects all routes registered in a scope after this call. */
export const watchRoutes = (app: FastifyInstance): KnownRoutes => {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() }
    routes.set(url, route)
    for (const name of [method].flat()) route.methods.add(name)
  })
  return routes
}

/** Returns the methods of all routes that match the URL. */
export const findAllowedMethods = (routes: KnownRoutes, url: string): string[] => {
  const path = url.split('?', 1)[0] ?? ''
  return [...routes.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])
}

/**
 * Responds to requests that match no route in this scope. Sends 405 with an Allow header if a route exists for another
 * method, and 404 otherwise.
 */
export const respondToUnknownRoutes = (app: FastifyInstance): void => {
  const routes = watchRoutes(app)
  app.setNotFoundHandler((request, reply) => {
    const allowed = findAllowedMethods(routes, request.url)
    if (allowed.length === 0) return sendProblem(request, reply, unknownAddress())
    reply.header('allow', allowed.join(', '))
    return sendProblem(
      request,
      reply,
      new AppError('method_not_allowed', `This address does not accept ${request.method}.`),
    )
  })
}
