import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { createSorting, type Sort } from '../../lib/http/pages/sorting.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { sortRows } from '../../lib/kernel/sort-rows.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { RewiringService, WiredPanel } from '../../servers/bindings/bindings.service.ts'
import { findReportWithin } from '../../servers/find-report-within.ts'
import type { Instance } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import type { CatalogueReport, FindCatalogueReport } from '../../tools/lint/catalogue-report.ts'
import { toChip } from '../bindings/socket.view.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, donePath, serverRoute } from '../frame/server-tab.ts'
import { isAfter } from '../frame/user-page.ts'
import { findingLevel, toCatalogueView, toToolCosts } from '../sources/catalogue.view.ts'
import { createToolUndo, toRemovedInstance } from './removed-tools.ts'

const TOOLS_PER_PAGE = 50
/** Maximum wait for token counts, in milliseconds. If counting takes longer, the page loads the counts later. */
const REPORT_WAIT_MS = 400
/** Maximum bound values shown per tool. The others are only counted. */
const MAX_CHIPS = 6

type ColumnName = 'tool' | 'toolkit' | 'model' | 'tokens'

const sorting = createSorting<ColumnName>(
  [
    { name: 'tool', text: 'Tool' },
    { name: 'toolkit', text: 'Toolkit' },
    { text: 'Bound values' },
    { name: 'model', text: 'From the model', align: 'end', isLargestFirst: true },
    { name: 'tokens', text: 'Tokens', align: 'end', isLargestFirst: true },
  ],
  'tool',
)

const Query = listQuery.extend({ page: pageNumber, sort: sorting.query, level: findingLevel })

const DONE: DoneTexts = {
  added: count => (count === 1 ? 'Tool added' : `${formatCount(count, 'tool')} added`),
  removed: count => `${count === 1 ? 'Tool' : formatCount(count, 'tool')} removed from this server`,
  enabled: count => `${count === 1 ? 'Tool' : formatCount(count, 'tool')} enabled`,
  disabled: count => `${count === 1 ? 'Tool' : formatCount(count, 'tool')} disabled`,
  restored: count => `${count === 1 ? 'Tool' : formatCount(count, 'tool')} restored`,
  'too-late': () => 'What was removed can no longer be restored. Add it again',
  values: count => `${formatCount(count, 'secret')} stored`,
}

/** Searches a tool's names, toolkit and parameters. */
const matches = ({ name, tool, toolkit, sockets }: WiredPanel, wanted: string): boolean =>
  [name, tool.name, tool.title ?? '', toolkit.title, ...sockets.map(({ parameter }) => parameter)].some(text =>
    text.toLowerCase().includes(wanted),
  )

const countExposed = ({ sockets }: WiredPanel): number => sockets.filter(({ source }) => source === 'exposed').length

/** Sorts the tools. */
const sortPanels = (panels: readonly WiredPanel[], sort: Sort<ColumnName>, report: CatalogueReport | undefined) => {
  const tokens = new Map(report?.tools.map(tool => [tool.name, tool.tokens]))
  const keys: Record<ColumnName, (panel: WiredPanel) => number | string> = {
    tool: ({ name }) => name,
    toolkit: ({ toolkit }) => toolkit.title,
    model: countExposed,
    tokens: ({ name }) => tokens.get(name) ?? 0,
  }
  return sortRows(panels, keys[sort.column], sort.isDescending)
}

export const instancePath = (serverId: string, instanceId: string): string =>
  `${serverTabPath(serverId, 'tools')}/${instanceId}`

const toRow = (
  serverId: string,
  { id, name, isEnabled, toolkit, sockets }: WiredPanel,
  instance: Instance | undefined,
  cost: { tokens: string; findings?: string } | undefined,
) => {
  const bound = sockets.filter(({ source }) => source !== 'exposed')
  const exposed = sockets.length - bound.length
  return {
    id,
    href: instancePath(serverId, id),
    name,
    isEnabled,
    method: instance?.tool.method ?? '',
    toolName: instance?.tool.name ?? '',
    toolkit: toolkit.title,
    description: instance?.description ?? instance?.tool.description,
    bound: bound.slice(0, MAX_CHIPS).map(socket => ({ parameter: socket.parameter, ...toChip(socket) })),
    more: bound.length > MAX_CHIPS ? formatNumber(bound.length - MAX_CHIPS) : undefined,
    exposed: exposed === 0 ? undefined : formatNumber(exposed),
    tokens: isEnabled ? cost?.tokens : '0',
    findings: cost?.findings,
    missing: sockets.some(({ missing }) => missing.length > 0),
  }
}

