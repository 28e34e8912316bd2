import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import { ApplicationView, GrantView, toApplicationView, toGrantView } from './grants.schema.ts'

const config = { access: 'user' } as const
const SERVERS = ['servers']
const ACCOUNT = ['account']
const serverParams = z.object({ uuid: uuidParam })

/** Clients connected to a server, and applications that act on behalf of the user. */
export const grantRoutes =
  ({ grants, baseUrl }: { grants: GrantService; baseUrl: string }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/servers/:uuid/grants',
      {
        config,
        schema: {
          tags: SERVERS,
          summary: 'List the clients connected to a server and their users',
          params: serverParams,
          querystring: pageQuery,
          response: { 200: pageOf(GrantView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await grants.listServerGrants(actorOf(request), request.params.uuid, page), page, toGrantView)
      },
    )

    app.delete(
      '/grants/:id',
      {
        config,
        schema: {
          tags: SERVERS,
          summary: 'Revoke a client’s access to a server for a user',
          params: uuidParams,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await grants.removeGrant(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/me/applications',
      {
        config,
        schema: {
          tags: ACCOUNT,
          summary: 'List the applications that act on your behalf, and their servers',
          querystring: pageQuery,
          response: { 200: pageOf(ApplicationView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        const actor = actorOf(request)
        return toIdPage(await grants.listApplications(actor, page), page, toApplicationView(actor, baseUrl))
      },
    )

    app.delete(
      '/me/applications/:id',
      {
        config,
        schema: {
          tags: ACCOUNT,
          summary: 'Revoke an application’s access',
          params: uuidParams,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await grants.removeApplication(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
