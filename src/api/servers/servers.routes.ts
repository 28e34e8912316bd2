import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { Server } from '../../servers/server.ts'
import {
  CreateServer,
  GlobalView,
  PutGlobal,
  ServerView,
  UpdateServer,
  UsedToolkitView,
  UseToolkitQuery,
} from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { toGlobalView, toServerView, toUsedToolkitView } from '../../servers/servers.view.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ToolkitUseService } from '../../servers/sources/toolkit-uses.service.ts'

type Parts = {
  servers: ServerService
  globals: GlobalService
  toolkitUses: ToolkitUseService
  findShownAs: FindShownAs
  baseUrl: string
}

const config = { access: 'user' } as const
const tags = ['servers']
const params = z.object({ uuid: uuidParam })
const toolkitParams = z.object({ uuid: uuidParam, id: uuidParam })
const globalParams = z.object({ uuid: uuidParam, key: z.string() })
const READ_ONLY = ['id', 'uuid', 'organizationId', 'ownerId', 'url', 'shownAs'] as const

export const serverRoutes =
  ({ servers, globals, toolkitUses, findShownAs, baseUrl }: Parts): FastifyPluginAsyncZod =>
  async app => {
    const viewOf = async (server: Server) => toServerView(server, baseUrl, await findShownAsOf(server, findShownAs))

    app.post(
      '/servers',
      { config, schema: { tags, body: CreateServer, response: { 201: ServerView } } },
      async (request, reply) => {
        const server = await servers.createServer(actorOf(request), request.body)
        return reply.code(201).send(await viewOf(server))
      },
    )

    app.get(
      '/servers',
      { config, schema: { tags, querystring: pageQuery, response: { 200: pageOf(ServerView) } } },
      async request => {
        const page = idPageOf(request.query)
        const listed = await servers.listServers(actorOf(request), page)
        return toIdPage(listed, page, server => toServerView(server, baseUrl))
      },
    )

    app.get('/servers/:uuid', { config, schema: { tags, params, response: { 200: ServerView } } }, async request =>
      viewOf(await servers.getServer(actorOf(request), request.params.uuid)),
    )

    app.patch(
      '/servers/:uuid',
      { config, schema: { tags, params, body: UpdateServer, response: { 200: ServerView } } },
      async request => {
        const { body } = request
        const { uuid } = request.params
        const actor = actorOf(request)
        await assertUnchanged(READ_ONLY, body, async () => viewOf(await servers.getServer(actor, uuid)))
        return viewOf(await servers.updateServer(actor, uuid, body))
      },
    )

    app.delete(
      '/servers/:uuid',
      { config, schema: { tags, params, response: { 204: z.null() } } },
      async (request, reply) => {
        await servers.removeServer(actorOf(request), request.params.uuid)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/servers/:uuid/toolkits',
      { config, schema: { tags, params, querystring: pageQuery, response: { 200: pageOf(UsedToolkitView) } } },
      async request => {
        const page = idPageOf(request.query)
        const used = await toolkitUses.listUsedToolkits(actorOf(request), request.params.uuid, page)
        const { items, nextCursor } = toPage(used, page.limit, last => last.useId)
        return { items: items.map(toUsedToolkitView), nextCursor }
      },
    )

    app.put(
      '/servers/:uuid/toolkits/:id',
      { config, schema: { tags, params: toolkitParams, querystring: UseToolkitQuery, response: { 204: z.null() } } },
      async (request, reply) => {
        const { uuid, id } = request.params
        await toolkitUses.useToolkit(actorOf(request), uuid, id, request.query.version)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/servers/:uuid/toolkits/:id',
      { config, schema: { tags, params: toolkitParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await toolkitUses.dropToolkit(actorOf(request), request.params.uuid, request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/servers/:uuid/globals',
      { config, schema: { tags, params, querystring: pageQuery, response: { 200: pageOf(GlobalView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await globals.listGlobals(actorOf(request), request.params.uuid, page), page, toGlobalView)
      },
    )

    app.put(
      '/servers/:uuid/globals/:key',
      {
        config,
        schema: { tags, params: globalParams, body: PutGlobal, response: { 200: GlobalView, 201: GlobalView } },
      },
      async (request, reply) => {
        const { uuid, key } = request.params
        const { global, isNew } = await globals.putGlobal(actorOf(request), uuid, key, request.body)
        return reply.code(isNew ? 201 : 200).send(toGlobalView(global))
      },
    )

    app.delete(
      '/servers/:uuid/globals/:key',
      { config, schema: { tags, params: globalParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await globals.removeGlobal(actorOf(request), request.params.uuid, request.params.key)
        return reply.code(204).send(null)
      },
    )
  }
