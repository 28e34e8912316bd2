/**
 * A minimal MCP server with the 20 tools and prepared results, used as an upstream. It speaks Streamable HTTP if it is
 * given a port, and stdio otherwise.
 *
 *   node bench/mcp-upstream.ts --port 9301
 */
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { TOOLS, toListedTools } from './tools.ts'

const { values } = parseArgs({ options: { port: { type: 'string' } } })

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
      const text = respond(JSON.parse(Buffer.concat(parts).toString()))
      if (text === undefined) return void response.writeHead(202).end()
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      response.writeHead(200, headers).end(text)
    })
  })
  server.listen(Number(values.port), '127.0.0.1')
}
