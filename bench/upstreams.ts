/** Servers of Patchbay that hold existing MCP servers. */
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Send } from './patchbay.ts'

export const UPSTREAM_SCRIPT = fileURLToPath(new URL('./mcp-upstream.ts', import.meta.url))

const WithId = z.object({ id: z.string() })

/** A public server with nothing in it. */
export const createServer = async (send: Send): Promise<string> =>
  WithId.parse(await send('POST', '/servers', { name: 'Benchmark', access: 'public', maxResponseTokens: 0 })).id

/** Attaches an upstream, and asks it for its lists, so that they are known. */
export const attachUpstream = async (send: Send, uuid: string, upstream: object): Promise<void> => {
  const { id } = WithId.parse(await send('POST', `/servers/${uuid}/upstreams`, upstream))
  await send('POST', `/upstreams/${id}/refresh`)
}
