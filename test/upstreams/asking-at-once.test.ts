import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import {
  CallToolRequestSchema,
  JSONRPCMessageSchema,
  ListRootsRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, it } from 'vitest'
import { portOf } from '../mcp/wire.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { textOf } from './clients.ts'

/** Builds a server whose tool returns what `askRoots` returned. */
const build = () => {
  let roots: unknown
  const server = new Server({ name: 'eager', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'roots', inputSchema: { type: 'object' as const } }],
  }))
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: 'text' as const, text: JSON.stringify(roots) }],
  }))
  const askRoots = async (): Promise<void> => {
    roots = await server.listRoots().catch(String)
  }
  return { server, askRoots }
}

/** Runs an HTTP+SSE server that accepts `notifications/initialized` only once the client has told its roots. */
const startEager = async () => {
  const sessions = new Map<string, { transport: SSEServerTransport; askRoots: () => Promise<void> }>()
  const listener = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/', response)
      const { server, askRoots } = build()
      sessions.set(transport.sessionId, { transport, askRoots })
      await server.connect(transport)
      return
    }
    const session = sessions.get(new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId') ?? '')
    const message = JSONRPCMessageSchema.parse(await json(request))
    await session?.transport.handleMessage(message)
    if ('method' in message && message.method === 'notifications/initialized') await session?.askRoots()
    response.writeHead(202).end()
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(listener)}/`,
    close: async () => {
      listener.closeAllConnections()
      await new Promise(resolve => listener.close(resolve))
    },
  }
}

const { connect, makeServer } = runAttached()
const eager = during(startEager)

it('an upstream can ask a client for its roots before the connection is complete', async () => {
  const { serverId } = await makeServer({ eager: { transport: 'sse', url: eager.url } })
  const client = await connect('sdk 1', serverId, {
    capabilities: { roots: {} },
    prepare1: one => one.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///work' }] })),
  })
  expect(textOf(await client.callTool('eager_roots'))).toBe('{"roots":[{"uri":"file:///work"}]}')
})
