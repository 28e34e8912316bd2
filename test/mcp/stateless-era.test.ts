import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { makeServer, makeTool, OWNER_TOKEN, startTestApp, type TestApp, text } from './support.ts'
import { callStateless, errorCode, META, post, replyOf, send, statelessRequest } from './wire.ts'

const server = makeServer({
  name: 'Weather',
  tools: [
    makeTool('echo'),
    makeTool('größe'),
    makeTool('who', { call: async (_args, { client }) => text(String(client)) }),
    makeTool('routed', {
      inputSchema: {
        type: 'object',
        properties: {
          region: { type: 'string', 'x-mcp-header': 'Region' },
          size: { type: 'object', properties: { width: { type: 'integer', 'x-mcp-header': 'Width' } } },
          loud: { type: 'boolean', 'x-mcp-header': 'Loud' },
        },
      },
    }),
  ],
})
const secret = makeServer({ tier: 'private' })
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const CLIENT = 'io.modelcontextprotocol/clientInfo'
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'patchbay', version: '0.1.0', title: 'Weather' } }
let app: TestApp

beforeAll(async () => {
  app = await startTestApp({ servers: [server, secret] })
})
afterAll(() => app.close())

describe('results', () => {
  it('of server/discover name the supported versions and their TTL', async () => {
    const response = await callStateless(app, server.id, 'server/discover')
    expect(response.status).toBe(200)
    expect(response.headers['mcp-session-id']).toBeUndefined()
    expect(replyOf(response)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        resultType: 'complete',
        ttlMs: 60_000,
        cacheScope: 'public',
        _meta: SERVER_INFO,
      },
    })
  })

  it('of tools/call have a type and name the server', async () => {
    const response = await callStateless(app, server.id, 'tools/call', { name: 'echo', arguments: { text: 'a' } })
    expect(replyOf(response).result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"text":"a"}' }],
      _meta: SERVER_INFO,
    })
  })

  it.each([
    ['tools/list', 'tools', 4],
    ['prompts/list', 'prompts', 0],
    ['resources/list', 'resources', 0],
    ['resources/templates/list', 'resourceTemplates', 0],
  ])('of %s say how long and by whom they may be cached', async (method, member, length) => {
    const result = replyOf(await callStateless(app, server.id, method)).result
    expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'public', resultType: 'complete', _meta: SERVER_INFO })
    expect(result?.[member]).toHaveLength(length)
  })

  it('of a server that is not public exclude shared caches', async () => {
    const { body, headers } = statelessRequest('tools/list')
    const response = await post(app, secret.id, body, { ...headers, authorization: OWNER_TOKEN })
    expect(replyOf(response).result).toMatchObject({ cacheScope: 'private' })
  })

  it('may hold any JSON value', async () => {
    const values: JsonValue[] = [[1], 'x', 0, null, true]
    for (const structuredContent of values) {
      const tool = makeTool('any', { outputSchema: {}, call: async () => ({ content: [], structuredContent }) })
      const own = makeServer({ tools: [tool] })
      app.servers.set(own.id, own)
      const result = replyOf(await callStateless(app, own.id, 'tools/call', { name: 'any' })).result
      expect(result).toMatchObject({ structuredContent, content: [{ text: JSON.stringify(structuredContent) }] })
    }
  })
})

