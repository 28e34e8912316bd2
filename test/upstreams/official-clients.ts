import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

type Named = { name: string }

/** What all official clients have in common, as far as these tests use it. Results are the client's own. */
export type OfficialClient = {
  listTools: () => Promise<{ tools: Named[] }>
  callTool: (call: Named & { arguments?: Record<string, unknown> }) => Promise<Record<string, unknown>>
  listResources: () => Promise<{ resources: { uri: string }[] }>
  listResourceTemplates: () => Promise<{ resourceTemplates: { uriTemplate: string }[] }>
  readResource: (resource: { uri: string }) => Promise<{ contents: unknown[] }>
  listPrompts: () => Promise<{ prompts: Named[] }>
  getPrompt: (prompt: Named & { arguments?: Record<string, string> }) => Promise<{ messages: unknown[] }>
  close: () => Promise<void>
}

export type ClientLine = { title: string; connect: (url: string) => Promise<OfficialClient> }

const INFO = { name: 'official', version: '1.0.0' }

const second =
  (mode: 'legacy' | 'auto') =>
  async (url: string): Promise<OfficialClient> => {
    const client = new Client2(INFO, { versionNegotiation: { mode } })
    await client.connect(new Http2(new URL(url)))
    return client
  }

const first = async (transport: Http1 | Sse1): Promise<OfficialClient> => {
  const client = new Client1(INFO)
  await client.connect(transport)
  return client
}

/** Every official client: both SDK generations, the newer one in both eras of the protocol. */
export const CLIENT_LINES: readonly ClientLine[] = [
  { title: 'SDK 1', connect: url => first(new Http1(new URL(url))) },
  { title: 'SDK 1 over SSE', connect: url => first(new Sse1(new URL(`${url}/sse`))) },
  { title: 'SDK 2, with a session', connect: second('legacy') },
  { title: 'SDK 2, without sessions', connect: second('auto') },
]

/** Returns the first text of a result. */
export const textOf = ({ content }: Record<string, unknown>): string => {
  const [block]: unknown[] = Array.isArray(content) ? content : []
  return typeof block === 'object' && block !== null && 'text' in block ? String(block.text) : ''
}
