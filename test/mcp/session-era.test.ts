import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { success } from '../../src/lib/kernel/result.ts'
import {
  FRIEND_TOKEN,
  INITIALIZE,
  makeServer,
  makeTool,
  OWNER_TOKEN,
  startTestApp,
  type TestApp,
  text,
} from './support.ts'
import { beginSession, errorCode, post, replyOf, send } from './wire.ts'

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const server = makeServer({ name: 'Weather', description: 'Says how the weather is.', tools: [makeTool('echo')] })
const other = makeServer()
const shared = makeServer({ tier: 'private', allowedUserIds: ['friend'] })
const ping: JsonObject = { jsonrpc: '2.0', id: 7, method: 'ping' }
let app: TestApp

beforeAll(async () => {
  app = await startTestApp({ servers: [server, other, shared] })
})
afterAll(() => app.close())

/** Sends a message in a new session. */
const inSession = async (body: JsonValue, version?: string) =>
  post(app, server.id, body, await beginSession(app, server.id, version))

describe('initialize', () => {
  it.each(VERSIONS)(
    'with the version %s, returns it with a session id and the server’s capabilities',
    async version => {
      const response = await post(app, server.id, INITIALIZE(version))
      expect(response.status).toBe(200)
      expect(response.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]+$/)
      expect(replyOf(response).result).toEqual({
        protocolVersion: version,
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        serverInfo: { name: 'patchbay', version: '0.1.0', title: 'Weather' },
        instructions: 'Says how the weather is.',
      })
    },
  )

  it.each(['2026-07-28', '1999-01-01', 'x'])(
    'with the version %s, offers our newest (basic/lifecycle)',
    async version => {
      const response = await post(app, server.id, INITIALIZE(version))
      expect(replyOf(response).result).toMatchObject({ protocolVersion: '2025-11-25' })
    },
  )

  it.each([
    ['no parameters', {}],
    ['no version', { capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
    ['no capabilities', { protocolVersion: '2025-11-25', clientInfo: { name: 'a', version: '1' } }],
    ['a client without a version', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a' } }],
  ])('with %s, returns 400 and -32602', async (_what, params) => {
    const response = await post(app, server.id, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    expect([response.status, errorCode(response)]).toEqual([400, -32602])
    expect(response.headers['mcp-session-id']).toBeUndefined()
  })

  it.each([
    ['a capability', { ['k'.repeat(1_000_000)]: {}, roots: {} }, { name: 'a', version: '1' }],
    ['a name', {}, { name: 'n'.repeat(1_000_000), version: '1' }],
    ['a version', {}, { name: 'a', version: '€'.repeat(1_000_000) }],
    ['a name that is longer as JSON', {}, { name: '\u0000'.repeat(500_000), version: '1' }],
  ])('with a very long %s, starts a session with a short id', async (_what, capabilities, clientInfo) => {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
    const response = await post(app, server.id, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const id = String(response.headers['mcp-session-id'])
    expect([response.status, id.length <= 1_024]).toEqual([200, true])
    expect((await post(app, server.id, ping, { 'mcp-session-id': id })).status).toBe(200)
  })

  it('is refused if the session id would be too long', async () => {
    const named = await startTestApp({
      servers: [server],
      authorize: () => success({ userId: 'u'.repeat(2_000), tokenId: 't' }),
    })
    const response = await post(named, server.id, INITIALIZE('2025-11-25'))
    expect([response.status, response.headers['mcp-session-id']]).toEqual([500, undefined])
    await named.close()
  })

  it('is refused in an initialized session', async () => {
    const response = await inSession(INITIALIZE('2025-11-25'))
    expect([response.status, errorCode(response)]).toEqual([400, -32600])
  })

  it('with the id of an ended session, starts a new one', async () => {
    const response = await post(app, server.id, INITIALIZE('2025-11-25'), { 'mcp-session-id': 'long.gone.id' })
    expect(response.status).toBe(200)
    expect(response.headers['mcp-session-id']).toBeDefined()
  })
})

describe('a request in a session', () => {
  it.each(VERSIONS)('of %s can list, call and ping', async version => {
    const session = await beginSession(app, server.id, version)
    const list = await post(app, server.id, { jsonrpc: '2.0', id: 'a', method: 'tools/list' }, session)
    expect(replyOf(list)).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: {
        tools: [
          {
            name: 'echo',
            description: 'The tool echo',
            inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
            annotations: { readOnlyHint: true },
          },
        ],
      },
    })
    const params = { name: 'echo', arguments: { text: 'hello' } }
    const call = await post(app, server.id, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session)
    expect(replyOf(call).result).toEqual({ content: [{ type: 'text', text: '{"text":"hello"}' }] })
    expect(replyOf(await post(app, server.id, ping, session))).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
  })

  it.each<[string, string, JsonObject | undefined, number]>([
    ['an unknown method', 'tools/buy', undefined, -32601],
    ['a method of the other era', 'server/discover', undefined, -32601],
    ['an unknown tool', 'tools/call', { name: 'nothing' }, -32602],
    ['a tool by the name of a property of objects', 'tools/call', { name: 'constructor' }, -32602],
    ['a call without a name', 'tools/call', {}, -32602],
    ['a call without parameters', 'tools/call', undefined, -32602],
    ['arguments that are an array', 'tools/call', { name: 'echo', arguments: [] }, -32602],
    ['arguments that are null', 'tools/call', { name: 'echo', arguments: null }, -32602],
    ['a cursor that is none of ours', 'tools/list', { cursor: 'bm9wZQ' }, -32602],
    ['a cursor that is no text', 'tools/list', { cursor: 1 }, -32602],
    ['a log level that there is not', 'logging/setLevel', { level: 'loud' }, -32602],
    ['an unknown resource', 'resources/read', { uri: 'file:///etc/passwd' }, -32002],
    ['an unknown prompt', 'prompts/get', { name: 'nothing' }, -32602],
  ])('with %s, returns an error in-band', async (_what, method, params, code) => {
    const body = { jsonrpc: '2.0', id: 9, method, ...(params === undefined ? {} : { params }) }
    const response = await inSession(body)
    expect([response.status, replyOf(response).id, errorCode(response)]).toEqual([200, 9, code])
  })

  it.each(['resources/list', 'resources/templates/list', 'prompts/list'])('%s returns an empty list', async method => {
    const response = await inSession({ jsonrpc: '2.0', id: 1, method })
    expect(Object.values(replyOf(response).result ?? {})).toEqual([[]])
  })

  it('stores the log level', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'warning' } }
    expect(replyOf(await inSession(body)).result).toEqual({})
  })

  it.each<[string, JsonObject]>([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/nothing' }],
    ['an answer that nobody asked for', { jsonrpc: '2.0', id: 3, result: {} }],
    ['an error that nobody asked for', { jsonrpc: '2.0', id: 3, error: { code: 1, message: 'no' } }],
  ])('that is %s gets 202 without a body', async (_what, body) => {
    const response = await inSession(body)
    expect([response.status, response.text]).toEqual([202, ''])
  })
})

