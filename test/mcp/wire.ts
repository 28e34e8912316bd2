import http, { type IncomingHttpHeaders } from 'node:http'
import type { Server } from 'node:net'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { INITIALIZE, postTo } from './messages.ts'

/** A local server, identified by its port. */
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
  /** Reuses connections. Without it, each request opens its own connection. */
  agent?: http.Agent
}

export const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const toBytes = (body: JsonValue | Buffer | undefined): Buffer | undefined => {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const defined = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

const start = (
  app: Listening,
  { method = 'POST', path, headers = {}, body, agent }: WireRequest,
  onResponse: (response: http.IncomingMessage) => void,
): http.ClientRequest => {
  const bytes = toBytes(body)
  const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) }
  const options = { host: '127.0.0.1', port: app.port, method, path, agent: agent ?? false }
  const all = { host: `localhost:${app.port}`, ...length, ...defined(headers) }
  return http.request({ ...options, headers: all }, onResponse).end(bytes)
}

/**
 * Sends a request that fetch cannot send: with any Host or Origin, or without Accept. A string body is sent unchanged.
 */
export const send = (app: Listening, request: WireRequest): Promise<WireResponse> =>
  new Promise((resolve, reject) => {
    const onResponse = (response: http.IncomingMessage): void => {
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
    }
    start(app, request, onResponse).on('error', reject)
  })

export const post = (
  app: Listening,
  serverId: string,
  body: JsonValue | Buffer,
  headers: Record<string, string | undefined> = {},
): Promise<WireResponse> => send(app, { path: `/s/${serverId}`, body, headers: { ...POST_HEADERS, ...headers } })

/** The parts of a response that the tests check. */
export type Reply = {
  id?: JsonValue
  result?: JsonObject
  error?: { code: number; message: string; data?: JsonObject }
}
export const replyOf = (response: WireResponse): Reply => response.json() as Reply
export const errorCode = (response: WireResponse): number | undefined => replyOf(response).error?.code

/** Starts a session and returns the headers for its later requests. */
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

/** Builds a valid request of the stateless era, with headers derived from the body. */
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

/** Sends a request of the stateless era to a server's URL. */
export const postStateless = (
  url: string,
  token: string | undefined,
  method: string,
  params: JsonObject = {},
): Promise<Response> => {
  const { body, headers } = statelessRequest(method, params)
  return postTo(url, token, body, headers)
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

/** Reads an event stream event by event. */
export const openStream = (app: Listening, { headers = {}, ...wanted }: WireRequest) =>
  new Promise<WireStream>((resolve, reject) => {
    const all = { accept: 'text/event-stream', ...defined(headers) }
    const request = start(app, { method: 'GET', ...wanted, headers: all }, response => {
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
    request.on('error', reject)
  })

export type WireStream = {
  status: number
  headers: IncomingHttpHeaders
  /** Returns the next event, or undefined at the end of the stream. */
  next: () => Promise<StreamEvent | undefined>
  /** Whether the server ended the stream. False if the connection broke. */
  isClean: () => boolean
  close: () => void
}

/** Returns the next message of a stream as JSON, skipping priming events and comments. */
export const nextMessage = async (stream: WireStream): Promise<JsonObject | undefined> => {
  for (;;) {
    const event = await stream.next()
    if (event === undefined) return undefined
    if (event.data) return JSON.parse(event.data) as JsonObject
  }
}
