import { Agent } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { makeServer, startTestApp, type TestApp } from './support.ts'
import {
  beginSession,
  callStateless,
  errorCode,
  POST_HEADERS,
  post,
  replyOf,
  send,
  statelessRequest,
  type WireResponse,
} from './wire.ts'

const server = makeServer()
let app: TestApp
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
let session: Record<string, string>
beforeAll(async () => {
  app = await startTestApp({ servers: [server], limits: { maxRequestBytes: 64 * 1_024 } })
  session = await beginSession(app, server.id, '2025-03-26')
})
afterAll(async () => {
  agent.destroy()
  await app.close()
})

const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const callWith = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`

describe('a body', () => {
  it.each<[string, JsonValue | Buffer, number, number]>([
    ['that is not JSON', '{"jsonrpc": 2.0,,}', 400, -32700],
    ['that stops in the middle', '{"jsonrpc":"2.0","id":1', 400, -32700],
    ['of nothing', '', 400, -32700],
    ['that is not UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1'), 400, -32700],
    ['that is a text', '"hello"', 400, -32600],
    ['with a key __proto__', callWith('{"__proto__":{"admin":true}}'), 400, -32600],
    ['with an escaped key __proto__', callWith('{"\\u005f_proto__":{"admin":true}}'), 400, -32600],
    [
      "with __proto__ as its method's parameters",
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":1}}',
      400,
      -32600,
    ],
    ['with arguments 65 deep', callWith(nested(65)), 400, -32600],
    ['with arguments 1,000 deep', callWith(nested(1_000)), 400, -32600],
    ['of arrays, 20,000 deep', '['.repeat(20_000) + ']'.repeat(20_000), 400, -32600],
    ['of open brackets', '['.repeat(60_000), 400, -32600],
  ])('%s is refused, and the process continues', async (_what, body, status, code) => {
    const response = await post(app, server.id, body, session)
    expect([response.status, errorCode(response), replyOf(response).id]).toEqual([status, code, null])
    expect((await callStateless(app, server.id, 'server/discover')).status).toBe(200)
  })

  it('nested too deeply is refused, naming limit and setting', async () => {
    const response = await post(app, server.id, callWith(nested(65)), session)
    expect(replyOf(response).error?.message).toMatch(/64 levels deep \(PATCHBAY_MAX_JSON_DEPTH\)/)
  })

  it('with arguments nested 64 deep is accepted', async () => {
    expect((await post(app, server.id, callWith(nested(64)), session)).status).toBe(200)
  })

  it.each([64 * 1_024 + 1, 5 * 1_024 * 1_024])('of %i bytes is refused naming limit and setting', async size => {
    const response = await post(app, server.id, 'x'.repeat(size), session)
    expect([response.status, errorCode(response)]).toEqual([413, -32000])
    expect(replyOf(response).error?.message).toContain('65536 bytes (PATCHBAY_MAX_REQUEST_BYTES)')
  })

  it('of exactly the limit is accepted', async () => {
    const empty = callWith('{"text":""}')
    const body = callWith(`{"text":"${'x'.repeat(64 * 1_024 - empty.length)}"}`)
    expect(body).toHaveLength(64 * 1_024)
    expect((await post(app, server.id, body, session)).status).toBe(200)
  })

  it('that never ends is cut off', async () => {
    const socket = connect(app.port, '127.0.0.1')
    const closed = new Promise<void>(resolve => socket.on('close', () => resolve()))
    socket.on('error', () => {})
    socket.write(
      `POST /s/${server.id} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
      if (!socket.destroyed) socket.once('drain', pour)
    }
    pour()
    await closed
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['as text', { 'content-type': 'text/plain' }],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['as nothing', { 'content-type': undefined }],
    ['as nonsense', { 'content-type': '///' }],
    ['as two types', { 'content-type': 'application/json, text/plain' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('sent %s: 415', async (_what, headers) => {
    const response = await post(app, server.id, callWith('{}'), { ...session, ...headers })
    expect([response.status, errorCode(response)]).toEqual([415, -32000])
  })

  it.each(['application/json', 'text/event-stream', 'text/html', 'application/json, text/event-stream;q=0'])(
    'whose sender accepts only %s: 406',
    async accept => {
      const response = await post(app, server.id, callWith('{}'), { ...session, accept })
      expect([response.status, errorCode(response)]).toEqual([406, -32000])
    },
  )

  it('sent in two halves is reassembled', async () => {
    const body = Buffer.from(callWith('{"text":"ä€😀"}'))
    const headers = { ...session, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const halves = async function* () {
      yield body.subarray(0, body.length - 12)
      await new Promise(resolve => setImmediate(resolve))
      yield body.subarray(body.length - 12)
    }
    const response = await fetch(app.urlOf(server.id), {
      method: 'POST',
      headers,
      body: halves(),
      duplex: 'half',
    } as RequestInit)
    expect(await response.text()).toContain('ä€😀')
  })

  it('whose sender disconnects in the middle is no problem', async () => {
    const socket = connect(app.port, '127.0.0.1')
    const head = `POST /s/${server.id} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
    await new Promise<void>(resolve => socket.write(`${head}content-length: 100\r\n\r\n{"json`, () => resolve()))
    socket.destroy()
    expect((await callStateless(app, server.id, 'server/discover')).status).toBe(200)
  })
})

describe('texts', () => {
  it.each(['\\ud800', '\\udc00x', 'a\\u0000b', '\\u2028', '\\ud83d\\ude00', '</script>', '\\r\\ndata: x'])(
    'like %s survive in both directions',
    async value => {
      const response = await post(app, server.id, callWith(`{"text":"${value}"}`), session)
      const content = replyOf(response).result?.content as { text: string }[]
      expect(JSON.parse(content[0]?.text ?? '')).toEqual({ text: JSON.parse(`"${value}"`) })
    },
  )

  it.each(['', 'ü', '\\ud800', '"\\\\', 'x'.repeat(1_000)])('like %j as ids come back unchanged', async id => {
    const text = id.replaceAll('"', '\\"')
    const response = await post(app, server.id, `{"jsonrpc":"2.0","id":"${text}","method":"ping"}`, session)
    expect(replyOf(response).id).toBe(JSON.parse(`"${text}"`))
  })
})

/** JSON objects with the keys of JSON-RPC, so that some random values pass the first check. */
const jsonRpcish = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
    method: fc.oneof(
      fc.constantFrom('initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'logging/setLevel'),
      fc.constantFrom('resources/read', 'prompts/get', 'notifications/cancelled', 'subscriptions/listen'),
      fc.jsonValue(),
    ),
    params: fc.oneof(
      fc.record(
        {
          name: fc.oneof(fc.constant('echo'), fc.jsonValue()),
          arguments: fc.jsonValue(),
          cursor: fc.jsonValue(),
          requestId: fc.jsonValue(),
          notifications: fc.constant({ promptsListChanged: true }),
          protocolVersion: fc.oneof(fc.constant('2025-06-18'), fc.jsonValue()),
          capabilities: fc.jsonValue(),
          _meta: fc.oneof(fc.constant(statelessRequest('x').body.params._meta), fc.jsonValue()),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
)
const BODIES = fc.oneof(
  jsonRpcish.map(value => JSON.stringify(value)),
  fc.array(jsonRpcish, { maxLength: 3 }).map(value => JSON.stringify(value)),
  fc.json(),
  fc.string(),
  fc.uint8Array().map(bytes => Buffer.from(bytes)),
)
const VERSION_HEADERS = fc.constantFrom(undefined, '2025-03-26', '2026-07-28', '2030-01-01', 'x')
const METHOD_HEADERS = fc.constantFrom(undefined, 'tools/call', 'tools/list', 'x')

/** Expects a response that follows the protocol: a JSON-RPC message, a batch, or nothing if no response is due. */
const expectAnswer = ({ status, text, headers }: WireResponse): void => {
  expect(status).toBeLessThan(500)
  if (status === 202) expect(text).toBe('')
  else if (headers['content-type'] === 'application/json') {
    const messages: unknown = JSON.parse(text)
    for (const message of Array.isArray(messages) ? messages : [messages])
      expect(message).toMatchObject({ jsonrpc: '2.0' })
  } else expect(headers['content-type']).toBe('text/event-stream')
}

describe('whatever is sent', () => {
  it('gets a response of the protocol, never an internal error', async () => {
    const property = fc.asyncProperty(
      BODIES,
      VERSION_HEADERS,
      METHOD_HEADERS,
      fc.boolean(),
      async (body, version, method, isInSession) => {
        const headers = { ...(isInSession ? session : {}), 'mcp-protocol-version': version, 'mcp-method': method }
        const path = `/s/${server.id}`
        expectAnswer(await send(app, { path, body, headers: { ...POST_HEADERS, ...headers }, agent }))
      },
    )
    await fc.assert(property, { numRuns: runsOf(500) })
    expect(app.faults).toEqual([])
  }, 60_000)

  it('in headers and URLs never causes an internal error', async () => {
    const value = fc.string({ unit: 'grapheme-ascii', maxLength: 80 })
    const property = fc.asyncProperty(value, value, value, async (one, two, three) => {
      const headers = { 'mcp-session-id': one, 'last-event-id': two, accept: `text/event-stream, ${three}` }
      const path = `/s/${server.id}/messages?sessionId=${encodeURIComponent(one)}`
      expect((await send(app, { method: 'GET', path: `/s/${server.id}`, headers, agent })).status).toBeLessThan(500)
      expect(
        (await send(app, { path, headers: { 'content-type': two, authorization: three }, body: '{}', agent })).status,
      ).toBeLessThan(500)
    })
    await fc.assert(property, { numRuns: runsOf(200) })
    expect(app.faults).toEqual([])
  }, 60_000)
})
