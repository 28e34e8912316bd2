import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import { ApplicationView, GrantView, toApplicationView, toGrantView } from './grants.schema.ts'

const params = uuidParams
const grantView = { schema: GrantView, toView: toGrantView }

/** Clients connected to a server, and applications that act on behalf of the user. */
export const grantRoutes: FastifyPluginAsyncZod<{ grants: GrantService; baseUrl: string }> = async (
  app,
  { grants, baseUrl },
) => {
  const ofServers = resourceRoutes(app, { access: 'user', tags: ['servers'] })
  const ofAccount = resourceRoutes(app, { access: 'user', tags: ['account'] })

  ofServers.list(
    '/servers/:uuid/grants',
    { summary: 'List the clients connected to a server and their users', params: z.object({ uuid: uuidParam }) },
    grantView,
    ({ actor, params, page }) => grants.listServerGrants(actor, params.uuid, page),
  )
  ofServers.remove(
    '/grants/:id',
    { summary: 'Revoke a client’s access to a server for a user', params },
    ({ actor, params }) => grants.removeGrant(actor, params.id),
  )

  ofAccount.list(
    '/me/applications',
    { summary: 'List the applications that act on your behalf, and their servers' },
    { schema: ApplicationView, toView: toApplicationView(baseUrl) },
    ({ actor, page }) => grants.listApplications(actor, page),
  )
  ofAccount.remove('/me/applications/:id', { summary: 'Revoke an application’s access', params }, ({ actor, params }) =>
    grants.removeApplication(actor, params.id),
  )
}
