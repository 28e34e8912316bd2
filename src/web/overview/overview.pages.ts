import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { FindCatalogueReport } from '../context/index.ts'
import type { CallTokensOf, ExecutionService } from '../execution/index.ts'
import { createCallFigureStore } from '../history/index.ts'
import { serverUrl } from '../kernel/index.ts'
import { actorOf, formText, uuidParam } from '../platform/http/index.ts'
import {
  createServerWiring,
  findReportSoon,
  getServerFrame,
  type ServerFrameParts,
  type ServerService,
  serverTabPath,
  toCatalogueSentence,
} from '../servers/index.ts'
import type { Upstream, UpstreamOffers, UpstreamState } from '../upstreams/index.ts'
import { toCallTokensPage } from './call-tokens.view.ts'
import { toConnectPanel } from './connect.ts'
import { historyPath, toCallView, toHealthView, toPatchCallers } from './overview.view.ts'
import { toPatchFigure } from './patch/figure.ts'
import { buildServerPatch } from './server-patch.ts'

type Parts = {
  frames: ServerFrameParts
  execution: Pick<ExecutionService, 'listExecutions'>
  callTokens: CallTokensOf
  upstreamOffers: Pick<UpstreamOffers, 'listPresented' | 'listPassedOn'>
  servers: Pick<ServerService, 'getServer'>
  catalogueReports: { find: FindCatalogueReport }
  /** How an upstream's connection is. */
  stateOf: (upstream: Upstream) => UpstreamState
  baseUrl: string
}

const config = { access: 'user' } as const
const Params = z.object({ uuid: uuidParam })
const Query = z.object({ done: formText })

/** The newest calls that the overview shows; all of them are in the history. */
const RECENT_CALLS = 8
/** How long the page waits for the tokens of the tools to be counted, in milliseconds. */
const REPORT_WAIT_MS = 150

const NOTES = new Map([
  ['made', 'Made. Its address answers already; give it a tool next.'],
  ['sample', 'Plugged in: four tools of the sample API. Copy the address into a client, and call one.'],
  ['offered', 'The tool is plugged in. Copy the address into a client, and call it.'],
  ['saved', 'Saved. It is live for the next call.'],
])

/** What one sees first of a server: its address, what it is wired to, how it does. */
export const overviewPages =
  ({ frames, execution, callTokens, upstreamOffers, servers, catalogueReports, stateOf, baseUrl }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const figures = createCallFigureStore(frames.db)
    const readWiring = createServerWiring(frames)

    app.get('/servers/:uuid', { config, schema: { params: Params } }, async (request, reply) => {
      const actor = actorOf(request)
      const { uuid } = Params.parse(request.params)
      const { done } = Query.parse(request.query)
      // First of all: what follows asks for whatever server it is told.
      const server = await getServerFrame(frames, actor, uuid, 'overview')
      const now = new Date()
      const [wiring, presented, health, tools, clients, recent, { presentation }, report, tokens] = await Promise.all([
        readWiring(actor, uuid),
        server.passesOn ? upstreamOffers.listPassedOn(uuid) : upstreamOffers.listPresented(uuid),
        figures.ofServer(uuid, now),
        figures.ofTools(uuid, now),
        figures.ofClients(uuid, now),
        execution.listExecutions(actor, uuid, { limit: RECENT_CALLS }),
        servers.getServer(actor, uuid),
        findReportSoon(catalogueReports.find, uuid, REPORT_WAIT_MS),
        callTokens.ofServer(actor, uuid, {}),
      ])
      const upstreams = presented.map(each => ({ ...each, state: stateOf(each.upstream) }))
      const callers = toPatchCallers(clients)
      const url = serverUrl(baseUrl, uuid)
      return reply.page('dashboard/overview', {
        title: server.name,
        server,
        note: NOTES.get(done),
        url,
        urlLead: serverUrl(baseUrl, ''),
        connect: toConnectPanel({ id: uuid, name: server.name, tier: server.tier, url }),
        patch: toPatchFigure(buildServerPatch({ wiring, figures: tools, upstreams, callers })),
        health: toHealthView(health),
        // Requests that are passed on call no tool.
        tokens: presentation === 'passthrough' ? undefined : toCallTokensPage(tokens),
        tokensPath: `/api/v1/servers/${uuid}/executions/tokens`,
        calls: recent.items.map(toCallView),
        historyPath: historyPath(uuid),
        catalogue: {
          text: report && toCatalogueSentence(report, presentation),
          href: `${serverTabPath(uuid, 'tools')}#catalogue`,
        },
        isEmpty: server.counts.tools === 0 && upstreams.length === 0,
      })
    })
  }
