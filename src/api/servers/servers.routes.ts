import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { noContent, resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParam } from '../../lib/http/schemas.ts'
import type { AccessRequestService } from '../../servers/access/access-requests.service.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import { type ClosedServer, isClosed, type Server } from '../../servers/server.ts'
import {
  AccessRequestView,
  CreateServer,
  GlobalView,
  PutGlobal,
  SeenServerView,
  ServerView,
  TransferServer,
  UpdateServer,
  UsedToolkitView,
  UseToolkitQuery,
} from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { toClosedServerView, toGlobalView, toServerView } from '../../servers/servers.view.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'
import type { ToolkitUseService } from '../../servers/sources/toolkit-uses.service.ts'

type Parts = {
  servers: ServerService
  accessRequests: AccessRequestService
  globals: GlobalService
  toolkitUses: ToolkitUseService
  serverTransfer: ServerTransfer
  findShownAs: FindShownAs
  baseUrl: string
}

const config = { access: 'user' } as const
const tags = ['servers']
const params = serverParams
const toolkitParams = z.object({ uuid: uuidParam, id: uuidParam })
const requestParams = z.object({ uuid: uuidParam, userId: uuidParam })
const globalParams = z.object({ uuid: uuidParam, key: z.string() })
const globalView = { schema: GlobalView, toView: toGlobalView }
const READ_ONLY = ['id', 'uuid', 'organizationId', 'ownerId', 'url', 'shownAs'] as const

export const serverRoutes: FastifyPluginAsyncZod<Parts> = async (
  app,
  { servers, accessRequests, globals, toolkitUses, serverTransfer, findShownAs, baseUrl },
) => {
  const routes = resourceRoutes(app, { ...config, tags })
  const toView = async (server: Server) => toServerView(server, baseUrl, await findShownAsOf(server, findShownAs))
  const serverView = { schema: ServerView, toView }
  const seenView = {
    schema: SeenServerView,
    toView: async (server: Server | ClosedServer) => (isClosed(server) ? toClosedServerView(server) : toView(server)),
  }
  const listedView = {
    schema: SeenServerView,
    toView: (server: Server | ClosedServer) =>
      isClosed(server) ? toClosedServerView(server) : toServerView(server, baseUrl),
  }

  routes.create('/servers', { body: CreateServer }, serverView, ({ actor, body }) => servers.createServer(actor, body))
  routes.list('/servers', {}, listedView, ({ actor, page }) => servers.listSeenServers(actor, page))
  routes.get('/servers/:uuid', { params }, seenView, ({ actor, params }) => servers.seeServer(actor, params.uuid))
  routes.update('/servers/:uuid', { params, body: UpdateServer }, serverView, async ({ actor, params, body }) => {
    const { uuid } = params
    await assertUnchanged(READ_ONLY, body, async () => toView(await servers.getServer(actor, uuid)))
    return servers.updateServer(actor, uuid, body)
  })
  routes.remove('/servers/:uuid', { params }, ({ actor, params }) => servers.removeServer(actor, params.uuid))

  routes.perform(
    '/servers/:uuid/transfer',
    {
      summary: 'Move a server to another organization; the toolkits it uses become snapshots',
      params,
      body: TransferServer,
    },
    serverView,
    ({ actor, params, body }) => serverTransfer.transferServer(actor, params.uuid, body),
  )

  routes.list(
    '/servers/:uuid/access-requests',
    { summary: 'List requests for access to a private server', params },
    viewAsIs(AccessRequestView),
    ({ actor, params, page }) => accessRequests.listRequests(actor, params.uuid, page),
  )
  routes.route('POST', 204)(
    '/servers/:uuid/access-requests',
    { summary: 'Ask for access to a private server of your organization', params },
    noContent,
    async ({ actor, params }) => accessRequests.requestAccess(actor, params.uuid),
  )
  routes.remove(
    '/servers/:uuid/access-requests/:userId',
    { summary: 'Decline a request; to allow the user, add them to allowedUsers', params: requestParams },
    ({ actor, params }) => accessRequests.declineRequest(actor, params.uuid, params.userId),
  )

  routes.get(
    '/servers/:uuid/toolkits',
    { params, querystring: pageQuery },
    viewAsIs(pageOf(UsedToolkitView)),
    async ({ actor, params, query }) => {
      const page = idPageOf(query)
      const used = await toolkitUses.listUsedToolkits(actor, params.uuid, page)
      return toPage(used, page.limit, last => last.useId)
    },
  )
  routes.route('PUT', 204)(
    '/servers/:uuid/toolkits/:id',
    { params: toolkitParams, querystring: UseToolkitQuery },
    noContent,
    ({ actor, params, query }) => toolkitUses.useToolkit(actor, params.uuid, params.id, query.version),
  )
  routes.remove('/servers/:uuid/toolkits/:id', { params: toolkitParams }, ({ actor, params }) =>
    toolkitUses.dropToolkit(actor, params.uuid, params.id),
  )

  routes.list('/servers/:uuid/globals', { params }, globalView, ({ actor, params, page }) =>
    globals.listGlobals(actor, params.uuid, page),
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
  routes.remove('/servers/:uuid/globals/:key', { params: globalParams }, ({ actor, params }) =>
    globals.removeGlobal(actor, params.uuid, params.key),
  )
}
