import type { Database } from '../../lib/db/client.ts'
import { formatCount, formatNumber } from '../../lib/http/pages/format.ts'
import { type Actor, may, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { AccessTier } from '../../servers/server.ts'
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

/** Data of the frame around each tab of a server's page. */
export type ServerFrame = {
  id: string
  name: string
  description: string | undefined
  tier: AccessTier
  /** Whether this is a passthrough server, which forwards requests to one MCP server; its tools are not known here. */
  passesOn: boolean
  organizationId: string
  organizationName: string
  /** The viewer's permissions. */
  mayBuild: boolean
  mayManage: boolean
  isOwner: boolean
  /** Number of open connections as text; `liveState` selects the status icon. */
  liveText: string
  liveState: 'good' | 'idle'
  upstreamStates: string
  /** `tools` counts only the server's own tools; `sources` counts toolkits and upstreams. */
  counts: { tools: number; sources: number; upstreams: number; globals: number }
  tabs: readonly { href: string; text: string; count?: string; isCurrent: boolean }[]
}

export type ServerFrameParts = {
  db: Database
  /** Number of open client connections to a server, in this process. */
  openStreams: (serverId: string) => number
  /** Fingerprint of the states of the server's upstreams: differs after any change. */
  upstreamStates: (serverId: string) => string
  /** Number of tools offered through upstreams, by server ID. Servers without any are omitted. */
  countUpstreamTools: (serverIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
}

/** Returns the path of a tab of a server's page. */
export const serverTabPath = (serverId: string, tab: ServerTab): string =>
  tab === 'overview' ? `/servers/${serverId}` : `/servers/${serverId}/${tab}`

/** Formats the number of open connections: "Online · 3 connections". */
export const liveTextOf = (openStreams: number): string => `Online · ${formatCount(openStreams, 'connection')}`

/**
 * Returns the frame of a server's page. Throws `not_found` if the server is not in one of the actor's organizations.
 */
export const getServerFrame = async (
  { db, openStreams, upstreamStates, countUpstreamTools }: ServerFrameParts,
  actor: Actor,
  serverId: string,
  current: ServerTab,
): Promise<ServerFrame> => {
  const found = await findServerFrame(db, serverId, organizationIdsOf(actor))
  if (found === undefined) throw new AppError('not_found', 'Server not found.')
  const { ownerId, ...server } = found
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
    mayBuild: may(actor, server.organizationId, 'build'),
    mayManage: may(actor, server.organizationId, 'manage'),
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
