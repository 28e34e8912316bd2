import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { ServerView, TransferServer } from '../../servers/servers.schema.ts'
import { toServerView } from '../../servers/servers.view.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'

type Parts = { serverTransfer: ServerTransfer; findShownAs: FindShownAs; baseUrl: string }

const config = { access: 'user' } as const
const params = z.object({ uuid: uuidParam })

export const serverTransferRoutes =
  ({ serverTransfer, findShownAs, baseUrl }: Parts): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/servers/:uuid/transfer',
      {
        config,
        schema: {
          tags: ['servers'],
          summary: 'Move a server to another organization; the toolkits it uses become snapshots',
          params,
          body: TransferServer,
          response: { 200: ServerView },
        },
      },
      async request => {
        const moved = await serverTransfer.transferServer(actorOf(request), request.params.uuid, request.body)
        return toServerView(moved, baseUrl, await findShownAsOf(moved, findShownAs))
      },
    )
  }
