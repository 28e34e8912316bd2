import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import {
  CreateOAuthClient,
  NewOAuthClientView,
  OAuthClientView,
  UpdateOAuthClient,
} from '../../oauth/clients/oauth-clients.schema.ts'
import type { OAuthClientService } from '../../oauth/clients/oauth-clients.service.ts'

const params = uuidParams
const clientView = viewAsIs(OAuthClientView)
const READ_ONLY = ['id', 'organizationId', 'clientId', 'tokenEndpointAuthMethod'] as const

/** Routes for OAuth clients that an organization registers manually, for programs that cannot register themselves. */
export const oauthClientRoutes: FastifyPluginAsyncZod<{ oauthClients: OAuthClientService }> = async (
  app,
  { oauthClients },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['organizations'] })

  routes.create(
    '/organizations/:id/oauth-clients',
    { summary: 'Register an OAuth client manually', params, body: CreateOAuthClient },
    viewAsIs(NewOAuthClientView),
    ({ actor, params, body }) => oauthClients.createClient(actor, params.id, body),
  )
  routes.list('/organizations/:id/oauth-clients', { params }, clientView, ({ actor, params, page }) =>
    oauthClients.listClients(actor, params.id, page),
  )
  routes.get('/oauth-clients/:id', { params }, clientView, ({ actor, params }) =>
    oauthClients.getClient(actor, params.id),
  )
  routes.update(
    '/oauth-clients/:id',
    { params, body: UpdateOAuthClient },
    clientView,
    async ({ actor, params: { id }, body }) => {
      await assertUnchanged(READ_ONLY, body, () => oauthClients.getClient(actor, id))
      return oauthClients.updateClient(actor, id, body)
    },
  )
  routes.remove(
    '/oauth-clients/:id',
    { summary: 'Delete a client and revoke its access for all users', params },
    ({ actor, params }) => oauthClients.removeClient(actor, params.id),
  )
}
