import type { Actor } from '../../lib/kernel/actor.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { ServerFrame } from './server-frame.ts'

/** Maximum calls counted on the page that deletes a server. */
const MAX_COUNTED_CALLS = 10_000

type Parts = { servers: Pick<ServerService, 'countCalls'>; openStreams: (serverId: string) => number }

/** Returns a list item such as "3 tools", or no item if the count is 0. */
const countOf = (count: number, one: string) => (count === 0 ? [] : [{ text: formatCount(count, one) }])

/** Lists what is deleted with a server, in counts. Requires permission to delete it. */
export const listRemovedWithServer = async (
  { servers, openStreams }: Parts,
  actor: Actor,
  { id, counts }: Pick<ServerFrame, 'id' | 'counts'>,
): Promise<{ text: string }[]> => {
  const calls = await servers.countCalls(actor, id, MAX_COUNTED_CALLS)
  return [
    ...countOf(counts.tools, 'tool'),
    ...countOf(counts.globals, 'global'),
    ...countOf(counts.upstreams, 'attached MCP server'),
    ...(calls === MAX_COUNTED_CALLS
      ? [{ text: `more than ${formatNumber(calls)} recorded calls` }]
      : countOf(calls, 'recorded call')),
    ...countOf(openStreams(id), 'open connection'),
  ]
}
