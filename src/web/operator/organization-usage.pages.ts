import type { FastifyPluginAsync } from 'fastify'
import { listServerUsage, type ServerUsage } from '../../history/usage.store.ts'
import type { Database } from '../../lib/db/client.ts'
import { actorOf } from '../../lib/http/access.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { listServerNames } from '../../servers/server-names.store.ts'
import { countMembers } from '../../tenancy/members.store.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { ToolkitCatalogue } from '../../tools/sharing/catalogue.service.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import { getOrganizationFrame } from '../organizations/organization-frame.ts'
import { atLeast } from '../overview/overview.view.ts'

type Parts = { db: Database; organizations: OrganizationService; toolkitCatalogue: ToolkitCatalogue }

/** Maximum rows in the table of servers. The servers with the most calls come first. */
const MAX_SERVERS_SHOWN = 50

const NEVER = { day: { calls: 0, failed: 0 }, month: { calls: 0, failed: 0 }, isCut: false }

const toFigures = (usage: readonly ServerUsage[]) => {
  const sum = (of: (one: ServerUsage) => number): number => usage.reduce((total, one) => total + of(one), 0)
  const dayFailed = sum(({ day }) => day.failed)
  const monthFailed = sum(({ month }) => month.failed)
  const isCut = usage.some(one => one.isCut)
  const isDayCut = usage.some(one => one.isCut && one.day.calls === one.month.calls)
  return {
    dayCalls: atLeast(
      sum(({ day }) => day.calls),
      isDayCut,
    ),
    dayFailed: formatNumber(dayFailed),
    hasDayFailed: dayFailed > 0,
    monthCalls: atLeast(
      sum(({ month }) => month.calls),
      isCut,
    ),
    monthFailed: formatNumber(monthFailed),
    hasMonthFailed: monthFailed > 0,
    isCut,
  }
}

/** Registers the page with an organization's contents and recent usage. */
export const organizationUsagePages: FastifyPluginAsync<Parts> = async (
  app,
  { db, organizations, toolkitCatalogue },
) => {
  app.get('/organizations/:id/usage', idRoute, async (request, reply) => {
    const id = idOf(request)
    const actor = actorOf(request)
    const frame = await getOrganizationFrame(organizations, actor, id, 'usage')
    const [servers, { toolkits, tools }, members] = await Promise.all([
      listServerNames(db, id, actor),
      toolkitCatalogue.countOf(id),
      countMembers(db, id),
    ])
    const counted = servers.flatMap(({ id: serverId, isOpen, onlyCaller }) =>
      isOpen ? { serverId, callerId: onlyCaller } : [],
    )
    const usage = await listServerUsage(db, counted, new Date())
    const byServer = new Map(usage.map(one => [one.serverId, one]))
    const rows = servers
      .map(server => ({ ...server, ...(byServer.get(server.id) ?? NEVER) }))
      .sort((one, other) => other.month.calls - one.month.calls)
    return reply.page('operator/organization-usage', {
      title: `Usage of ${frame.name}`,
      organization: frame,
      counts: [
        { name: 'Servers', count: formatNumber(servers.length) },
        { name: 'Toolkits', count: formatNumber(toolkits) },
        { name: 'Tools', count: formatNumber(tools) },
        { name: 'Members', count: formatNumber(members) },
      ],
      figures: toFigures(usage),
      hasOwnOnly: servers.some(({ isOpen, onlyCaller }) => !isOpen || onlyCaller !== undefined),
      servers: rows.slice(0, MAX_SERVERS_SHOWN).map(({ id: serverId, name, isOpen, day, month, isCut }) => ({
        href: `/servers/${serverId}`,
        name,
        isOpen,
        dayCalls: atLeast(day.calls, isCut && day.calls === month.calls),
        dayFailed: formatNumber(day.failed),
        monthCalls: atLeast(month.calls, isCut),
        monthFailed: formatNumber(month.failed),
      })),
      moreServers: rows.length > MAX_SERVERS_SHOWN ? formatNumber(rows.length - MAX_SERVERS_SHOWN) : undefined,
    })
  })
}
