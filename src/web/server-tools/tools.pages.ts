import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { RewiringService, WiredPanel } from '../../servers/bindings/bindings.service.ts'
import { findReportWithin } from '../../servers/find-report-within.ts'
import type { Instance } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { FindCatalogueReport } from '../../tools/lint/catalogue-report.ts'
import { toChip } from '../bindings/socket.view.ts'
import type { ServerFrameParts } from '../frame/server-frame.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, serverRoute } from '../frame/server-tab.ts'
import { toCatalogueView, toToolCosts } from '../sources/catalogue.view.ts'

const TOOLS_PER_PAGE = 50
/** Maximum wait for token counts, in milliseconds. If counting takes longer, the page loads the counts later. */
const REPORT_WAIT_MS = 400
/** Maximum bound values shown per tool. The others are only counted. */
const MAX_CHIPS = 6

const Query = listQuery.extend({ page: pageNumber })

const DONE: DoneTexts = {
  added: count => (count === 1 ? 'Tool added' : `${formatCount(count, 'tool')} added`),
  values: count => `${formatCount(count, 'secret')} stored`,
  removed: () => 'Tool removed from this server',
}

/** Searches a tool's names, toolkit and parameters. */
const matches = ({ name, tool, toolkit, sockets }: WiredPanel, wanted: string): boolean =>
  [name, tool.name, tool.title ?? '', toolkit.title, ...sockets.map(({ parameter }) => parameter)].some(text =>
    text.toLowerCase().includes(wanted),
  )

export const instancePath = (serverId: string, instanceId: string): string =>
  `${serverTabPath(serverId, 'tools')}/${instanceId}`

const toRow = (
  serverId: string,
  { id, name, toolkit, sockets }: WiredPanel,
  instance: Instance | undefined,
  cost: { tokens: string; findings?: string } | undefined,
) => {
  const bound = sockets.filter(({ source }) => source !== 'exposed')
  const exposed = sockets.length - bound.length
  return {
    href: instancePath(serverId, id),
    name,
    method: instance?.tool.method ?? '',
    toolName: instance?.tool.name ?? '',
    toolkit: toolkit.title,
    description: instance?.description ?? instance?.tool.description,
    bound: bound.slice(0, MAX_CHIPS).map(socket => ({ parameter: socket.parameter, ...toChip(socket) })),
    more: bound.length > MAX_CHIPS ? formatNumber(bound.length - MAX_CHIPS) : undefined,
    exposed: exposed === 0 ? undefined : formatNumber(exposed),
    tokens: cost?.tokens,
    findings: cost?.findings,
    missing: sockets.some(({ missing }) => missing.length > 0),
  }
}

/** Serves the Tools tab of a server. */
export const serverToolsPages: FastifyPluginAsync<{
  frames: ServerFrameParts
  rewiring: RewiringService
  servers: Pick<ServerService, 'getServer'>
  catalogueReports: { find: FindCatalogueReport }
}> = async (app, { frames, rewiring, servers, catalogueReports }) => {
  const tab = createServerTab(frames, 'tools')

  app.get('/servers/:uuid/tools', serverRoute, async (request, reply) => {
    const server = await tab.frameOf(request)
    const { q, page } = Query.parse(request.query)
    const panels = await rewiring.listPanels(actorOf(request), server.id)
    const found = q === '' ? panels : panels.filter(panel => matches(panel, q.toLowerCase()))
    const path = serverTabPath(server.id, 'tools')
    const { shown, pager } = takePage(found, { page, perPage: TOOLS_PER_PAGE, path, query: { q } })
    const instances = await rewiring.listInstancesById(
      actorOf(request),
      server.id,
      shown.map(({ id }) => id),
    )
    const { presentation } = await servers.getServer(actorOf(request), server.id)
    const report = await findReportWithin(catalogueReports.find, server.id, REPORT_WAIT_MS)
    const costs = report && toToolCosts(report)
    const byName = new Map(panels.map(({ id, name }) => [name, instancePath(server.id, id)]))
    return reply.page('server-tools/tools', {
      title: `Tools of ${server.name}`,
      server,
      path,
      done: doneNote(request, server, DONE),
      search: q,
      heading: formatCount(found.length, 'tool'),
      isEmpty: panels.length === 0,
      tools: shown.map(panel =>
        toRow(
          server.id,
          panel,
          instances.find(({ id }) => id === panel.id),
          costs?.get(panel.name),
        ),
      ),
      pager,
      catalogue: report && toCatalogueView(report, presentation, name => byName.get(name)),
      addHref: addressOf(`${path}/new`, {}),
    })
  })
}
