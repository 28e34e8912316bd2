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

/** Clients connected to a server, and those that act in one's own name. */
export const grantRoutes =
  ({ grants, baseUrl }: { grants: GrantService; baseUrl: string }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/servers/:uuid/grants',
      {
        config,
        schema: {
          tags: SERVERS,
          summary: 'The clients that use a server, and in whose name',
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
          summary: 'End a client’s use of a server in a user’s name',
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
          summary: 'The applications that act in one’s name, and on which server',
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
          summary: 'End what an application may do in one’s name',
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
