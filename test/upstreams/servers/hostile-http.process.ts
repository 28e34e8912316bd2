/**
 * A server over Streamable HTTP and SSE whose behavior depends on the first segment of the path. Prints its port. At
 * `/serve`, it is a minimal session-era server whose tools misbehave, each in its own way.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

type Message = { id?: number | string; method?: string; params?: { name?: string; arguments?: { text?: string } } }
type Answer = (response: ServerResponse, message: Message) => void

const MEBIBYTE = 1_024 * 1_024
const INWARD = 'http://169.254.169.254/latest/meta-data/'
const PAGE = '<!doctype html><title>Sign in</title>'

const resultOf = ({ id }: Message, result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })
const textOf = (message: Message, text: string): string => resultOf(message, { content: [{ type: 'text', text }] })
const json = (response: ServerResponse, text: string): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(text)
const html: Answer = response => void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })
const redirect = (location: string) => (response: ServerResponse) => void response.writeHead(307, { location }).end()

/** Keeps writing a chunk, as fast as it is read, until the reader disconnects. */
const flood = (response: ServerResponse, part: string): void => {
  const write = (): void => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}
const notice = (size: number): string => {
  const params = { level: 'info', data: 'x'.repeat(size) }
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n\n`
}

/** How each tool responds to a call. */
const TOOLS: Readonly<Record<string, Answer>> = {
  echo: (response, message) => json(response, textOf(message, message.params?.arguments?.text ?? '')),
  hang: () => {},
  html,
  teapot: response => void response.writeHead(418).end('short and stout'),
  fails: response => void response.writeHead(502, { 'content-type': 'text/html' }).end(PAGE),
  unauthorized: response => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
  redirects: redirect('/serve'),
  inward: redirect(INWARD),
  'cut-in-json': response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"jsonrpc":"2.0","id":', () => response.destroy())
  },
  'cut-in-stream': response => void events(response).write(notice(10), () => response.destroy()),
  'ends-unanswered': response => void events(response).end(notice(10)),
  twice: (response, message) => {
    const event = (text: string): string => `data: ${textOf(message, text)}\n\n`
    events(response).end(event('first') + event('second'))
  },
  notify: (response, message) => {
    events(response).end(`${notice(1).repeat(1_000)}data: ${textOf(message, 'told')}\n\n`)
  },
  'large-json': response => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"x":"')
    flood(response, 'x'.repeat(MEBIBYTE))
  },
  'large-event': response => {
    events(response).write('data: {"x":"')
    flood(response, 'x'.repeat(MEBIBYTE))
  },
  'many-events': response => flood(events(response), notice(MEBIBYTE)),
}

const serve: Answer = (response, message) => {
  const { id, method, params } = message
  if (id === undefined) return void response.writeHead(202).end()
  const serverInfo = { name: 'hostile', version: '1' }
  const inputSchema = { type: 'object' }
  if (method === 'initialize') {
    json(response, resultOf(message, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }))
  } else if (method === 'tools/list') {
    json(response, resultOf(message, { tools: Object.keys(TOOLS).map(name => ({ name, inputSchema })) }))
  } else if (method === 'tools/call') TOOLS[params?.name ?? '']?.(response, message)
  else json(response, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }))
}

const read = async (request: IncomingMessage): Promise<Message> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString())
}

/** The response to every request, by path. */
const PATHS: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>> = {
  serve: (response, request) => {
    if (request.method === 'POST') void read(request).then(message => serve(response, message))
    else response.writeHead(405).end()
  },
  hangs: () => {},
  html: response => void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
  fails: response => void response.writeHead(503).end(),
  cuts: response => void events(response).write(': here\n\n', () => response.destroy()),
  loops: redirect('/loops'),
  inward: redirect(INWARD),
  floods: response => {
    events(response).write('data: ')
    flood(response, 'x'.repeat(MEBIBYTE))
  },
  chatters: response => flood(events(response), notice(MEBIBYTE)),
}

const server = createServer((request, response) => {
  request.on('error', () => {})
  response.on('error', () => {})
  PATHS[request.url?.split('/')[1] ?? '']?.(response, request)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`)
})
