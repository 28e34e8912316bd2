import type { Database } from '../../lib/db/client.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { type Actor, may, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { type Suspensions, suspensionOfServer } from '../../lib/kernel/suspensions.ts'
import { isAllowed, onlyCallerShown } from '../../servers/access/access.ts'
import { serverClosed } from '../../servers/servers.service.ts'
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

export type ServerFrameParts = {
  db: Database
  /** Returns the number of a server's open client connections in this process. */
  openStreams: (serverId: string) => number
  /** Returns a fingerprint of the states of the server's upstreams. It changes whenever a state changes. */
  upstreamStates: (serverId: string) => string
  /** Returns the number of tools offered through upstreams, by server ID. Omits servers without any. */
  countUpstreamTools: (serverIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
  suspensions: Suspensions
}

/** Returns the path of a tab of a server's page. */
export const serverTabPath = (serverId: string, tab: ServerTab): string =>
  tab === 'overview' ? `/servers/${serverId}` : `/servers/${serverId}/${tab}`

/** Returns the path of the page that removes a sample. */
export const sampleRemovalPath = (serverId: string): string => `/servers/${serverId}/sample/removal`

/** Returns the path of an upstream's page. */
export const upstreamPath = (serverId: string, upstreamId: string): string =>
  `/servers/${serverId}/sources/upstreams/${upstreamId}`

/** Returns the path of the page for an upstream tool's results. `tool` is the upstream's own name for the tool. */
export const upstreamToolPath = ({ id, serverId }: { id: string; serverId: string }, tool: string): string =>
  addressOf(`${upstreamPath(serverId, id)}/tool`, { name: tool.toWellFormed() })

/**
 * Returns the number of open connections as text, such as "Online · 3 connections", and the state of its icon. Leaves
 * out the number if it is undefined, because the viewer may see only their own calls.
 */
export const toLiveState = (openStreams: number | undefined): { text: string; state: 'good' | 'idle' } => {
  if (openStreams === undefined) return { text: 'Online', state: 'good' }
  return { text: `Online · ${formatCount(openStreams, 'connection')}`, state: openStreams === 0 ? 'idle' : 'good' }
}

/**
 * Counts the tools that clients of a server can call: those added from toolkits and enabled, and those of attached MCP
 * servers.
 * Undefined for a passthrough server, whose tools Patchbay does not know. Every page that counts a server's tools uses
 * this.
 */
export const countTools = (server: { passesOn: boolean; own: number; throughUpstreams: number }): number | undefined =>
  server.passesOn ? undefined : server.own + server.throughUpstreams

/**
 * Returns the frame of a server's page. Throws `not_found` if the server is not in one of the actor's organizations, and
 * `forbidden` if it is private and does not allow the actor.
 */
export const getServerFrame = async (
  { db, openStreams, upstreamStates, countUpstreamTools, suspensions }: ServerFrameParts,
  actor: Actor,
  serverId: string,
  current: ServerTab,
) => {
  const found = await findServerFrame(db, serverId, organizationIdsOf(actor))
  if (found === undefined) throw new AppError('not_found', 'Server not found.')
  const { ownerId, policy, hasTierNotice, ...server } = found
  if (!isAllowed(policy, actor)) throw serverClosed()
  const onlyCaller = onlyCallerShown(policy, actor)
  const live = toLiveState(onlyCaller === undefined ? openStreams(serverId) : undefined)
  const suspension = suspensionOfServer(suspensions, policy)
  const { tools, disabledTools, sources, globals, upstreams } = server.counts
  const throughUpstreams = upstreams === 0 ? 0 : ((await countUpstreamTools([serverId])).get(serverId) ?? 0)
  const toolCount = countTools({ passesOn: server.passesOn, own: tools - disabledTools, throughUpstreams })
  const counts: Partial<Record<ServerTab, number | undefined>> = { tools: toolCount, sources, globals }
  const countOf = (tab: ServerTab): { count?: string } => {
    const count = counts[tab]
    return count === undefined ? {} : { count: formatNumber(count) }
  }
  return {
    ...server,
    /** Says that the server or its organization is suspended, and why. */
    suspension,
    toolCount,
    throughUpstreams,
    /** The viewer's permissions. */
    mayBuild: may(actor, server.organizationId, 'build'),
    mayManage: may(actor, server.organizationId, 'manage'),
    isOwner: ownerId === actor.userId,
    /** The only caller whose calls the viewer may see. Undefined if they may see all calls. */
    onlyCaller,
    /** Whether the viewer is asked whether the server should stay private. */
    hasTierNotice: hasTierNotice && ownerId === actor.userId,
    liveText: suspension === undefined ? live.text : 'Suspended',
    liveState: suspension === undefined ? live.state : ('failed' as const),
    upstreamStates: upstreamStates(serverId),
    tabs: TABS.map(([tab, text]) => ({
      href: serverTabPath(serverId, tab),
      text,
      ...countOf(tab),
      isCurrent: tab === current,
    })),
  }
}
export type ServerFrame = Awaited<ReturnType<typeof getServerFrame>>
