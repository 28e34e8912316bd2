import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { startReference } from './reference.ts'
import { INITIALIZE, makeServer, makeTool, startTestApp, type TestApp, text } from './support.ts'
import { beginSession, type Listening, META, POST_HEADERS, send, statelessRequest, type WireResponse } from './wire.ts'

const server = makeServer({
  tools: [
    makeTool('add', { inputSchema: { type: 'object', properties: { a: { type: 'number' } } }, title: undefined }),
    makeTool('echo'),
    makeTool('fail', { call: async () => ({ ...text('no luck'), isError: true }) }),
    makeTool('routed', {
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    }),
  ],
})
let app: TestApp
let reference: Awaited<ReturnType<typeof startReference>>

beforeAll(async () => {
  app = await startTestApp({ servers: [server] })
  reference = await startReference(server)
})
afterAll(async () => {
  await app.close()
  await reference.close()
})

type Case = {
  name: string
  method?: string
  body?: JsonValue
  headers?: Record<string, string | undefined>
  /** The protocol version of the session that is started first. */
  session?: string
}

/** Reduces a response to what two servers with the same protocol must agree on: everything except texts and names. */
const comparable = ({ status, headers, text }: WireResponse) => {
  const isJson = headers['content-type']?.startsWith('application/json') === true
  const body = isJson && text !== '' ? JSON.parse(text) : text
  return { status, hasSession: headers['mcp-session-id'] !== undefined, body: normalise(body) }
}

/** Members that may differ, such as error texts, cache times and server names. */
const OWN = new Set(['message', 'data', 'ttlMs', 'cacheScope', '_meta', 'serverInfo', 'capabilities', '$schema'])
const normalise = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(normalise)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, normalise(child)]),
  )
}

const ask = async (target: Listening, { method = 'POST', body, headers, session }: Case) => {
  const begun = session === undefined ? {} : await beginSession(target, server.id, session)
  const defaults = method === 'POST' ? POST_HEADERS : { accept: 'text/event-stream' }
  const all: Record<string, string | undefined> = { ...defaults, ...begun, ...headers }
  const response = await send(target, { method, path: `/s/${server.id}`, headers: all, body })
  // The session header matters only in responses to initialize, but the SDK sends it with every response.
  const { hasSession, ...rest } = comparable(response)
  return session === undefined ? { ...rest, hasSession } : rest
}

const request = (method: string, params?: JsonValue, id: JsonValue = 1): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
})

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const handshakes: Case[] = [
  ...[...VERSIONS, '2026-07-28', '1999-01-01', ''].map(version => ({
    name: `initialize in ${version || 'an empty version'}`,
    body: INITIALIZE(version),
  })),
  { name: 'initialize with a text as id', body: INITIALIZE('2025-11-25', 'one') },
  {
    name: 'initialize under the header of the other era',
    body: INITIALIZE('2025-11-25'),
    headers: { 'mcp-protocol-version': '2026-07-28' },
  },
  {
    name: 'initialize that accepts JSON only',
    body: INITIALIZE('2025-11-25'),
    headers: { accept: 'application/json' },
  },
  {
    name: 'initialize that accepts events only',
    body: INITIALIZE('2025-11-25'),
    headers: { accept: 'text/event-stream' },
  },
  { name: 'initialize without Accept', body: INITIALIZE('2025-11-25'), headers: { accept: undefined } },
  { name: 'two initialize at once', body: [INITIALIZE('2025-03-26'), INITIALIZE('2025-03-26', 2)] },
]

const MALFORMED: [name: string, body: JsonValue][] = [
  ['no JSON', '{"jsonrpc":'],
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"x"'],
  ['an empty object', {}],
  ['an empty batch', []],
  ['another JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }],
  ['no JSON-RPC', { id: 1, method: 'ping' }],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }],
  ['an id that is a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }],
  ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }],
  ['a method that is a number', { jsonrpc: '2.0', id: 1, method: 1 }],
  ['parameters that are an array', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
  ['parameters that are null', { jsonrpc: '2.0', id: 1, method: 'ping', params: null }],
  ['a _meta that is none', { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: 1 } }],
  ['an invalid progress token', { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { progressToken: {} } } }],
  ['a member too many', { jsonrpc: '2.0', id: 1, method: 'ping', more: 1 }],
  ['result and error at once', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } }],
  ['an error without a code', { jsonrpc: '2.0', id: 1, error: { message: '' } }],
]
const shapes: Case[] = MALFORMED.map(([name, body]) => ({ name: `${name}, in a session`, body, session: '2025-11-25' }))

