import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { Suspendable } from '../../suspensions/suspension.ts'
import {
  BlockedOriginView,
  NewBlockedOrigin,
  NewSuspension,
  SuspensionView,
} from '../../suspensions/suspensions.schema.ts'
import type { SuspensionService } from '../../suspensions/suspensions.service.ts'

const suspensionView = viewAsIs(SuspensionView)
const originView = viewAsIs(BlockedOriginView)

const KINDS = [
  { kind: 'user', list: '/suspensions/users', of: '/users/:id/suspension', param: 'id' },
  { kind: 'organization', list: '/suspensions/organizations', of: '/organizations/:id/suspension', param: 'id' },
  { kind: 'server', list: '/suspensions/servers', of: '/servers/:uuid/suspension', param: 'uuid' },
] as const satisfies readonly { kind: Suspendable; list: string; of: string; param: string }[]

/** Routes with which the operator suspends and restores users, organizations and servers, and blocks origins. */
export const suspensionRoutes: FastifyPluginAsyncZod<{ suspensionService: SuspensionService }> = async (
  app,
  { suspensionService: service },
) => {
  const routes = resourceRoutes(app, { access: 'operator', tags: ['suspensions'] })

  for (const { kind, list, of, param } of KINDS) {
    const params = z.object({ [param]: uuidParam })
    const idOf = (given: Readonly<Record<string, string>>): string => given[param] ?? ''
    routes.list(list, { summary: `List every suspended ${kind}` }, suspensionView, ({ page }) =>
      service.listSuspended(kind, page),
    )
    routes.put(
      of,
      { summary: `Suspend a ${kind}, or change the reason`, params, body: NewSuspension },
      suspensionView,
      ({ actor, params: given, body }) => service.suspend(actor, kind, idOf(given), body),
    )
    routes.remove(of, { summary: `Restore a ${kind}`, params }, ({ actor, params: given }) =>
      service.restore(actor, kind, idOf(given)),
    )
  }

  routes.list('/blocked-origins', { summary: 'List blocked origins' }, originView, ({ page }) =>
    service.listBlockedOrigins(page),
  )
  routes.create(
    '/blocked-origins',
    { summary: 'Refuse all requests of tools and attached MCP servers to an origin', body: NewBlockedOrigin },
    originView,
    ({ actor, body }) => service.blockOrigin(actor, body),
  )
  routes.remove('/blocked-origins/:id', { summary: 'Allow an origin again', params: uuidParams }, ({ actor, params }) =>
    service.unblockOrigin(actor, params.id),
  )
}
