import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { FRIEND_TOKEN, INITIALIZE, makeServer, OWNER_TOKEN, startTestApp, type TestApp } from './support.ts'
import { errorCode, nextMessage, openStream, POST_HEADERS, send, type WireStream } from './wire.ts'

const server = makeServer({ tier: 'private', allowedUserIds: ['friend'] })
const other = makeServer({ tier: 'private' })
const owner = { authorization: OWNER_TOKEN }
let app: TestApp
let stream: WireStream
let address: string

beforeEach(async () => {
  app = await startTestApp({ servers: [server, other] })
  stream = await openStream(app, { path: `/s/${server.id}/sse`, headers: owner })
  address = (await stream.next())?.data ?? ''
})
afterEach(async () => {
  stream.close()
  await app.close()
})
const say = (body: JsonValue, headers: Record<string, string> = owner, path = address) =>
  send(app, { path, headers: { ...POST_HEADERS, ...headers }, body })

describe('HTTP+SSE (2024-11-05, basic/transports)', () => {
  it('sends the address for messages first, on our own origin', () => {
    expect(stream.headers['content-type']).toBe('text/event-stream')
    expect(address).toMatch(new RegExp(`^/s/${server.id}/messages\\?sessionId=[0-9a-f-]{36}$`))
  })

  it('accepts messages with 202 and responds over the stream', async () => {
    expect(await say(INITIALIZE('2024-11-05'))).toMatchObject({ status: 202, text: 'Accepted' })
    expect(await nextMessage(stream)).toMatchObject({ id: 1, result: { protocolVersion: '2024-11-05' } })
    expect((await say({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
    await say({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect(await nextMessage(stream)).toMatchObject({ id: 2, result: { tools: [{ name: 'echo' }] } })
    await say({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'echo', arguments: { text: '\n' } } })
    expect(await nextMessage(stream)).toMatchObject({ id: 3, result: { content: [{ text: '{"text":"\\n"}' }] } })
    await say({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'nothing' } })
    expect(await nextMessage(stream)).toMatchObject({ id: 4, error: { code: -32602 } })
    await say({ jsonrpc: '2.0', id: 5, method: 'tools/buy' })
    expect(await nextMessage(stream)).toMatchObject({ id: 5, error: { code: -32601 } })
  })

  it.each<[string, JsonValue, number]>([
    ['no JSON', '{', -32700],
    ['no message', { id: 1 }, -32600],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], -32600],
  ])('refuses %s with 400', async (_what, body, code) => {
    const response = await say(body)
    expect([response.status, errorCode(response)]).toEqual([400, code])
  })

  it('does not accept sessions of other callers or servers, or unknown ones', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const elsewhere = address.replace(server.id, other.id)
    const unknown = address.replace(/=.*/, '=6a0b9d3e-2f0e-4d0e-8d0b-3a0f1c2d3e4f')
    expect((await say(ping, { authorization: FRIEND_TOKEN })).status).toBe(404)
    expect((await say(ping, owner, elsewhere)).status).toBe(404)
    expect((await say(ping, owner, unknown)).status).toBe(404)
    expect((await say(ping, owner, address.replace(/\?.*/, ''))).status).toBe(400)
    expect((await say(ping, {})).status).toBe(401)
    expect((await say(ping)).status).toBe(202)
  })

  it('requires clients to accept event streams', async () => {
    const headers = { ...owner, accept: 'application/json' }
    expect((await send(app, { method: 'GET', path: `/s/${server.id}/sse`, headers })).status).toBe(406)
  })
})
