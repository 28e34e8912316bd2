import http, { type IncomingHttpHeaders } from 'node:http'
import type { Server } from 'node:net'
import type { JsonObject, JsonValue } from '../../src/kernel/index.ts'
import { INITIALIZE } from './messages.ts'

/** Whatever answers on a port of this machine. */
export type Listening = { port: number }

export const portOf = (listener: Server): number => {
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  return address.port
}

export type WireResponse = { status: number; headers: IncomingHttpHeaders; text: string; json: () => JsonValue }

export type WireRequest = {
  method?: string
  path: string
  headers?: Record<string, string | undefined>
  body?: JsonValue | Buffer | undefined
  /** Keeps connections for many requests; without it each has its own. */
  agent?: http.Agent
}

export const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const toBytes = (body: JsonValue | Buffer | undefined): Buffer | undefined => {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const defined = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** A request as it is given, which fetch would not send: any Host, any Origin, no Accept. A text is sent as it is. */
export const send = (
  app: Listening,
  { method = 'POST', path, headers = {}, body, agent }: WireRequest,
): Promise<WireResponse> =>
  new Promise((resolve, reject) => {
    const bytes = toBytes(body)
    const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) }
    const options = { host: '127.0.0.1', port: app.port, method, path, agent: agent ?? false }
    const request = http.request(
      { ...options, headers: { host: `localhost:${app.port}`, ...length, ...defined(headers) } },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as JsonValue,
          })
        })
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(bytes)
  })

export const post = (
  app: Listening,
  serverId: string,
  body: JsonValue | Buffer,
  headers: Record<string, string | undefined> = {},
): Promise<WireResponse> => send(app, { path: `/s/${serverId}`, body, headers: { ...POST_HEADERS, ...headers } })

/** The part of an answer that tests look at. */
export type Reply = {
  id?: JsonValue
  result?: JsonObject
  error?: { code: number; message: string; data?: JsonObject }
}
export const replyOf = (response: WireResponse): Reply => response.json() as Reply
export const errorCode = (response: WireResponse): number | undefined => replyOf(response).error?.code

/** Begins a session; answers the headers that its later requests carry. */
export const beginSession = async (
  app: Listening,
  serverId: string,
  version = '2025-11-25',
  headers: Record<string, string> = {},
): Promise<Record<string, string>> => {
  const response = await post(app, serverId, INITIALIZE(version), headers)
  const id = response.headers['mcp-session-id']
  if (typeof id !== 'string') throw new Error(`no session: ${response.status} ${response.text}`)
  const session = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': version }
  await post(app, serverId, { jsonrpc: '2.0', method: 'notifications/initialized' }, session)
  return session
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
} as const satisfies JsonObject

/** A whole, right request of the stateless era: its headers follow from its body. */
export const statelessRequest = (method: string, params: JsonObject = {}, id: string | number = 1) => {
  const name = params.name ?? params.uri
  return {
    body: { jsonrpc: '2.0', id, method, params: { _meta: META, ...params } } satisfies JsonObject,
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  }
}

export const callStateless = (app: Listening, serverId: string, method: string, params: JsonObject = {}) => {
  const { body, headers } = statelessRequest(method, params)
  return post(app, serverId, body, headers)
}

export type StreamEvent = { id?: string; event?: string; data?: string; comment?: string }

const parseEvent = (text: string): StreamEvent => {
  const event: StreamEvent = {}
  for (const line of text.split('\n')) {
    const [, field = '', value = ''] = /^([a-z]*): ?(.*)$/.exec(line) ?? []
    if (field === '') event.comment = value
    else if (field === 'id' || field === 'event' || field === 'data') event[field] = value
  }
  return event
}

/** An event stream that is read event by event, waiting for each. */
export const openStream = (app: Listening, { method = 'GET', path, headers = {}, body }: WireRequest) =>
  new Promise<WireStream>((resolve, reject) => {
    const bytes = toBytes(body)
    const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) }
    const accept = { accept: 'text/event-stream', host: `localhost:${app.port}` }
    const request = http.request({ host: '127.0.0.1', port: app.port, method, path, agent: false }, response => {
      const waiting: ((event: StreamEvent | undefined) => void)[] = []
      const ready: StreamEvent[] = []
      let rest = ''
      let hasEnded = false
      const give = (event: StreamEvent): void => {
        const taker = waiting.shift()
        if (taker === undefined) ready.push(event)
        else taker(event)
      }
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) give(parseEvent(part))
      })
      let isClean = false
      response.on('end', () => {
        isClean = true
      })
      response.on('error', () => {})
      response.on('close', () => {
        hasEnded = true
        for (const taker of waiting.splice(0)) taker(undefined)
      })
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        next: () => {
          const event = ready.shift()
          if (event !== undefined || hasEnded) return Promise.resolve(event)
          return new Promise(taker => waiting.push(taker))
        },
        isClean: () => isClean,
        close: () => request.destroy(),
      })
    })
    for (const [name, value] of Object.entries({ ...accept, ...length, ...defined(headers) })) {
      request.setHeader(name, value)
    }
    request.on('error', reject)
    request.end(bytes)
  })

export type WireStream = {
  status: number
  headers: IncomingHttpHeaders
  /** The next event; undefined once the stream has ended. */
  next: () => Promise<StreamEvent | undefined>
  /** Whether the server ended it, rather than the connection breaking. */
  isClean: () => boolean
  close: () => void
}

/** The JSON of the next message of a stream; priming events and comments are passed over. */
export const nextMessage = async (stream: WireStream): Promise<JsonObject | undefined> => {
  for (;;) {
    const event = await stream.next()
    if (event === undefined) return undefined
    if (event.data) return JSON.parse(event.data) as JsonObject
  }
}
