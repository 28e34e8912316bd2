import { Command } from 'commander'
import { z } from 'zod'
import { buildApp } from '../app.ts'
import { serverUrl } from '../kernel/index.ts'
import { createLogger } from '../platform/logger.ts'
import { createAddressPolicy, createHttpClient } from '../platform/net/index.ts'
import { loadSettings, type Settings } from '../platform/settings.ts'
import { buildServices, type Services } from '../services.ts'
import { VERSION } from '../version.ts'
import { ensureDemoServer } from './demo-server.ts'
import { print } from './output.ts'

const PROBE_TIMEOUT_MS = 1_000
const PROBE_MAX_BYTES = 64 * 1_024
const PROBE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'patchbay-demo', version: VERSION } },
}
const ANSWER = z.object({ result: z.object({ serverInfo: z.object({ name: z.string() }) }) })
const SAMPLE_CALL = { name: 'convert_currency', arguments: { from: 'EUR', to: 'JPY', amount: 100 } }

/** Where this machine reaches what listens as the settings say. */
const localOrigin = ({ host, port }: Settings): string => {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Whether what answers there is a Patchbay on this very database, and not another program or installation. */
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
    return status === 200 && ANSWER.safeParse(JSON.parse(body.toString())).success
  } catch {
    return false
  } finally {
    await http.close()
  }
}

type DemoAnswer = { tools: string[]; call: typeof SAMPLE_CALL; answer: string }

/** What a client sees: connects, lists, calls. */
const tryWithClient = async (url: string): Promise<DemoAnswer> => {
  // Loaded here: a server that runs for months has no use for it.
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

/** Serves for the length of the demo, on a port of its own, where no Patchbay is running. */
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
    const answered = wasServing
      ? await tryWithClient(localUrl)
      : await withTemporaryServer(settings, services, origin => tryWithClient(serverUrl(origin, id)))
    const url = serverUrl(settings.baseUrl, id)
    print(options, { id, url, ...answered }, [
      `MCP server: ${url}`,
      `Tools: ${answered.tools.join(', ')}`,
      `${answered.call.name} ${JSON.stringify(answered.call.arguments)}`,
      `  → ${answered.answer}`,
      wasServing
        ? 'Add the address to Claude, Cursor or VS Code and ask it to convert some money.'
        : 'Start Patchbay with npm start, then add the address to Claude, Cursor or VS Code.',
    ])
  } finally {
    await services.close()
  }
}

export const demoCommand = (): Command =>
  new Command('demo')
    .description('make a sample toolkit and a public server, and call one of its tools through a real MCP client')
    .option('--json', 'print one JSON value')
    .action(runDemo)
