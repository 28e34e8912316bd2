import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { createCallFigureStore } from '../../history/call-figures.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { CallTokensOf } from '../../results/ledger/call-tokens.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { AccessRequestService, ClosedServerPage } from '../../servers/access/access-requests.service.ts'
import { createServerWiring } from '../../servers/bindings/server-wiring.ts'
import { findReportWithin } from '../../servers/find-report-within.ts'
import type { SampleService } from '../../servers/samples/samples.service.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { FindCatalogueReport } from '../../tools/lint/catalogue-report.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import { toNoticeRows } from '../access/access.view.ts'
import { toPatchFigure } from '../diagram/figure.ts'
import { buildServerPatch } from '../diagram/server-patch.ts'
import { getServerFrame, type ServerFrameParts, sampleRemovalPath, serverTabPath } from '../frame/server-frame.ts'
import { serverIdOf, serverRoute } from '../frame/server-tab.ts'
import { doneText } from '../frame/user-page.ts'
import { toCatalogueSentence } from '../sources/catalogue.view.ts'
import { toCallTokensPage } from './call-tokens.view.ts'
import { toConnectPanel } from './connect.ts'
import { historyPath, toCallView, toHealthView, toPatchCallers } from './overview.view.ts'

type Parts = {
  frames: ServerFrameParts
  execution: Pick<ExecutionService, 'listExecutions'>
  callTokens: CallTokensOf
  upstreamOffers: Pick<UpstreamOffers, 'listPresented' | 'listPassthrough'>
  servers: Pick<ServerService, 'getServer'>
  samples: Pick<SampleService, 'listRemovable'>
  accessRequests: Pick<AccessRequestService, 'findClosed'>
  catalogueReports: { find: FindCatalogueReport }
  /** Returns the connection state of an upstream. */
  upstreamStateOf: (upstream: Upstream) => UpstreamState
  baseUrl: string
}

/** Maximum recent calls shown on the overview. The history contains all calls. */
const RECENT_CALLS = 8
/** Maximum wait for the tools' token counts, in milliseconds. */
const REPORT_WAIT_MS = 150

const NOTES = {
  made: 'Server created. Add a tool next.',
  sample: 'Sample API added with four tools. Copy the address into a client and call one.',
  offered: 'Tool added. Copy the address into a client and call it.',
  saved: 'Saved. Changes apply from the next call.',
}

/** Shows a private server to a member who may not use it: its name, its owner, and how to get access. */
const showClosed = (reply: FastifyReply, { server, ...page }: ClosedServerPage): FastifyReply =>
  reply.page('overview/private-server', {
    title: server.name,
    section: 'servers',
    width: 'narrow',
    server,
    ...page,
    requestPath: `${serverTabPath(server.id, 'access')}/requests`,
  })

/** Registers a server's overview page, which shows its URL, wiring and health. */
export const overviewPages: FastifyPluginAsync<Parts> = async (
  app,
  {
    frames,
    execution,
    callTokens,
    upstreamOffers,
    servers,
    samples,
    accessRequests,
    catalogueReports,
    upstreamStateOf,
    baseUrl,
  },
) => {
  const figures = createCallFigureStore(frames.db)
  const readWiring = createServerWiring(frames)

  app.get('/servers/:uuid', serverRoute, async (request, reply) => {
    const actor = actorOf(request)
    const uuid = serverIdOf(request)
    // Load the frame first, because the calls below do not check access to the server.
    const closed = await accessRequests.findClosed(actor, uuid)
    if (closed !== undefined) return showClosed(reply, closed)
    const server = await getServerFrame(frames, actor, uuid, 'overview')
    const counted = { serverId: uuid, callerId: server.onlyCaller }
    const now = new Date()
    const [wiring, presented, health, tools, clients, recent, { presentation }, report, tokens, removable] =
      await Promise.all([
        readWiring(actor, uuid),
        server.passesOn ? upstreamOffers.listPassthrough(uuid) : upstreamOffers.listPresented(uuid),
        figures.ofServer(counted, now),
        figures.ofTools(counted, now),
        figures.ofClients(counted, now),
        execution.listExecutions(actor, { serverId: uuid }, { limit: RECENT_CALLS }),
        servers.getServer(actor, uuid),
        findReportWithin(catalogueReports.find, uuid, REPORT_WAIT_MS),
        server.onlyCaller === undefined ? callTokens.ofServer(actor, uuid, {}) : undefined,
        samples.listRemovable(actor, [uuid]),
      ])
    const upstreams = presented.map(each => ({ ...each, state: upstreamStateOf(each.upstream) }))
    const callers = toPatchCallers(clients)
    const url = serverUrl(baseUrl, uuid)
    return reply.page('overview/overview', {
      title: server.name,
      server,
      note: doneText(request, NOTES),
      notices: toNoticeRows({
        requests: [],
        tiers: server.hasTierNotice ? [{ serverId: uuid, serverName: server.name }] : [],
      }),
      sampleRemovalPath: removable.has(uuid) ? sampleRemovalPath(uuid) : undefined,
      url,
      urlLead: serverUrl(baseUrl, ''),
      connect: toConnectPanel({ id: uuid, name: server.name, tier: server.tier, url }),
      patch: toPatchFigure(buildServerPatch({ wiring, figures: tools, upstreams, callers, now })),
      health: toHealthView(health),
      // A passthrough server runs no tools itself, so it has no token counts.
      tokens: tokens === undefined || presentation === 'passthrough' ? undefined : toCallTokensPage(tokens),
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
