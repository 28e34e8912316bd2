import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Presentation } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { FindingView } from '../../tools/findings.schema.ts'
import {
  type CatalogueReport,
  findCatalogueFindings,
  findListCost,
  LISTED_PRESENTATIONS,
} from '../../tools/lint/catalogue-report.ts'
import type { CatalogueReports } from './catalogue-reports.ts'

const ServerLintView = z.object({
  findings: z.array(FindingView).describe('problems of the tool list as a whole'),
  tools: z
    .array(z.object({ name: z.string(), findings: z.array(FindingView) }))
    .describe('tools with findings, by name, including tools of attached MCP servers'),
})

const ServerTokensView = z.object({
  encoding: z.string().describe('the encoding used to count tokens'),
  presentation: z.string().describe('the presentation set on the server'),
  shownAs: z
    .enum(LISTED_PRESENTATIONS)
    .nullable()
    .describe('the list that clients get, also for auto; null for a passthrough server'),
  presentations: z
    .array(
      z.object({
        presentation: z.enum(LISTED_PRESENTATIONS),
        tools: z.int(),
        tokens: z.int().describe('tokens of tools/list, all pages together, as sent'),
        bytes: z.int(),
      }),
    )
    .describe('the list under each presentation'),
  tools: z.array(z.object({ name: z.string(), tokens: z.int() })).describe('each tool as in the flat list'),
})

/** Routes for the token costs and findings of a server's tools, in the presentation set on the server. */
type ServerReport = { report: CatalogueReport; presentation: Presentation }

const toServerLintView = ({ report, presentation }: ServerReport) => ({
  findings: findCatalogueFindings(report, presentation),
  tools: report.tools.filter(({ findings }) => findings.length > 0),
})

const toServerTokensView = ({ report, presentation }: ServerReport) => ({
  encoding: report.encoding,
  presentation,
  shownAs: findListCost(report, presentation)?.presentation ?? null,
  presentations: report.costs,
  tools: report.tools,
})

type Parts = { servers: Pick<ServerService, 'getServer'>; catalogueReports: CatalogueReports }

const params = serverParams

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
    { summary: 'List problems that clients and models are known to have with the tools', params },
    { schema: ServerLintView, toView: toServerLintView },
    ({ actor, params }) => getReport(actor, params.uuid),
  )
}
