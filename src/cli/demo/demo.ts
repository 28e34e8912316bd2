import { Command } from 'commander'
import { z } from 'zod'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { createTrustedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { createLogger } from '../../lib/process/logger.ts'
import type { Settings } from '../../lib/process/settings.ts'
import { VERSION } from '../../lib/process/version.ts'
import type { Services } from '../../services.ts'
import { print } from '../output.ts'
import { withApp } from '../with-app.ts'
import { withServices } from '../with-services.ts'
import { type DemoServer, ensureDemoServer } from './demo-server.ts'

const PROBE_TIMEOUT_MS = 1_000
const PROBE_MAX_BYTES = 64 * 1_024
const PROBE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'patchbay-demo', version: VERSION } },
}
const INITIALIZE_RESULT = z.object({ result: z.object({ serverInfo: z.object({ name: z.string() }) }) })
/** Valid for a day, in case the command is killed before it revokes the token. */
const TOKEN = { name: 'patchbay demo', scopes: ['mcp'], expiresInDays: 1 } as const
const SAMPLE_CALL = { name: 'convert_currency', arguments: { from: 'EUR', to: 'JPY', amount: 100 } }

/** Returns the origin at which this machine reaches a Patchbay with these settings. */
const localOrigin = ({ host, port }: Settings): string => {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Returns whether a Patchbay on this database serves the URL, rather than another program or installation. */
const isServedAt = async (url: string): Promise<boolean> => {
  const http = createTrustedFetch({ timeoutMs: PROBE_TIMEOUT_MS, maxResponseBytes: PROBE_MAX_BYTES })
  try {
    const response = await http.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(PROBE),
    })
    return response.status === 200 && INITIALIZE_RESULT.safeParse(await response.json()).success
  } catch {
    return false
  } finally {
    await http.close()
  }
}

/** Connects as a client, lists the tools and calls one. */
const tryWithClient = async (url: string, headers: Record<string, string> = {}) => {
  // Imported lazily, because a long-running server does not need it.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'patchbay-demo', version: VERSION })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  try {
    const { tools } = await client.listTools()
    const { content } = await client.callTool(SAMPLE_CALL)
    const [block] = content
    const answer = block?.type === 'text' ? block.text : ''
    return { tools: tools.map(tool => tool.name), call: SAMPLE_CALL, answer }
  } finally {
    await client.close()
  }
}

/**
 * Tries the server in this process. If it is not public, the client has a token of its owner, which is revoked
 * afterwards. No other process may get this token, so a running Patchbay is not asked.
 */
const tryHere = async (settings: Settings, services: Services, { id, access, owner }: DemoServer) => {
  const run = (headers?: Record<string, string>) =>
    withApp(settings, services, createLogger('silent'), origin => tryWithClient(serverUrl(origin, id), headers))
  if (access === 'public') return run()
  const { accounts } = services
  const { id: tokenId, token } = await accounts.createToken(owner, TOKEN)
  try {
    return await run({ authorization: `Bearer ${token}` })
  } finally {
    await accounts.removeToken(owner, tokenId)
  }
}

const nextStep = ({ access, owner }: DemoServer, wasServing: boolean): string => {
  if (access !== 'public') {
    return `Add this address to Claude, Cursor or VS Code while Patchbay runs. The client opens your browser to sign in as ${owner.email}.`
  }
  return wasServing
    ? 'Add this address to Claude, Cursor or VS Code and ask it to convert a currency.'
    : 'Start Patchbay with npx patchbay serve, then add this address to Claude, Cursor or VS Code.'
}

const runDemo = (options: { json?: boolean }): Promise<void> =>
  withServices(async (services, settings) => {
    const server = await ensureDemoServer(services)
    const { id, access } = server
    const localUrl = serverUrl(localOrigin(settings), id)
    const wasServing = access === 'public' && (await isServedAt(localUrl))
    const result = wasServing ? await tryWithClient(localUrl) : await tryHere(settings, services, server)
    const url = serverUrl(settings.baseUrl, id)
    print(options, { id, url, access, ...result }, [
      `MCP server: ${url}${access === 'public' ? '' : ` (${access})`}`,
      `Tools: ${result.tools.join(', ')}`,
      `${result.call.name} ${JSON.stringify(result.call.arguments)}`,
      `  → ${result.answer}`,
      nextStep(server, wasServing),
    ])
  })

export const demoCommand = (): Command => new Command('demo').option('--json', 'print one JSON value').action(runDemo)
