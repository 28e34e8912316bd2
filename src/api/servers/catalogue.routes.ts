import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { CatalogueReport } from '../../tools/lint/catalogue-report.ts'
import { ServerLintView, ServerTokensView } from './catalogue.schema.ts'
import { toServerLintView, toServerTokensView } from './catalogue.view.ts'
import type { CatalogueReports } from './catalogue-reports.ts'

type Parts = { servers: Pick<ServerService, 'getServer'>; catalogueReports: CatalogueReports }

const config = { access: 'user' } as const
const tags = ['servers']
const params = z.object({ uuid: uuidParam })

export const catalogueRoutes =
  ({ servers, catalogueReports }: Parts): FastifyPluginAsyncZod =>
  async app => {
    const getReport = async (actor: Actor, serverId: string): Promise<[CatalogueReport, string]> => {
      const { presentation } = await servers.getServer(actor, serverId)
      const report = await catalogueReports.find(serverId)
      if (report === undefined) throw new AppError('not_found', 'Server not found.')
      return [report, presentation]
    }

    app.get(
      '/servers/:uuid/tokens',
      {
        config,
        schema: {
          tags,
          summary: 'Get the token cost of the tool list, by tool and by presentation',
          params,
          response: { 200: ServerTokensView },
        },
      },
      async request => toServerTokensView(...(await getReport(actorOf(request), request.params.uuid))),
    )

    app.get(
      '/servers/:uuid/lint',
      {
        config,
        schema: {
          tags,
          summary: 'List known problems of the tools with clients and models',
          params,
          response: { 200: ServerLintView },
        },
      },
      async request => toServerLintView(...(await getReport(actorOf(request), request.params.uuid))),
    )
  }