describe('the session header', () => {
  it.each<[string, JsonValue]>([
    ['a request', ping],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }],
    ['a batch', [ping]],
  ])('missing from %s: 400 (basic/transports, "Session Management")', async (_what, body) => {
    const response = await post(app, server.id, body)
    expect([response.status, errorCode(response)]).toEqual([400, -32000])
  })

  it.each(['GET', 'DELETE'])('missing from %s: 400', async method => {
    const headers = { accept: 'text/event-stream' }
    const response = await send(app, { method, path: `/s/${server.id}`, headers })
    expect(response.status).toBe(400)
  })

  const forge = (id: string): string => {
    const [key, claims = '', signature] = id.split('.')
    const changed = JSON.parse(Buffer.from(claims, 'base64url').toString()) as JsonObject
    return [key, Buffer.from(JSON.stringify({ ...changed, subject: 'owner' })).toString('base64url'), signature].join(
      '.',
    )
  }

  it.each<[string, (id: string) => string]>([
    ['made up', () => 'e6e2b0ea-8b1d-4d27-a4b6-3f1b0a1a2b3c'],
    ['of an unknown key', id => id.replace(/^k1/, 'k9')],
    ['with other claims under the old signature', forge],
    ['cut short', id => id.slice(0, -4)],
    ['with something behind it', id => `${id}.x`],
    ['very long', id => id + 'x'.repeat(4_000)],
  ])('%s: 404', async (_what, change) => {
    const session = await beginSession(app, server.id)
    const changed = { ...session, 'mcp-session-id': change(String(session['mcp-session-id'])) }
    const response = await post(app, server.id, ping, changed)
    expect([response.status, errorCode(response)]).toEqual([404, -32001])
  })

  it('of another server: 404', async () => {
    const session = await beginSession(app, other.id)
    expect((await post(app, server.id, ping, session)).status).toBe(404)
  })

  it.each(['POST', 'GET', 'DELETE'])('of another user: %s returns 404, and the session continues', async method => {
    const session = await beginSession(app, shared.id, '2025-11-25', { authorization: OWNER_TOKEN })
    const stolen = { ...session, authorization: FRIEND_TOKEN, accept: 'application/json, text/event-stream' }
    const headers = { ...stolen, 'content-type': method === 'POST' ? 'application/json' : undefined }
    const body = method === 'POST' ? ping : undefined
    expect((await send(app, { method, path: `/s/${shared.id}`, headers, body })).status).toBe(404)
    expect((await post(app, shared.id, ping, session)).status).toBe(200)
  })

  it('without the token that it was started with: 401', async () => {
    const { authorization: _, ...session } = await beginSession(app, shared.id, '2025-11-25', {
      authorization: OWNER_TOKEN,
    })
    expect((await post(app, shared.id, ping, session)).status).toBe(401)
  })
})

