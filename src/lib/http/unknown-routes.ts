import type { FastifyInstance } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { sendProblem } from './problem.ts'

/** `/tools/:id` as an expression that fits each of its addresses. */
const toPattern = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  )

type KnownRoutes = ReadonlyMap<string, { pattern: RegExp; methods: ReadonlySet<string> }>

/** The routes that are registered in a scope from now on. */
export const watchRoutes = (app: FastifyInstance): KnownRoutes => {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() }
    routes.set(url, route)
    for (const name of [method].flat()) route.methods.add(name)
  })
  return routes
}

/** Methods that another request for the same address could have. */
export const findAllowedMethods = (routes: KnownRoutes, url: string): string[] => {
  const path = url.split('?', 1)[0] ?? ''
  return [...routes.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])
}

/** Answers what no route of this scope is for: 405 with Allow where another method would do, else 404. */
export const answerUnknownRoutes = (app: FastifyInstance): void => {
  const routes = watchRoutes(app)
  app.setNotFoundHandler((request, reply) => {
    const allowed = findAllowedMethods(routes, request.url)
    if (allowed.length === 0) {
      return sendProblem(request, reply, new AppError('not_found', 'There is nothing at this address.'))
    }
    reply.header('allow', allowed.join(', '))
    return sendProblem(request, reply, new AppError('method_not_allowed', `${request.method} is not for this address.`))
  })
}