/** Counts the server's tools, as the list of servers does, and says which of them are in the table. */
const describeCount = ({ toolCount, throughUpstreams }: ServerFrame, panels: readonly WiredPanel[]): string => {
  const own = panels.filter(({ isEnabled }) => isEnabled).length
  const all = formatCount(toolCount ?? own, 'tool')
  const parts = `${formatNumber(own)} here, ${formatNumber(throughUpstreams)} of attached MCP servers`
  const disabled = panels.length === own ? '' : `, and ${formatNumber(panels.length - own)} disabled`
  return `${throughUpstreams === 0 ? all : `${all}: ${parts}`}${disabled}`
}

/** Serves the Tools tab of a server. */
export const serverToolsPages: FastifyPluginAsync<{
  frames: ServerFrameParts
  rewiring: RewiringService
  instances: Pick<InstanceService, 'restoreInstances'>
  sealing: Sealing
  servers: Pick<ServerService, 'getServer'>
  catalogueReports: { find: FindCatalogueReport }
}> = async (app, { frames, rewiring, instances, sealing, servers, catalogueReports }) => {
  const tab = createServerTab(frames, 'tools')
  const undo = createToolUndo(sealing)

  app.get('/servers/:uuid/tools', serverRoute, async (request, reply) => {
    const server = await tab.frameOf(request)
    const { q, page, sort, level } = Query.parse(request.query)
    const panels = await rewiring.listPanels(actorOf(request), server.id)
    const report = await findReportWithin(catalogueReports.find, server.id, REPORT_WAIT_MS)
    const found = q === '' ? panels : panels.filter(panel => matches(panel, q.toLowerCase()))
    const path = serverTabPath(server.id, 'tools')
    // Token counts may not be ready yet.
    const shownSort = sort.column === 'tokens' && report === undefined ? sorting.usual : sort
    const sortText = sorting.textOf(sort)
    const query = { q, sort: sortText, level: level ?? '' }
    const shownQuery = { ...query, page: page === 1 ? '' : String(page) }
    const place = { page, perPage: TOOLS_PER_PAGE, path, query }
    const { shown, pager } = takePage(sortPanels(found, shownSort, report), place)
    const instances = await rewiring.listInstancesById(
      actorOf(request),
      server.id,
      shown.map(({ id }) => id),
    )
    const { presentation } = await servers.getServer(actorOf(request), server.id)
    const costs = report && toToolCosts(report)
    const byName = new Map(panels.map(({ id, name }) => [name, instancePath(server.id, id)]))
    const levelPath = (one: string) => `${addressOf(path, { q, sort: sortText, level: one })}#lint`
    return reply.page('server-tools/tools', {
      title: `Tools of ${server.name}`,
      server,
      path,
      address: addressOf(path, shownQuery),
      done: doneNote(request, server, DONE),
      undo: isAfter(request, 'removed') && undo.find(request, { path }) !== undefined ? `${path}/undo` : undefined,
      search: q,
      hidden: Object.fromEntries(Object.entries({ sort: sortText, level }).filter(([, value]) => value)),
      heading: formatCount(found.length, 'tool'),
      count: describeCount(server, panels),
      columns: sorting.headersOf(shownSort, { path, query: { q, level: level ?? '' } }),
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
      catalogue:
        report && toCatalogueView(report, { presentation, level, levelPath, hrefOf: name => byName.get(name) }),
      addHref: addressOf(`${path}/new`, {}),
      enableHref: addressOf(`${path}/enable`, shownQuery),
      disableHref: addressOf(`${path}/disable`, shownQuery),
    })
  })

  app.post('/servers/:uuid/tools/undo', serverRoute, async (request, reply) => {
    const server = await tab.frameForChange(request)
    const path = serverTabPath(server.id, 'tools')
    const removed = undo.find(request, { path })
    if (removed === undefined) return reply.redirect(donePath(path, 'too-late'), 303)
    await instances.restoreInstances(actorOf(request), server.id, removed.map(toRemovedInstance))
    undo.forget(reply, { path })
    return reply.redirect(donePath(path, 'restored', removed.length), 303)
  })
}
