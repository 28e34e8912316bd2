/** Creates Patchbay servers with existing MCP servers as upstreams. */
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Send } from './patchbay.ts'

export const UPSTREAM_SCRIPT = fileURLToPath(new URL('./mcp-upstream.ts', import.meta.url))

const WithId = z.object({ id: z.string() })

/** Creates an empty public server. */
export const createServer = async (send: Send): Promise<string> =>
  WithId.parse(await send('POST', '/servers', { name: 'Benchmark', access: 'public', maxResponseTokens: 0 })).id

/** Attaches an upstream and refreshes it, so that Patchbay has its lists. */
export const attachUpstream = async (send: Send, uuid: string, upstream: object): Promise<void> => {
  const { id } = WithId.parse(await send('POST', `/servers/${uuid}/upstreams`, upstream))
  await send('POST', `/upstreams/${id}/refresh`)
}
