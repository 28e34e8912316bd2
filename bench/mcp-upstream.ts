/**
 * A minimal MCP server with the 20 tools and prepared results, used as an upstream. It speaks Streamable HTTP if it is
 * given a port, and stdio otherwise. With `--floods`, it answers each call over HTTP with endless notifications.
 *
 *   node bench/mcp-upstream.ts --port 9301 [--floods]
 */
import { createServer, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { TOOLS, toListedTools } from './tools.ts'

const { values } = parseArgs({ options: { port: { type: 'string' }, floods: { type: 'boolean' } } })

type Message = { id?: string | number; method?: string }

/** Longer than any pause between two rounds, so that no connection pool has to reconnect during a measurement. */
const KEEP_ALIVE_MS = 300_000

const USER =
  '{"id":"42","name":"User 42","email":"user42@example.test","phone":"+31 20 555 0123","address":{"street":"Keizersgracht 1",' +
  '"city":"Amsterdam","zip":"1015 CJ","country":"NL"},"roles":["reader","editor"],"active":true,"note":"one \\"quoted\\" record"}'
const tail = (result: object): string => `,"result":${JSON.stringify(result)}}`
const TAILS: Readonly<Record<string, string>> = {
  initialize: tail({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'upstream', version: '0' },
  }),
  'tools/list': tail({ tools: toListedTools(TOOLS) }),
  'tools/call': tail({ content: [{ type: 'text', text: USER }] }),
}
const UNKNOWN = ',"error":{"code":-32601,"message":"method not found"}}'

/** Returns undefined for notifications, which have no response. */
const respond = ({ id, method = '' }: Message): string | undefined =>
  id === undefined ? undefined : `{"jsonrpc":"2.0","id":${JSON.stringify(id)}${TAILS[method] ?? UNKNOWN}`

const NOTIFICATION = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
/** Notifications that are written at once. */
const FLOOD = NOTIFICATION.repeat(100)

/** Sends notifications as fast as the client reads them, until it disconnects. */
const flood = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (): void => {
    if (response.destroyed) return
    if (response.write(FLOOD)) setImmediate(write)
    else response.once('drain', write)
  }
  write()
}

if (values.port === undefined) {
  createInterface({ input: process.stdin }).on('line', line => {
    const text = respond(JSON.parse(line))
    if (text !== undefined) process.stdout.write(`${text}\n`)
  })
} else {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const message: Message = JSON.parse(Buffer.concat(parts).toString())
      if (values.floods && message.method === 'tools/call') return flood(response)
      const text = respond(message)
      if (text === undefined) return void response.writeHead(202).end()
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      response.writeHead(200, headers).end(text)
    })
  })
  server.listen(Number(values.port), '127.0.0.1')
}
