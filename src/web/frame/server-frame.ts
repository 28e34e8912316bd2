import { type Actor, AppError, mayRole, organizationIdsOf } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import { formatCount, formatNumber } from '../platform/http/index.ts'
import type { AccessTier } from './server.ts'
import { findServerFrame } from './server-frame.store.ts'

const TABS = [
  ['overview', 'Overview'],
  ['tools', 'Tools'],
  ['sources', 'Sources'],
  ['bindings', 'Bindings'],
  ['globals', 'Globals'],
  ['inspector', 'Inspector'],
  ['access', 'Access'],
  ['history', 'History'],
  ['settings', 'Settings'],
] as const
export type ServerTab = (typeof TABS)[number][0]

/** What stands around each tab of a server's page. */
export type ServerFrame = {
  id: string
  name: string
  description: string | undefined
  tier: AccessTier
  /** Requests go on to its one MCP server as they are: of what that offers nothing is known here. */
  passesOn: boolean
  organizationId: string
  organizationName: string
  /** What the one who looks may do with it. */
  mayBuild: boolean
  mayManage: boolean
  isOwner: boolean
  /** How many connections are open, in words, and the sign beside it. */
  liveText: string
  liveState: 'good' | 'idle'
  upstreamStates: string
  /** `tools` are its own; `sources` are toolkits and upstreams together. */
  counts: { tools: number; sources: number; upstreams: number; globals: number }
  tabs: readonly { href: string; text: string; count?: string; isCurrent: boolean }[]
}

export type ServerFrameParts = {
  db: Database
  /** Connections that clients hold open to a server, in this process. */
  openStreams: (serverId: string) => number
  /** A text that is another once an upstream of the server is in another state. */
  upstreamStates: (serverId: string) => string
  /** By server, how many tools its upstreams let through; those without any are left out. */
  countUpstreamTools: (serverIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
}

/** Where a tab of a server's page is. */
export const serverTabPath = (serverId: string, tab: ServerTab): string =>
  tab === 'overview' ? `/servers/${serverId}` : `/servers/${serverId}/${tab}`

/** "Live on 3 open connections", also where there is none. */
export const liveTextOf = (openStreams: number): string =>
  openStreams === 0 ? 'Live, no open connection' : `Live on ${formatCount(openStreams, 'open connection')}`

/** The frame of the server's page for who looks at it; `not_found` where it is none of theirs. */
export const getServerFrame = async (
  { db, openStreams, upstreamStates, countUpstreamTools }: ServerFrameParts,
  actor: Actor,
  serverId: string,
  current: ServerTab,
): Promise<ServerFrame> => {
  const found = await findServerFrame(db, serverId, organizationIdsOf(actor))
  if (found === undefined) throw new AppError('not_found', 'There is no such server.')
  const { ownerId, ...server } = found
  const role = actor.memberships.get(server.organizationId)
  const open = openStreams(serverId)
  const { tools, sources, globals, upstreams } = server.counts
  const throughUpstreams = upstreams === 0 ? 0 : ((await countUpstreamTools([serverId])).get(serverId) ?? 0)
  const allTools = server.passesOn ? undefined : tools + throughUpstreams
  const counts: Partial<Record<ServerTab, number | undefined>> = { tools: allTools, sources, globals }
  const countOf = (tab: ServerTab): { count?: string } => {
    const count = counts[tab]
    return count === undefined ? {} : { count: formatNumber(count) }
  }
  return {
    ...server,
    mayBuild: role !== undefined && mayRole(role, 'build'),
    mayManage: role !== undefined && mayRole(role, 'manage'),
    isOwner: ownerId === actor.userId,
    liveText: liveTextOf(open),
    liveState: open === 0 ? 'idle' : 'good',
    upstreamStates: upstreamStates(serverId),
    tabs: TABS.map(([tab, text]) => ({
      href: serverTabPath(serverId, tab),
      text,
      ...countOf(tab),
      isCurrent: tab === current,
    })),
  }
}