const inSessions: Case[] = VERSIONS.flatMap(session =>
  [
    { name: 'ping', body: request('ping') },
    { name: 'ping with a text as id', body: request('ping', undefined, 'ü') },
    { name: 'ping with 0 as id', body: request('ping', {}, 0) },
    { name: 'tools/list', body: request('tools/list') },
    { name: 'tools/call', body: request('tools/call', { name: 'echo', arguments: { text: 'x' } }) },
    { name: 'tools/call that fails', body: request('tools/call', { name: 'fail', arguments: {} }) },
    { name: 'tools/call without arguments', body: request('tools/call', { name: 'echo' }) },
    { name: 'an unknown tool', body: request('tools/call', { name: 'nothing' }) },
    { name: 'a tool without a name', body: request('tools/call', {}) },
    { name: 'an unknown method', body: request('tools/buy') },
    { name: 'a method of the other era', body: request('server/discover', {}) },
    // An unknown resource is not compared: the SDK uses the code of 2026-07-28 in all versions.
    { name: 'an unknown prompt', body: request('prompts/get', { name: 'x' }) },
    { name: 'a log level', body: request('logging/setLevel', { level: 'error' }) },
    { name: 'a notification', body: { jsonrpc: '2.0', method: 'notifications/roots/list_changed' } },
    {
      name: 'a cancellation of nothing',
      body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
    },
    { name: 'an answer', body: { jsonrpc: '2.0', id: 4, result: {} } },
    {
      name: 'the version header of another version',
      body: request('ping'),
      headers: { 'mcp-protocol-version': '2025-06-18' },
    },
    { name: 'no version header', body: request('ping'), headers: { 'mcp-protocol-version': undefined } },
    { name: 'an unknown version header', body: request('ping'), headers: { 'mcp-protocol-version': '2020-01-01' } },
    {
      name: 'the version header of the other era',
      body: request('ping'),
      headers: { 'mcp-protocol-version': '2026-07-28' },
    },
    { name: 'no session header', body: request('ping'), headers: { 'mcp-session-id': undefined } },
    { name: 'an unknown session', body: request('ping'), headers: { 'mcp-session-id': 'nothing' } },
    { name: 'a text body', body: request('ping'), headers: { 'content-type': 'text/plain' } },
    {
      name: 'JSON with a charset',
      body: request('ping'),
      headers: { 'content-type': 'application/json; charset=utf-8' },
    },
    { name: 'JSON in capitals', body: request('ping'), headers: { 'content-type': 'Application/JSON' } },
    {
      name: 'a type that only looks like JSON',
      body: request('ping'),
      headers: { 'content-type': 'text/plain; a=application/json' },
    },
    {
      name: 'Accept with weights',
      body: request('ping'),
      headers: { accept: 'text/event-stream;q=0.5, application/json' },
    },
    { name: 'the end of the session', method: 'DELETE' },
    { name: 'GET without Accept', method: 'GET', headers: { accept: 'application/json' } },
  ].map(one => ({ ...one, name: `${session}: ${one.name}`, session })),
)

