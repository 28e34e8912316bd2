import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import {
  CreateOAuthClient,
  NewOAuthClientView,
  OAuthClientView,
  toNewOAuthClientView,
  toOAuthClientView,
  UpdateOAuthClient,
} from '../../oauth/clients/oauth-clients.schema.ts'
import type { OAuthClientService } from '../../oauth/clients/oauth-clients.service.ts'

const config = { access: 'user' } as const
const tags = ['organizations']
const params = uuidParams
const READ_ONLY = ['id', 'organizationId', 'clientId', 'tokenEndpointAuthMethod'] as const

/** OAuth clients registered manually by an organization, for programs that cannot register themselves. */
export const oauthClientRoutes =
  ({ oauthClients }: { oauthClients: OAuthClientService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/organizations/:id/oauth-clients',
      {
        config,
        schema: {
          tags,
          summary: 'Register an OAuth client manually',
          params,
          body: CreateOAuthClient,
          response: { 201: NewOAuthClientView },
        },
      },
      async (request, reply) => {
        const created = await oauthClients.createClient(actorOf(request), request.params.id, request.body)
        return reply.code(201).send(toNewOAuthClientView(created))
      },
    )

    app.get(
      '/organizations/:id/oauth-clients',
      { config, schema: { tags, params, querystring: pageQuery, response: { 200: pageOf(OAuthClientView) } } },
      async request => {
        const page = idPageOf(request.query)
        const clients = await oauthClients.listClients(actorOf(request), request.params.id, page)
        return toIdPage(clients, page, toOAuthClientView)
      },
    )

    app.get(
      '/oauth-clients/:id',
      { config, schema: { tags, params, response: { 200: OAuthClientView } } },
      async request => toOAuthClientView(await oauthClients.getClient(actorOf(request), request.params.id)),
    )

    app.patch(
      '/oauth-clients/:id',
      { config, schema: { tags, params, body: UpdateOAuthClient, response: { 200: OAuthClientView } } },
      async request => {
        const { body } = request
        const { id } = request.params
        const actor = actorOf(request)
        await assertUnchanged(READ_ONLY, body, async () => toOAuthClientView(await oauthClients.getClient(actor, id)))
        return toOAuthClientView(await oauthClients.updateClient(actor, id, body))
      },
    )

    app.delete(
      '/oauth-clients/:id',
      {
        config,
        schema: {
          tags,
          summary: 'Delete a client and revoke its access for all users',
          params,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await oauthClients.removeClient(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
