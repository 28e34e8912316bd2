import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import type { Server } from '../../servers/server.ts'
import { ServerView, TransferServer } from '../../servers/servers.schema.ts'
import { toServerView } from '../../servers/servers.view.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'

type Parts = { serverTransfer: ServerTransfer; findShownAs: FindShownAs; baseUrl: string }

export const serverTransferRoutes: FastifyPluginAsyncZod<Parts> = async (
  app,
  { serverTransfer, findShownAs, baseUrl },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['servers'] })
  const toView = async (server: Server) => toServerView(server, baseUrl, await findShownAsOf(server, findShownAs))

  routes.perform(
    '/servers/:uuid/transfer',
    {
      summary: 'Move a server to another organization; the toolkits it uses become snapshots',
      params: serverParams,
      body: TransferServer,
    },
    { schema: ServerView, toView },
    ({ actor, params, body }) => serverTransfer.transferServer(actor, params.uuid, body),
  )
}
