import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { ServerLintView, ServerTokensView } from './catalogue.schema.ts'
import { type ServerReport, toServerLintView, toServerTokensView } from './catalogue.view.ts'
import type { CatalogueReports } from './catalogue-reports.ts'

type Parts = { servers: Pick<ServerService, 'getServer'>; catalogueReports: CatalogueReports }

const params = z.object({ uuid: uuidParam })

export const catalogueRoutes: FastifyPluginAsyncZod<Parts> = async (app, { servers, catalogueReports }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['servers'] })

  const getReport = async (actor: Actor, serverId: string): Promise<ServerReport> => {
    const { presentation } = await servers.getServer(actor, serverId)
    const report = await catalogueReports.find(serverId)
    if (report === undefined) throw new AppError('not_found', 'Server not found.')
    return { report, presentation }
  }

  routes.get(
    '/servers/:uuid/tokens',
    { summary: 'Get the token cost of the tool list, by tool and by presentation', params },
    { schema: ServerTokensView, toView: toServerTokensView },
    ({ actor, params }) => getReport(actor, params.uuid),
  )
  routes.get(
    '/servers/:uuid/lint',
    { summary: 'List known problems of the tools with clients and models', params },
    { schema: ServerLintView, toView: toServerLintView },
    ({ actor, params }) => getReport(actor, params.uuid),
  )
}
