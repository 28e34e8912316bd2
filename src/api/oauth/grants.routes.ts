import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { orNull, serverParams, timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import { MCP_SCOPES } from '../../lib/kernel/mcp-scopes.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { mayUseServer } from '../../oauth/grants/consents.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import type { Grant } from '../../oauth/grants/grants.store.ts'

const common = {
  id: z.uuid(),
  client: z.object({
    id: z.string().describe('its client_id'),
    name: z.string().describe('name that the client registered, or the host of its metadata document'),
  }),
  scopes: z.array(z.enum(MCP_SCOPES)),
  lastUsedAt: orNull(timeSchema),
  expiresAt: orNull(timeSchema).describe('null if it is valid until revoked'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}

const GrantView = z.object({ ...common, user: z.object({ id: z.uuid(), email: z.string() }) }).meta({ id: 'Grant' })

const ApplicationView = z
  .object({
    ...common,
    server: z.object({
      id: z.uuid(),
      name: orNull(z.string()).describe('null if you can no longer use the server'),
      url: z.url(),
    }),
  })
  .meta({ id: 'Application' })

const params = uuidParams
const grantView = {
  schema: GrantView,
  toView: (grant: Grant) => ({ ...grant, user: { id: grant.userId, email: grant.userEmail } }),
}

/** Routes for the clients connected to a server, and for the applications that act on behalf of the user. */
export const grantRoutes: FastifyPluginAsyncZod<{ grants: GrantService; baseUrl: string }> = async (
  app,
  { grants, baseUrl },
) => {
  const ofServers = resourceRoutes(app, { access: 'user', tags: ['servers'] })
  const ofAccount = resourceRoutes(app, { access: 'user', tags: ['account'] })

  ofServers.list(
    '/servers/:uuid/grants',
    { summary: 'List the clients connected to a server and their users', params: serverParams },
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
    {
      schema: ApplicationView,
      toView: (grant: Grant, { actor }) => {
        const { serverId } = grant.server.policy
        const name = mayUseServer(actor, grant.server) ? grant.server.name : null
        return { ...grant, server: { id: serverId, name, url: serverUrl(baseUrl, serverId) } }
      },
    },
    ({ actor, page }) => grants.listApplications(actor, page),
  )
  ofAccount.remove('/me/applications/:id', { summary: 'Revoke an application’s access', params }, ({ actor, params }) =>
    grants.removeApplication(actor, params.id),
  )
}
