import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { failure, success } from '../../src/kernel/index.ts'
import { makeServer, makeTool, OWNER_TOKEN, startTestApp, type TestApp, text } from './support.ts'
import { beginSession, nextMessage, openStream, POST_HEADERS, send, statelessRequest, type WireStream } from './wire.ts'

const LARGE = 'x'.repeat(3 * 1_024 * 1_024)
const server = makeServer({ tools: [makeTool('large', { call: async () => text(LARGE) })] })
let app: TestApp
let isRevoked: boolean

beforeEach(async () => {
  // Only what beats: the network needs its own timers.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  isRevoked = false
  app = await startTestApp({
    servers: [server],
    authorize: async (_policy, token) =>
      isRevoked && token === OWNER_TOKEN ? failure('unauthenticated') : success(undefined),
  })
})
afterEach(async () => {
  await app.close()
  vi.useRealTimers()
})

/** One stream of each kind, past its first event. */
const openAll = async (headers: Record<string, string> = {}): Promise<WireStream[]> => {
  const session = await beginSession(app, server.id, '2025-11-25', headers)
  const { body, headers: own } = statelessRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const listening = { ...POST_HEADERS, ...own, ...headers }
  const streams = [
    await openStream(app, { path: `/s/${server.id}`, headers: session }),
    await openStream(app, { path: `/s/${server.id}/sse`, headers }),
    await openStream(app, { method: 'POST', path: `/s/${server.id}`, headers: listening, body }),
  ]
  for (const stream of streams) await stream.next()
  return streams
}

describe('a stream on which nothing happens', () => {
  it('carries a comment every 15 seconds, so that no proxy takes it for dead', async () => {
    const streams = await openAll()
    vi.advanceTimersByTime(15_000)
    for (const stream of streams) expect(await stream.next()).toEqual({ comment: 'keep-alive' })
  })

  it('ends within a minute of its token being revoked; others stay', async () => {
    const theirs = await openAll({ authorization: OWNER_TOKEN })
    const others = await openAll()
    isRevoked = true
    vi.advanceTimersByTime(60_000)
    for (const stream of theirs) {
      for (let event = await stream.next(); event !== undefined; ) event = await stream.next()
      expect(stream.isClean()).toBe(true)
    }
    expect(app.registry.openStreams(server.id)).toBe(3)
    for (const stream of others) stream.close()
  })
})

describe('a message of several megabytes', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'large' } }

  it('arrives whole over HTTP+SSE', async () => {
    const stream = await openStream(app, { path: `/s/${server.id}/sse` })
    const path = (await stream.next())?.data ?? ''
    for (let count = 0; count < 3; count++) {
      await send(app, { path, headers: POST_HEADERS, body: call })
      expect(await nextMessage(stream)).toMatchObject({ id: 1, result: { content: [{ text: LARGE }] } })
    }
    stream.close()
  })

  it('and more of them cut off a client that does not read, for they would fill the memory', async () => {
    const socket = connect(app.port, '127.0.0.1')
    const first = new Promise<string>(resolve => socket.once('data', data => resolve(String(data))))
    socket.write(`GET /s/${server.id}/sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`)
    const path = /data: (\S+)/.exec(await first)?.[1] ?? ''
    socket.pause()
    const statuses: number[] = []
    for (let count = 0; count < 12; count++) {
      statuses.push((await send(app, { path, headers: POST_HEADERS, body: call })).status)
    }
    expect(statuses.at(0)).toBe(202)
    expect(statuses.at(-1)).toBe(404)
    expect(app.registry.openStreams(server.id)).toBe(0)
    socket.destroy()
  })
})