describe('DELETE', () => {
  it('ends a session: later requests get 404', async () => {
    const session = await beginSession(app, server.id)
    const end = () => send(app, { method: 'DELETE', path: `/s/${server.id}`, headers: session })
    expect((await end()).status).toBe(200)
    expect((await end()).status).toBe(404)
    expect((await post(app, server.id, ping, session)).status).toBe(404)
  })
})

describe('the version header', () => {
  it.each(['2025-06-18', '2025-11-25', undefined])('of %s is accepted in a session of 2025-11-25', async version => {
    const session = await beginSession(app, server.id)
    const response = await post(app, server.id, ping, { ...session, 'mcp-protocol-version': version })
    expect(response.status).toBe(200)
  })

  it.each(['POST', 'GET', 'DELETE'])('with an unsupported version: %s returns 400', async method => {
    const session = await beginSession(app, server.id)
    const headers = {
      ...session,
      'mcp-protocol-version': '2024-10-07',
      accept: 'application/json, text/event-stream',
      'content-type': method === 'POST' ? 'application/json' : undefined,
    }
    const body = method === 'POST' ? ping : undefined
    const response = await send(app, { method, path: `/s/${server.id}`, headers, body })
    expect([response.status, errorCode(response)]).toEqual([400, -32000])
    expect(response.text).toContain('2025-11-25')
  })
})