const batches: Case[] = [
  { name: 'a batch', session: '2025-03-26', body: [request('ping'), request('tools/list', {}, 2)] },
  {
    name: 'a batch of notifications',
    session: '2025-03-26',
    body: [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
  },
  { name: 'a batch with something else', session: '2025-03-26', body: [request('ping'), 7] },
  { name: 'a batch with a request of the other era', session: '2025-03-26', body: [request('ping', { _meta: META })] },
  { name: 'a batch that is too long', session: '2025-03-26', body: Array.from({ length: 101 }, () => request('ping')) },
]

const withMeta = (change: JsonObject): JsonObject => ({ _meta: { ...META, ...change } })
const stateless = (
  name: string,
  method: string,
  params: JsonObject = {},
  changed: Record<string, string | undefined> = {},
): Case => {
  const { body, headers } = statelessRequest(method, params)
  return { name: `2026-07-28: ${name}`, body, headers: { ...headers, ...changed } }
}
const echo = { name: 'echo', arguments: { text: 'x' } }
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const statelessCases: Case[] = [
  stateless('server/discover', 'server/discover'),
  stateless('tools/list', 'tools/list'),
  stateless('tools/call', 'tools/call', echo),
  stateless('tools/call that fails', 'tools/call', { name: 'fail', arguments: {} }),
  stateless('an unknown tool', 'tools/call', { name: 'nothing' }),
  stateless('a tool without a name', 'tools/call', {}),
  stateless('lists of resources', 'resources/list'),
  stateless('lists of templates', 'resources/templates/list'),
  stateless('lists of prompts', 'prompts/list'),
  stateless('an unknown resource', 'resources/read', { uri: 'a:b' }),
  stateless('an unknown prompt', 'prompts/get', { name: 'x' }),
  stateless('an unknown method', 'tools/buy'),
  stateless('ping, which is gone', 'ping'),
  stateless('initialize, which is gone', 'initialize'),
  stateless('logging/setLevel, which is gone', 'logging/setLevel', { level: 'error' }),
  stateless('an unknown method without its header', 'tools/buy', {}, { 'mcp-method': undefined }),
  stateless('a listen request without a filter', 'subscriptions/listen'),
  stateless('a listen request with a filter that is none', 'subscriptions/listen', {
    notifications: { toolsListChanged: 1 },
  }),
  stateless('no version header', 'tools/list', {}, { 'mcp-protocol-version': undefined }),
  stateless('another version header', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }),
  stateless('no method header', 'tools/list', {}, { 'mcp-method': undefined }),
  stateless('another method header', 'tools/list', {}, { 'mcp-method': 'tools/call' }),
  stateless('no name header', 'tools/call', echo, { 'mcp-name': undefined }),
  stateless('another name header', 'tools/call', echo, { 'mcp-name': 'other' }),
  stateless('a name header in Base64', 'tools/call', echo, { 'mcp-name': '=?base64?ZWNobw==?=' }),
  stateless('a name header in broken Base64', 'tools/call', echo, { 'mcp-name': '=?base64?ZWNobw?=' }),
  stateless('a name header without a name', 'tools/call', {}, { 'mcp-name': 'echo' }),
  stateless('no version in _meta', 'tools/list', { _meta: { [CAPABILITIES]: {} } }),
  stateless('no capabilities in _meta', 'tools/list', { _meta: { [VERSION]: '2026-07-28' } }),
  stateless('an empty _meta', 'tools/list', { _meta: {} }),
  stateless('a version that is a number', 'tools/list', withMeta({ [VERSION]: 1 })),
  stateless('capabilities that are none', 'tools/list', withMeta({ [CAPABILITIES]: 'all' })),
  stateless(
    'a client without a version',
    'tools/list',
    withMeta({ 'io.modelcontextprotocol/clientInfo': { name: 'x' } }),
  ),
  stateless('a log level', 'tools/list', withMeta({ 'io.modelcontextprotocol/logLevel': 'debug' })),
  stateless('a log level that there is not', 'tools/list', withMeta({ 'io.modelcontextprotocol/logLevel': 'loud' })),
  stateless('a version to come', 'tools/list', withMeta({ [VERSION]: '2030-01-01' }), {
    'mcp-protocol-version': '2030-01-01',
  }),
  stateless('an old version in the envelope', 'tools/list', withMeta({ [VERSION]: '2025-11-25' }), {
    'mcp-protocol-version': '2025-11-25',
  }),
  stateless('an old version in the envelope only', 'tools/list', withMeta({ [VERSION]: '2025-11-25' })),
  stateless('Accept for anything', 'tools/list', {}, { accept: '*/*' }),
  stateless('no Accept', 'tools/list', {}, { accept: undefined }),
  stateless('a text body', 'tools/list', {}, { 'content-type': 'text/plain' }),
  stateless(
    'a parameter in its header',
    'tools/call',
    { name: 'routed', arguments: { region: 'eu' } },
    { 'mcp-param-region': 'eu' },
  ),
  stateless('a parameter without its header', 'tools/call', { name: 'routed', arguments: { region: 'eu' } }),
  stateless(
    'a parameter with another header',
    'tools/call',
    { name: 'routed', arguments: { region: 'eu' } },
    { 'mcp-param-region': 'us' },
  ),
  {
    name: '2026-07-28: no envelope',
    body: request('tools/list', {}),
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  },
  {
    name: '2026-07-28: a notification',
    body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    headers: { 'mcp-protocol-version': '2026-07-28' },
  },
  {
    name: '2026-07-28: a notification under another method',
    body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' },
  },
  {
    name: '2026-07-28: a notification of a version to come',
    body: { jsonrpc: '2.0', method: 'notifications/x' },
    headers: { 'mcp-protocol-version': '2030-01-01' },
  },
  { name: '2026-07-28: a batch', body: [statelessRequest('tools/list').body] },
]

describe.each([...handshakes, ...shapes, ...inSessions, ...batches, ...statelessCases])('$name', one => {
  it('gets the same response as from the official SDK', async () => {
    expect(await ask(app, one)).toEqual(await ask(reference, one))
  })
})

describe('deliberate differences from the SDK', () => {
  it('names the request if a session is initialized twice', async () => {
    const one = { name: 'initialize', session: '2025-11-25', body: INITIALIZE('2025-11-25') }
    expect(await ask(reference, one)).toMatchObject({ status: 400, body: { id: null, error: { code: -32600 } } })
    expect(await ask(app, one)).toMatchObject({ status: 400, body: { id: 1, error: { code: -32600 } } })
  })

  it('treats an unknown log level as invalid parameters, not as an internal error', async () => {
    const body = request('logging/setLevel', { level: 'loud' })
    const one = { name: 'setLevel', session: '2025-11-25', body }
    expect(await ask(reference, one)).toMatchObject({ status: 200, body: { error: { code: -32603 } } })
    expect(await ask(app, one)).toMatchObject({ status: 200, body: { error: { code: -32602 } } })
  })

  it('accepts no batches in versions without them', async () => {
    const one = { name: 'a batch', session: '2025-11-25', body: [request('ping')] }
    expect(await ask(reference, one)).toMatchObject({ status: 200 })
    expect(await ask(app, one)).toMatchObject({ status: 400, body: { error: { code: -32600 } } })
  })

  it('accepts wildcards in Accept (RFC 9110 §12.5.1)', async () => {
    const one = { name: 'a wildcard', session: '2025-11-25', body: request('ping'), headers: { accept: '*/*' } }
    expect(await ask(reference, one)).toMatchObject({ status: 406 })
    expect(await ask(app, one)).toMatchObject({ status: 200 })
  })
})
