/**
 * The floor: a minimal server on Fastify and undici with correct JSON-RPC responses, but without sessions, checks,
 * limits or history. Patchbay's figures are ratios to this one's.
 *
 *   node bench/floor.ts --port 9201 --api http://127.0.0.1:9100
 */
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { Pool } from 'undici'
import { pathOf, TOOLS, toListedTools } from './tools.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9201' },
    api: { type: 'string', default: 'http://127.0.0.1:9100' },
    prefix: { type: 'string', default: '' },
  },
})

type Message = {
  id?: string | number
  method?: string
  params?: { name?: string; arguments?: Record<string, unknown> }
}

const POOL_CONNECTIONS = 64
const pool = new Pool(values.api, { connections: POOL_CONNECTIONS, pipelining: 1 })
const LIST_TAIL = `,"result":${JSON.stringify({ tools: toListedTools(TOOLS, values.prefix) })}}`
const INITIALIZE_TAIL = `,"result":${JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'floor', version: '0' },
})}}`

const call = async (head: string, params: Message['params']): Promise<string> => {
  const path = pathOf(params?.name, params?.arguments ?? {})
  if (path === undefined) return `${head},"error":{"code":-32602,"message":"unknown tool"}}`
  const response = await pool.request({ method: 'GET', path })
  const text = await response.body.text()
  const flag = response.statusCode >= 400 ? ',"isError":true' : ''
  return `${head},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}]${flag}}}`
}

const respond = async (message: Message): Promise<string | undefined> => {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)}`
  if (message.method === 'tools/list') return head + LIST_TAIL
  if (message.method === 'tools/call') return call(head, message.params)
  if (message.method === 'initialize') return head + INITIALIZE_TAIL
  return message.id === undefined ? undefined : `${head},"error":{"code":-32601,"message":"method not found"}}`
}

const app = Fastify({ logger: false })
app.post<{ Body: Message }>('/mcp', async (request, reply) => {
  const text = await respond(request.body)
  if (text === undefined) return reply.code(202).send()
  return reply.header('content-type', 'application/json').send(text)
})
// An event stream without events, to measure the cost of an open connection alone.
app.get('/mcp', (_request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  reply.raw.write(': open\n\n')
})
await app.listen({ port: Number(values.port), host: '127.0.0.1' })
