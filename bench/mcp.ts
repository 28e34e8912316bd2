/** Encodes and decodes MCP messages like a client of either era. */
import { type Connection, type HttpResponse, headerOf, textOf } from './wire.ts'

/** `session` uses initialize and Mcp-Session-Id (2025-11-25). `stateless` is 2026-07-28. */
export type Era = 'session' | 'stateless'
const SESSION_VERSION = '2025-11-25'
export const STATELESS_VERSION = '2026-07-28'

/** The address of a server. `authorization` is sent with every request. */
export type Endpoint = { port: number; path: string; authorization?: string }
/** A client's session. The id is undefined in the stateless era and if the server assigns none. */
export type Session = { era: Era; id: string | undefined }
export type Message = {
  id?: unknown
  result?: { content?: { text?: unknown }[]; isError?: unknown; tools?: unknown }
  error?: { code?: unknown; message?: unknown }
}

const CLIENT_INFO = { name: 'patchbay-bench', version: '1' }
const STATELESS_META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
  'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
}
export const STATELESS: Session = { era: 'stateless', id: undefined }

const encode = (endpoint: Endpoint, verb: string, headers: readonly string[], body?: string): Buffer =>
  Buffer.from(
    [
      `${verb} ${endpoint.path} HTTP/1.1`,
      `Host: 127.0.0.1:${endpoint.port}`,
      ...(endpoint.authorization === undefined ? [] : [`Authorization: ${endpoint.authorization}`]),
      ...headers,
      ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      '',
      body ?? '',
    ].join('\r\n'),
  )

const eraHeaders = (session: Session, method: string, params: Record<string, unknown>): string[] => {
  if (session.era === 'session') {
    const id = session.id === undefined ? [] : [`Mcp-Session-Id: ${session.id}`]
    return [...id, `MCP-Protocol-Version: ${SESSION_VERSION}`]
  }
  const name = typeof params.name === 'string' ? [`Mcp-Name: ${params.name}`] : []
  return [`MCP-Protocol-Version: ${STATELESS_VERSION}`, `Mcp-Method: ${method}`, ...name]
}

/** Encodes a POST request. A message without an id is a notification. */
export const encodePost = (
  endpoint: Endpoint,
  session: Session,
  message: { id?: number; method: string; params?: Record<string, unknown> },
): Buffer => {
  const { id, method, params = {} } = message
  const sent = session.era === 'stateless' ? { ...params, _meta: STATELESS_META } : params
  const body = JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params: sent })
  const accept = 'Accept: application/json, text/event-stream'
  return encode(endpoint, 'POST', [accept, ...eraHeaders(session, method, params)], body)
}

/** Encodes the request for a stream of notifications: GET in a session, subscriptions/listen in the stateless era. */
export const encodeListen = (endpoint: Endpoint, session: Session, id: number): Buffer =>
  session.era === 'session'
    ? encode(endpoint, 'GET', ['Accept: text/event-stream', ...eraHeaders(session, '', {})])
    : encodePost(endpoint, session, {
        id,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true } },
      })

const fail = (what: string, response: HttpResponse): never => {
  throw new Error(`${what}: HTTP ${response.status} ${textOf(response).slice(0, 300)}`)
}

/** Returns the message with this id from a JSON or event stream response. */
export const messageOf = (response: HttpResponse, id: number): Message | undefined => {
  const text = textOf(response)
  const isEvents = /\r\ncontent-type: *text\/event-stream/i.test(response.head)
  const texts = isEvents ? text.split(/\r?\n\r?\n/).map(event => /^data: ?(.*)$/m.exec(event)?.[1] ?? '') : [text]
  for (const one of texts) {
    if (one === '') continue
    const message: Message = JSON.parse(one)
    if (message.id === id) return message
  }
  return undefined
}

/** Initializes a session. Servers without sessions, like the floor, return no session id. */
export const openSession = async (endpoint: Endpoint, connection: Connection): Promise<Session> => {
  const nothing: Session = { era: 'session', id: undefined }
  const params = { protocolVersion: SESSION_VERSION, capabilities: {}, clientInfo: CLIENT_INFO }
  const opened = await connection.request(encodePost(endpoint, nothing, { id: 1, method: 'initialize', params }))
  if (opened.status !== 200 || messageOf(opened, 1)?.result === undefined) fail('initialize', opened)
  const session: Session = { era: 'session', id: headerOf(opened.head, 'mcp-session-id') }
  const noted = await connection.request(encodePost(endpoint, session, { method: 'notifications/initialized' }))
  if (noted.status !== 202) fail('notifications/initialized', noted)
  return session
}

/** Ends a session, so that no session outlives its round. */
export const closeSession = async (endpoint: Endpoint, connection: Connection, session: Session): Promise<void> => {
  if (session.id === undefined) return
  const response = await connection.request(encode(endpoint, 'DELETE', eraHeaders(session, '', {})))
  if (response.status >= 300) fail('DELETE of a session', response)
}
