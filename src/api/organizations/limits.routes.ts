import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { CreateLimit, LimitView, UpdateLimit } from '../../limits/limits.schema.ts'
import type { LimitService } from '../../limits/limits.service.ts'

const params = uuidParams
const limitParams = z.object({ id: uuidParam, limitId: uuidParam })
const limitView = viewAsIs(LimitView)

export const limitRoutes: FastifyPluginAsyncZod<{ limits: LimitService }> = async (app, { limits }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['limits'] })

  routes.list(
    '/organizations/:id/limits',
    { summary: 'List the limits of an organization with their current use', params },
    limitView,
    ({ actor, params, page }) => limits.listLimits(actor, params.id, page),
  )
  routes.create(
    '/organizations/:id/limits',
    { summary: 'Limit the calls, model tokens or costs of an organization', params, body: CreateLimit },
    limitView,
    ({ actor, params, body }) => limits.createLimit(actor, params.id, body),
  )
  routes.get('/organizations/:id/limits/:limitId', { params: limitParams }, limitView, ({ actor, params }) =>
    limits.getLimit(actor, params.id, params.limitId),
  )
  routes.update(
    '/organizations/:id/limits/:limitId',
    { summary: 'Change the amount of a limit', params: limitParams, body: UpdateLimit },
    limitView,
    async ({ actor, params: { id, limitId }, body }) => {
      await assertUnchanged(['id', 'scope', 'unit', 'period'], body, () => limits.getLimit(actor, id, limitId))
      return limits.updateLimit(actor, id, limitId, body.amount)
    },
  )
  routes.remove('/organizations/:id/limits/:limitId', { params: limitParams }, ({ actor, params }) =>
    limits.removeLimit(actor, params.id, params.limitId),
  )
}