describe('the envelope in _meta', () => {
  it('names the client to tools, if present', async () => {
    const call = async (info: JsonObject): Promise<unknown> => {
      const { body, headers } = statelessRequest('tools/call', {
        name: 'who',
        _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, ...info },
      })
      return replyOf(await post(app, server.id, body, headers)).result?.content
    }
    expect(await call({ [CLIENT]: { name: 'agent', version: '3.1' } })).toMatchObject([{ text: 'agent/3.1' }])
    expect(await call({})).toMatchObject([{ text: 'undefined' }])
  })

  it('may carry trace context and unknown members (W3C Trace Context)', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const _meta = { ...META, traceparent, tracestate: 'a=b', baggage: 'c=d', 'com.example/x': { y: 1 } }
    expect((await callStateless(app, server.id, 'tools/list', { _meta })).status).toBe(200)
  })

  it.each<[string, JsonObject]>([
    ['missing', {}],
    ['without a version', { _meta: { [CAPABILITIES]: {}, [CLIENT]: META[CLIENT] } }],
    ['without capabilities', { _meta: { [VERSION]: '2026-07-28' } }],
    ['with a version that is no text', { _meta: { ...META, [VERSION]: 20260728 } }],
    ['with capabilities that are none', { _meta: { ...META, [CAPABILITIES]: [] } }],
    ['with a capability that is none', { _meta: { ...META, [CAPABILITIES]: { sampling: true } } }],
    ['with a client without a name', { _meta: { ...META, [CLIENT]: { version: '1' } } }],
    ['with a log level that there is not', { _meta: { ...META, 'io.modelcontextprotocol/logLevel': 'loud' } }],
  ])('%s: 400 and -32602, with the id of the request (basic)', async (_what, params) => {
    const { headers } = statelessRequest('tools/list')
    const response = await post(app, server.id, { jsonrpc: '2.0', id: 'x', method: 'tools/list', params }, headers)
    expect([response.status, replyOf(response).id, errorCode(response)]).toEqual([400, 'x', -32602])
  })
})

describe('the version', () => {
  it.each(['2027-01-01', 'v999.0.0', '2025-11-25'])('%s: 400, -32022 and the supported versions', async version => {
    const { body, headers } = statelessRequest('tools/list', { _meta: { ...META, [VERSION]: version } })
    const response = await post(app, server.id, body, { ...headers, 'mcp-protocol-version': version })
    expect(response.status).toBe(400)
    expect(replyOf(response).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: version },
    })
  })
})

