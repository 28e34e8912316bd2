import type { FastifyInstance } from 'fastify'
import { AppError, unknownAddress } from '../kernel/errors.ts'
import { sendProblem } from './problem.ts'

/** Converts `/tools/:id` to an expression that matches its URLs. */
const toPattern = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  )

type KnownRoutes = ReadonlyMap<string, { pattern: RegExp; methods: ReadonlySet<string> }>

/** Collects the routes that are registered in a scope from now on. */
export const watchRoutes = (app: FastifyInstance): KnownRoutes => {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() }
    routes.set(url, route)
    for (const name of [method].flat()) route.methods.add(name)
  })
  return routes
}

/** Returns the methods that routes for this URL accept. */
export const findAllowedMethods = (routes: KnownRoutes, url: string): string[] => {
  const path = url.split('?', 1)[0] ?? ''
  return [...routes.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])
}

/** Responds to requests that match no route of this scope: 405 with Allow if another method exists, otherwise 404. */
export const respondToUnknownRoutes = (app: FastifyInstance): void => {
  const routes = watchRoutes(app)
  app.setNotFoundHandler((request, reply) => {
    const allowed = findAllowedMethods(routes, request.url)
    if (allowed.length === 0) return sendProblem(request, reply, unknownAddress())
    reply.header('allow', allowed.join(', '))
    return sendProblem(request, reply, new AppError('method_not_allowed', `${request.method} is not for this address.`))
  })
}
