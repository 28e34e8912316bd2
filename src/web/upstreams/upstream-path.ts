import { addressOf } from '../../lib/http/list-query.ts'

/** Where the page of an upstream is, among the sources of its server. */
export const upstreamPath = (serverId: string, upstreamId: string): string =>
  `/servers/${serverId}/sources/upstreams/${upstreamId}`

/** Where it is said what becomes of the answers of one of its tools, by the upstream's own name for it. */
export const upstreamToolPath = ({ id, serverId }: { id: string; serverId: string }, tool: string): string =>
  addressOf(`${upstreamPath(serverId, id)}/tool`, { name: tool.toWellFormed() })
