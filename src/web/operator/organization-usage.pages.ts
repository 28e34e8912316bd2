import type { FastifyInstance } from 'fastify'
import { listServerUsage, type ServerUsage } from '../history/index.ts'
import { countMembers, getOrganizationFrame, type OrganizationService } from '../organizations/index.ts'
import type { Database } from '../platform/db/index.ts'
import { actorOf, formatNumber, uuidParams } from '../platform/http/index.ts'
import { listServerNames } from '../servers/index.ts'
import type { ToolkitCatalogue } from '../toolkits/index.ts'

type Parts = { db: Database; organizations: OrganizationService; toolkitCatalogue: ToolkitCatalogue }

/** Servers in the table, those called most first. */
const MAX_SERVERS_SHOWN = 50

const NEVER = { day: { calls: 0, errors: 0 }, month: { calls: 0, errors: 0 }, isCut: false }

const sum = (usage: readonly ServerUsage[], of: (one: ServerUsage) => number): number =>
  usage.reduce((total, one) => total + of(one), 0)

/** `1,204`, or `1,204+` where more was not looked at. */
const atLeast = (count: number, isCut: boolean): string => `${formatNumber(count)}${isCut ? '+' : ''}`

const toFigures = (usage: readonly ServerUsage[]) => {
  const isCut = usage.some(one => one.isCut)
  return {
    dayCalls: atLeast(
      sum(usage, ({ day }) => day.calls),
      usage.some(one => one.isCut && one.day.calls === one.month.calls),
    ),
    dayErrors: sum(usage, ({ day }) => day.errors),
    monthCalls: atLeast(
      sum(usage, ({ month }) => month.calls),
      isCut,
    ),
    monthErrors: sum(usage, ({ month }) => month.errors),
    isCut,
  }
}

/** What an organization has, and how much it was used lately. */
export const organizationUsagePages =
  ({ db, organizations, toolkitCatalogue }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(
      '/organizations/:id/usage',
      { config: { access: 'user' }, schema: { params: uuidParams } },
      async (request, reply) => {
        const { id } = uuidParams.parse(request.params)
        const frame = await getOrganizationFrame(organizations, actorOf(request), id, 'usage')
        const [servers, { toolkits, tools }, members] = await Promise.all([
          listServerNames(db, id),
          toolkitCatalogue.countOf(id),
          countMembers(db, id),
        ])
        const usage = await listServerUsage(
          db,
          servers.map(server => server.id),
          new Date(),
        )
        const byServer = new Map(usage.map(one => [one.serverId, one]))
        const { dayErrors, monthErrors, ...figures } = toFigures(usage)
        const rows = servers
          .map(server => ({ ...server, ...(byServer.get(server.id) ?? NEVER) }))
          .sort((one, other) => other.month.calls - one.month.calls)
        return reply.page('dashboard/organization-usage', {
          title: `Usage of ${frame.name}`,
          section: 'organizations',
          organization: frame,
          counts: [
            { name: 'Servers', count: formatNumber(servers.length) },
            { name: 'Toolkits', count: formatNumber(toolkits) },
            { name: 'Tools', count: formatNumber(tools) },
            { name: 'Members', count: formatNumber(members) },
          ],
          figures: {
            ...figures,
            dayErrors: formatNumber(dayErrors),
            hasDayErrors: dayErrors > 0,
            monthErrors: formatNumber(monthErrors),
            hasMonthErrors: monthErrors > 0,
          },
          servers: rows.slice(0, MAX_SERVERS_SHOWN).map(({ id: serverId, name, day, month, isCut }) => ({
            href: `/servers/${serverId}`,
            name,
            dayCalls: atLeast(day.calls, isCut && day.calls === month.calls),
            dayErrors: formatNumber(day.errors),
            monthCalls: atLeast(month.calls, isCut),
            monthErrors: formatNumber(month.errors),
          })),
          moreServers: rows.length > MAX_SERVERS_SHOWN ? formatNumber(rows.length - MAX_SERVERS_SHOWN) : undefined,
        })
      },
    )
  }