describe('a batch', () => {
  const batch: JsonValue = [
    ping,
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } },
    { jsonrpc: '2.0', id: 'c', method: 'tools/nothing' },
    { jsonrpc: '2.0', id: 'd', method: 'tools/list' },
  ]

  it('in 2025-03-26 gets a batch of responses', async () => {
    const response = await inSession(batch, '2025-03-26')
    expect(response.status).toBe(200)
    expect(response.json()).toMatchObject([
      { id: 7, result: {} },
      { id: 'b', result: { content: [{ text: '{"text":"x"}' }] } },
      { id: 'c', error: { code: -32601 } },
      { id: 'd', result: { tools: [{ name: 'echo' }] } },
    ])
  })

  it('whose responses exceed 8 MiB in total gets errors for those that do not fit', async () => {
    const large = makeServer({ tools: [makeTool('large', { description: 'x'.repeat(3 * 1_024 * 1_024) })] })
    app.servers.set(large.id, large)
    const session = await beginSession(app, large.id, '2025-03-26')
    const lists = [1, 2, 3].map(id => ({ jsonrpc: '2.0', id, method: 'tools/list' }))
    const response = await post(app, large.id, [...lists, ping], session)
    expect(response.json()).toMatchObject([
      { id: 1, result: { tools: [{ name: 'large' }] } },
      { id: 2, result: { tools: [{ name: 'large' }] } },
      { id: 3, error: { code: -32603 } },
      { id: 7, result: {} },
    ])
  })

  it('keeps the memory of its large responses until it has been sent, but not of those that do not fit', async () => {
    const released: unknown[] = []
    const slow = Promise.withResolvers<void>()
    const tool = makeTool('text', {
      call: async ({ text: name }, { releases }) => {
        releases?.add(() => void released.push(name))
        if (name === 'slow') await slow.promise
        return text(name === 'small' ? 'small' : 'x'.repeat(3 * 1_024 * 1_024))
      },
    })
    const holding = makeServer({ tools: [tool] })
    app.servers.set(holding.id, holding)
    const session = await beginSession(app, holding.id, '2025-03-26')
    const names = ['small', 'first', 'second', 'third', 'slow']
    const calls = names.map((name, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'text', arguments: { text: name } },
    }))
    const response = post(app, holding.id, calls, session)
    await expect.poll(() => released).toEqual(['small', 'third'])
    slow.resolve()
    expect((await response).json()).toMatchObject([
      { result: { content: [{ text: 'small' }] } },
      { result: {} },
      { result: {} },
      { error: { code: -32603 } },
      { error: { code: -32603 } },
    ])
    await expect.poll(() => released).toEqual(['small', 'third', 'slow', 'first', 'second'])
  })

  it('of only notifications gets 202', async () => {
    const response = await inSession([{ jsonrpc: '2.0', method: 'notifications/initialized' }], '2025-03-26')
    expect([response.status, response.text]).toEqual([202, ''])
  })

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])('in %s, which has no batches, is refused', async version => {
    const response = await inSession(batch, version)
    expect([response.status, errorCode(response)]).toEqual([400, -32600])
  })

  it.each<[string, JsonValue]>([
    ['that is empty', []],
    ['with something else in it', [ping, 1]],
    ['in a batch', [[ping]]],
    ['of more than 100 messages', Array.from({ length: 101 }, () => ping)],
  ])('%s is refused', async (_what, body) => {
    const response = await inSession(body, '2025-03-26')
    expect([response.status, errorCode(response)]).toEqual([400, -32600])
  })

  it('cannot start a session', async () => {
    const response = await post(app, server.id, [INITIALIZE('2025-03-26')])
    expect(response.status).toBe(400)
    expect(response.headers['mcp-session-id']).toBeUndefined()
  })
})

describe('structured content in the session era', () => {
  const wrapped = makeServer({
    tools: [
      makeTool('count', {
        outputSchema: { type: 'array', items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'integer' } } },
        call: async () => ({ content: [], structuredContent: [1, 2] }),
      }),
      makeTool('plain', {
        outputSchema: { type: 'object' },
        call: async () => ({ content: [], structuredContent: { a: 1 } }),
      }),
    ],
  })

  it('is always an object, and so is its schema (server/tools, "Structured Content")', async () => {
    app.servers.set(wrapped.id, wrapped)
    const session = await beginSession(app, wrapped.id)
    const list = replyOf(await post(app, wrapped.id, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, session))
    expect(list.result?.tools).toMatchObject([
      {
        name: 'count',
        outputSchema: {
          type: 'object',
          required: ['result'],
          properties: { result: { type: 'array', items: { $ref: '#/properties/result/$defs/n' } } },
        },
      },
      { name: 'plain', outputSchema: { type: 'object' } },
    ])
    const call = (name: string) =>
      post(app, wrapped.id, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }, session)
    expect(replyOf(await call('count')).result).toEqual({
      content: [{ type: 'text', text: '[1,2]' }],
      structuredContent: { result: [1, 2] },
    })
    expect(replyOf(await call('plain')).result).toEqual({ content: [], structuredContent: { a: 1 } })
  })
})
