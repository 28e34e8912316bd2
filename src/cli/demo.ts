import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Command } from 'commander'
import { buildApp } from '../app.ts'
import { createLogger } from '../platform/logger.ts'
import { createAddressPolicy, createHttpClient } from '../platform/net/index.ts'
import { loadSettings, type Settings } from '../platform/settings.ts'
import { SAMPLE_TITLE, SAMPLE_TOOLS } from '../sample/index.ts'
import { serverUrl } from '../servers/index.ts'
import { buildServices, type Services } from '../services.ts'
import { VERSION } from '../version.ts'
import { print } from './output.ts'

const DEMO_SERVER = 'Patchbay demo'
const PROBE_TIMEOUT_MS = 1_000
const SAMPLE_CALL = { name: 'convert_currency', arguments: { from: 'EUR', to: 'JPY', amount: 100 } }

/** The demo server's id; made with its toolkit on the first run, found again on later ones. */
const ensureDemo = async ({ accounts, toolkits, tools, servers, instances }: Services): Promise<string> => {
  const actor = await accounts.getDemoActor()
  const everything = { limit: 200, afterId: undefined }
  const existing = (await servers.listServers(actor, everything)).find(({ name }) => name === DEMO_SERVER)
  if (existing !== undefined) return existing.id
  const [organizationId] = actor.memberships.keys()
  const toolkit = await toolkits.createToolkit(actor, {
    title: SAMPLE_TITLE,
    description: 'A currency table, an address book and an echo, answered inside Patchbay.',
    visibility: 'public',
    organizationId,
  })
  const server = await servers.createServer(actor, {
    name: DEMO_SERVER,
    description: 'Tools of the sample API, for the first minute.',
    access: 'public',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  for (const definition of SAMPLE_TOOLS) {
    const tool = await tools.createTool(actor, toolkit.id, definition)
    await instances.createInstance(actor, server.id, { toolId: tool.id, name: definition.name, bindings: {} })
  }
  return server.id
}

/** Whether a Patchbay answers where the settings say that this installation listens. */
const isServing = async (settings: Settings): Promise<boolean> => {
  const policy = createAddressPolicy({ allow: ['0.0.0.0/0', '::/0'] })
  const http = createHttpClient({ policy, maxRedirects: 0, connectTimeoutMs: PROBE_TIMEOUT_MS, maxSockets: 1 })
  const request = { method: 'GET', headers: [], timeoutMs: PROBE_TIMEOUT_MS, maxResponseBytes: 4_096 }
  try {
    return (await http.send({ ...request, url: `${localOrigin(settings)}/healthz` })).status === 200
  } catch {
    return false
  } finally {
    await http.close()
  }
}

const localOrigin = ({ listensOnLoopback, host, port }: Settings): string =>
  `http://${listensOnLoopback ? (host.includes(':') ? `[${host.replace(/[[\]]/g, '')}]` : host) : '127.0.0.1'}:${port}`

type DemoAnswer = { tools: string[]; call: typeof SAMPLE_CALL; answer: string }

/** What a client sees: connects, lists, calls. */
const tryWithClient = async (url: string): Promise<DemoAnswer> => {
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
    const id = await ensureDemo(services)
    const wasServing = await isServing(settings)
    const answered = wasServing
      ? await tryWithClient(serverUrl(localOrigin(settings), id))
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
