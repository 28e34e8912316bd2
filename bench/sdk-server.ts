/**
 * The same tools on the official SDK, in both eras (`--with-sdk`), to compare Patchbay with a server built the usual
 * way.
 *
 *   node bench/sdk-server.ts --port 9202 --api http://127.0.0.1:9100
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parseArgs } from 'node:util'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { Pool } from 'undici'
import { STATELESS_VERSION } from './mcp.ts'
import { pathOf, TOOLS, toListedTools } from './tools.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9202' },
    api: { type: 'string', default: 'http://127.0.0.1:9100' },
  },
})

const pool = new Pool(values.api, { connections: 64, pipelining: 1 })
const tools = toListedTools(TOOLS)

const createToolServer = (): Server => {
  const server = new Server({ name: 'sdk', version: '0' }, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const path = pathOf(params.name, params.arguments ?? {}) ?? '/missing'
    const response = await pool.request({ method: 'GET', path })
    const content = [{ type: 'text' as const, text: await response.body.text() }]
    return response.statusCode >= 400 ? { content, isError: true } : { content }
  })
  return server
}

const handleStateless = toNodeHandler(createMcpHandler(() => createToolServer()))
const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const handleSession = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const known = sessions.get(String(request.headers['mcp-session-id']))
  if (known !== undefined) return known.handleRequest(request, response)
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: id => {
      sessions.set(id, transport)
    },
    onsessionclosed: id => {
      sessions.delete(id)
    },
  })
  await createToolServer().connect(transport)
  return transport.handleRequest(request, response)
}

/**
 * Returns whether a request is of the stateless era. Also narrows the type: requests that a server receives always have
 * a method and a URL, which are optional in Node's types.
 */
const isStateless = (request: IncomingMessage): request is IncomingMessage & { method: string; url: string } =>
  request.headers['mcp-protocol-version'] === STATELESS_VERSION

createServer(async (request, response) => {
  await (isStateless(request) ? handleStateless(request, response) : handleSession(request, response))
}).listen(Number(values.port), '127.0.0.1')
