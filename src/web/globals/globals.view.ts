import { shownTime } from '../../lib/http/pages/time-text.ts'
import { formatCount, formatNumber, shorten } from '../../lib/kernel/format.ts'
import type { GlobalUses } from '../../servers/bindings/bindings.service.ts'
import type { Global } from '../../servers/server.ts'
import { serverTabPath, upstreamPath } from '../frame/server-frame.ts'
import { instancePath } from '../server-tools/tools.pages.ts'

const MAX_VALUE_CHARACTERS = 60
const MAX_USES_LISTED = 50

export const globalPath = (serverId: string, key: string): string =>
  `${serverTabPath(serverId, 'globals')}/${encodeURIComponent(key)}`

const NO_USES: GlobalUses = { tools: [], upstreams: [] }

export const usesOfKey = (uses: ReadonlyMap<string, GlobalUses>, key: string): GlobalUses => uses.get(key) ?? NO_USES

export const isUsed = ({ tools, upstreams }: GlobalUses): boolean => tools.length + upstreams.length > 0

/** Describes how often a global is used, as in "2 parameters in 1 tool", or "nothing" if it is not used. */
export const describeUses = ({ tools, upstreams }: GlobalUses): string => {
  const parameters = tools.reduce((sum, tool) => sum + tool.parameters.length, 0)
  const parts = [
    tools.length === 0 ? [] : `${formatCount(parameters, 'parameter')} in ${formatCount(tools.length, 'tool')}`,
    upstreams.length === 0 ? [] : formatCount(upstreams.length, 'MCP server'),
  ].flat()
  return parts.join(' and ') || 'nothing'
}

const MAX_ORIGINS_LISTED = 3

/** Describes where a secret may be sent. */
const describeOrigins = (origins: readonly string[] | undefined): string => {
  if (origins === undefined) return 'sent nowhere until its origins are set'
  if (origins.length === 0) return 'sent nowhere'
  const more = origins.length - MAX_ORIGINS_LISTED
  return `sent only to ${origins.slice(0, MAX_ORIGINS_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export const toGlobalRow = (serverId: string, global: Global, uses: GlobalUses) => ({
  href: globalPath(serverId, global.key),
  key: global.key,
  source: global.isSecret ? 'secret' : 'global',
  isSecret: global.isSecret,
  value: global.isSecret ? undefined : shorten(global.value, MAX_VALUE_CHARACTERS),
  origins: global.isSecret ? describeOrigins(global.origins) : undefined,
  updated: shownTime(global.updatedAt),
  uses: describeUses(uses),
})

/** Lists what uses a global, as links: MCP servers, then tools with their parameters. */
export const toUseList = (serverId: string, { tools, upstreams }: GlobalUses) => {
  const all = [
    ...upstreams.map(({ id, name }) => ({ href: upstreamPath(serverId, id), text: name, note: 'MCP server' })),
    ...tools.map(({ instanceId, tool, parameters }) => ({
      href: instancePath(serverId, instanceId),
      text: tool,
      note: parameters.join(', '),
    })),
  ]
  const more = all.length - MAX_USES_LISTED
  return { items: all.slice(0, MAX_USES_LISTED), more: more > 0 ? `and ${formatNumber(more)} more` : undefined }
}
