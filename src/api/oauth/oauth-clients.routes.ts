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

/** Clients that an organization registers by hand, for programs that cannot register themselves. */
export const oauthClientRoutes =
  ({ oauthClients }: { oauthClients: OAuthClientService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/organizations/:id/oauth-clients',
      {
        config,
        schema: {
          tags,
          summary: 'Register an OAuth client by hand',
          params,
          body: CreateOAuthClient,
          response: { 201: NewOAuthClientView },
        },
      },
      async (request, reply) => {
        const made = await oauthClients.createClient(actorOf(request), request.params.id, request.body)
        return reply.code(201).send(toNewOAuthClientView(made))
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
          summary: 'Remove a client, and end all it may do in anybody’s name',
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
