import { addressOf } from '../../lib/http/list-query.ts'

/** Returns the path of an upstream's page. */
export const upstreamPath = (serverId: string, upstreamId: string): string =>
  `/servers/${serverId}/sources/upstreams/${upstreamId}`

/** Returns the path of the page for one tool's results. `tool` is the upstream's own name for it. */
export const upstreamToolPath = ({ id, serverId }: { id: string; serverId: string }, tool: string): string =>
  addressOf(`${upstreamPath(serverId, id)}/tool`, { name: tool.toWellFormed() })