describe('the standard headers (basic/transports)', () => {
  const call = { name: 'echo', arguments: {} }
  it.each<[string, string, JsonObject, Record<string, string | undefined>]>([
    ['MCP-Protocol-Version missing', 'tools/list', {}, { 'mcp-protocol-version': undefined }],
    ['MCP-Protocol-Version different', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['Mcp-Method missing', 'tools/list', {}, { 'mcp-method': undefined }],
    ['Mcp-Method different', 'tools/list', {}, { 'mcp-method': 'prompts/list' }],
    ['Mcp-Method in capitals', 'tools/list', {}, { 'mcp-method': 'TOOLS/LIST' }],
    ['Mcp-Name missing', 'tools/call', call, { 'mcp-name': undefined }],
    ['Mcp-Name different', 'tools/call', call, { 'mcp-name': 'who' }],
    ['Mcp-Name in broken Base64', 'tools/call', call, { 'mcp-name': '=?base64?ZWNobw?=' }],
    ['Mcp-Name in Base64 of no UTF-8', 'tools/call', call, { 'mcp-name': '=?base64?//4=?=' }],
    ['Mcp-Name missing for a prompt', 'prompts/get', { name: 'x' }, { 'mcp-name': undefined }],
    ['Mcp-Name different for a resource', 'resources/read', { uri: 'a:b' }, { 'mcp-name': 'a:c' }],
  ])('%s: 400 and -32020', async (_what, method, params, changed) => {
    const { body, headers } = statelessRequest(method, params)
    const response = await post(app, server.id, body, { ...headers, ...changed })
    expect([response.status, replyOf(response).id, errorCode(response)]).toEqual([400, 1, -32020])
  })

  it.each<[string, string, Record<string, string>]>([
    ['a name in Base64', 'größe', { 'mcp-name': '=?base64?Z3LDtsOfZQ==?=' }],
    ['blanks around a name', 'echo', { 'mcp-name': '  echo  ' }],
    ['no Accept', 'echo', { 'mcp-name': 'echo', accept: '' }],
  ])('with %s: 200', async (_what, name, changed) => {
    const { body, headers } = statelessRequest('tools/call', { name })
    expect((await post(app, server.id, body, { ...headers, ...changed })).status).toBe(200)
  })
})

describe('parameters repeated in headers (x-mcp-header)', () => {
  const right = { 'mcp-param-region': 'eu', 'mcp-param-width': '42', 'mcp-param-loud': 'true' }
  const args = { region: 'eu', size: { width: 42 }, loud: true }
  const call = (changed: Record<string, string | undefined>, given: JsonObject = args) => {
    const { body, headers } = statelessRequest('tools/call', { name: 'routed', arguments: given })
    return post(app, server.id, body, { ...headers, ...right, ...changed })
  }

  it.each<[string, Record<string, string | undefined>, JsonObject]>([
    ['equal', {}, args],
    ['in Base64', { 'mcp-param-region': '=?base64?ZXU=?=' }, args],
    [
      'with half a sentinel, which is plain text',
      { 'mcp-param-region': '=?base64?ZXU=' },
      { ...args, region: '=?base64?ZXU=' },
    ],
    ['the same number in another writing', { 'mcp-param-width': '42.0' }, args],
    ['not given at all', { 'mcp-param-region': undefined }, { size: { width: 42 }, loud: true }],
    ['null, with a header nobody looks at', { 'mcp-param-region': 'us' }, { ...args, region: null }],
  ])('%s: the call runs', async (_what, changed, given) => {
    expect((await call(changed, given)).status).toBe(200)
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['missing', { 'mcp-param-region': undefined }],
    ['different', { 'mcp-param-region': 'us' }],
    ['another number', { 'mcp-param-width': '43' }],
    ['another truth', { 'mcp-param-loud': 'false' }],
    ['broken Base64', { 'mcp-param-region': '=?base64?ZXU?=' }],
    ['not the alphabet of Base64', { 'mcp-param-region': '=?base64?ZX!=?=' }],
  ])('%s: 400 and -32020', async (_what, changed) => {
    const response = await call(changed)
    expect([response.status, errorCode(response)]).toEqual([400, -32020])
  })
})

describe('a method', () => {
  it.each(['tools/buy', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'toString'])(
    '%s, which does not exist in this era: 404 and -32601',
    async method => {
      const response = await callStateless(app, server.id, method)
      expect([response.status, replyOf(response).id, errorCode(response)]).toEqual([404, 1, -32601])
    },
  )

  it.each<[string, string, JsonObject]>([
    ['an unknown tool', 'tools/call', { name: 'nothing' }],
    ['no name', 'tools/call', {}],
    ['arguments that are none', 'tools/call', { name: 'echo', arguments: 1 }],
    ['a foreign cursor', 'tools/list', { cursor: 'x' }],
    ['an unknown resource', 'resources/read', { uri: 'a:b' }],
    ['an unknown prompt', 'prompts/get', { name: 'x' }],
    ['a listen request without a filter', 'subscriptions/listen', {}],
    ['a filter that is none', 'subscriptions/listen', { notifications: { toolsListChanged: 'yes' } }],
  ])('with %s: -32602 in-band', async (_what, method, params) => {
    const response = await callStateless(app, server.id, method, params)
    expect([response.status, errorCode(response)]).toEqual([200, -32602])
  })

  it('that reads an unknown resource names it (server/resources, "Error Handling")', async () => {
    const response = await callStateless(app, server.id, 'resources/read', { uri: 'a:b' })
    expect(replyOf(response).error?.data).toEqual({ uri: 'a:b' })
  })
})

describe('what does not exist in this era', () => {
  it.each(['GET', 'DELETE'])('%s: 405', async method => {
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' }
    const response = await send(app, { method, path: `/s/${server.id}`, headers })
    expect([response.status, response.headers.allow]).toEqual([405, 'POST'])
  })

  it('batches: 400 and -32600', async () => {
    const { body, headers } = statelessRequest('tools/list')
    const response = await post(app, server.id, [body], headers)
    expect([response.status, errorCode(response)]).toEqual([400, -32600])
  })

  it('the handshake under its version: 400 and -32020', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
    const response = await post(app, server.id, body, { 'mcp-protocol-version': '2026-07-28' })
    expect([response.status, errorCode(response)]).toEqual([400, -32020])
  })

  it('notifications from clients: accepted and dropped', async () => {
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    const response = await post(app, server.id, body, { 'mcp-protocol-version': '2026-07-28' })
    expect([response.status, response.text]).toEqual([202, ''])
  })
})
