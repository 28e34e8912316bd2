import { Command } from 'commander'
import { z } from 'zod'
import { buildApp } from '../../app.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { createAddressPolicy } from '../../lib/outbound/address-policy.ts'
import { createHttpClient } from '../../lib/outbound/client.ts'
import { createLogger } from '../../lib/process/logger.ts'
import { loadSettings, type Settings } from '../../lib/process/settings.ts'
import { VERSION } from '../../lib/process/version.ts'
import { buildServices, type Services } from '../../services.ts'
import { print } from '../output.ts'
import { ensureDemoServer } from './demo-server.ts'

const PROBE_TIMEOUT_MS = 1_000
const PROBE_MAX_BYTES = 64 * 1_024
const PROBE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'patchbay-demo', version: VERSION } },
}
const INITIALIZE_RESULT = z.object({ result: z.object({ serverInfo: z.object({ name: z.string() }) }) })
const SAMPLE_CALL = { name: 'convert_currency', arguments: { from: 'EUR', to: 'JPY', amount: 100 } }

/** Returns the origin at which this machine reaches a Patchbay with these settings. */
const localOrigin = ({ host, port }: Settings): string => {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Returns whether a Patchbay on this database serves the URL, rather than another program or installation. */
const isServedAt = async (url: string): Promise<boolean> => {
  const policy = createAddressPolicy({ allow: ['0.0.0.0/0', '::/0'] })
  const http = createHttpClient({ policy, maxRedirects: 0, connectTimeoutMs: PROBE_TIMEOUT_MS, maxSockets: 1 })
  try {
    const { status, body } = await http.send({
      method: 'POST',
      url,
      headers: [
        ['content-type', 'application/json'],
        ['accept', 'application/json, text/event-stream'],
      ],
      body: JSON.stringify(PROBE),
      timeoutMs: PROBE_TIMEOUT_MS,
      maxResponseBytes: PROBE_MAX_BYTES,
    })
    return status === 200 && INITIALIZE_RESULT.safeParse(JSON.parse(body.toString())).success
  } catch {
    return false
  } finally {
    await http.close()
  }
}

type DemoResult = { tools: string[]; call: typeof SAMPLE_CALL; answer: string }

/** Connects as a client, lists the tools and calls one. */
const tryWithClient = async (url: string): Promise<DemoResult> => {
  // Imported lazily, because a long-running server does not need it.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'patchbay-demo', version: VERSION })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
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

/** Serves on a free port while `work` runs, for when no Patchbay is running. */
const withTemporaryServer = async <T>(
  settings: Settings,
  services: Services,
  work: (origin: string) => Promise<T>,
): Promise<T> => {
  const app = await buildApp(settings, services, createLogger('silent'))
  const origin = await app.http.listen({ host: '127.0.0.1', port: 0 })
  try {
    return await work(origin)
  } finally {
    app.beginStop()
    await app.http.close()
  }
}

const runDemo = async (options: { json?: boolean }): Promise<void> => {
  const settings = loadSettings()
  const services = await buildServices(settings, createLogger('silent'))
  try {
    const id = await ensureDemoServer(services)
    const localUrl = serverUrl(localOrigin(settings), id)
    const wasServing = await isServedAt(localUrl)
    const result = wasServing
      ? await tryWithClient(localUrl)
      : await withTemporaryServer(settings, services, origin => tryWithClient(serverUrl(origin, id)))
    const url = serverUrl(settings.baseUrl, id)
    print(options, { id, url, ...result }, [
      `MCP server: ${url}`,
      `Tools: ${result.tools.join(', ')}`,
      `${result.call.name} ${JSON.stringify(result.call.arguments)}`,
      `  → ${result.answer}`,
      wasServing
        ? 'Add this address to Claude, Cursor or VS Code and ask it to convert a currency.'
        : 'Start Patchbay with npx patchbay serve, then add this address to Claude, Cursor or VS Code.',
    ])
  } finally {
    await services.close()
  }
}

export const demoCommand = (): Command => new Command('demo').option('--json', 'print one JSON value').action(runDemo)
