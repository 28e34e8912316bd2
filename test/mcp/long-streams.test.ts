import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { failure, success } from '../../src/lib/kernel/result.ts'
import { makeServer, makeTool, OWNER_TOKEN, startTestApp, type TestApp, text } from './support.ts'
import { beginSession, nextMessage, openStream, POST_HEADERS, send, statelessRequest, type WireStream } from './wire.ts'

const LARGE = 'x'.repeat(3 * 1_024 * 1_024)
const server = makeServer({ tools: [makeTool('large', { call: async () => text(LARGE) })] })
let app: TestApp
let isRevoked: boolean
let expiresAt: Date | undefined

beforeEach(async () => {
  // Fakes only the heartbeat timers, because the network needs real timers.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  isRevoked = false
  expiresAt = undefined
  app = await startTestApp({
    servers: [server],
    authorize: async (_policy, token) =>
      isRevoked && token === OWNER_TOKEN
        ? failure('unauthenticated')
        : success(token === OWNER_TOKEN ? { userId: 'owner', tokenId: 't', expiresAt } : undefined),
  })
})
afterEach(async () => {
  await app.close()
  vi.useRealTimers()
})

const expectEnds = async (streams: readonly WireStream[]): Promise<void> => {
  for (const stream of streams) {
    for (let event = await stream.next(); event !== undefined; ) event = await stream.next()
    expect(stream.isClean()).toBe(true)
  }
}

/** Opens a stream of each kind and reads its first event. */
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

describe('an idle stream', () => {
  it('carries a comment every 15 seconds, so that proxies keep it open', async () => {
    const streams = await openAll()
    vi.advanceTimersByTime(15_000)
    for (const stream of streams) expect(await stream.next()).toEqual({ comment: 'keep-alive' })
  })

  it('ends within a minute of its token being revoked; others stay', async () => {
    const theirs = await openAll({ authorization: OWNER_TOKEN })
    const others = await openAll()
    isRevoked = true
    vi.advanceTimersByTime(60_000)
    await expectEnds(theirs)
    expect(app.registry.openStreams(server.id)).toBe(3)
    for (const stream of others) stream.close()
  })

  it('ends at once if its user is known to have lost access; others are not even checked', async () => {
    const theirs = await openAll({ authorization: OWNER_TOKEN })
    const others = await openAll()
    isRevoked = true
    app.registry.checkAccess('somebody else')
    expect(app.registry.openStreams(server.id)).toBe(6)
    app.registry.checkAccess('owner')
    await expectEnds(theirs)
    expect(app.registry.openStreams(server.id)).toBe(3)
    for (const stream of others) stream.close()
  })

  it('ends at once if anybody may have lost access, as after missed changes', async () => {
    const theirs = await openAll({ authorization: OWNER_TOKEN })
    isRevoked = true
    app.registry.checkAccess(undefined)
    await expectEnds(theirs)
  })

  it('ends with the next comment after its token has expired', async () => {
    expiresAt = new Date(Date.now() - 1)
    const theirs = await openAll({ authorization: OWNER_TOKEN })
    expiresAt = new Date(Date.now() + 3_600_000)
    const others = await openAll({ authorization: OWNER_TOKEN })
    vi.advanceTimersByTime(15_000)
    await expectEnds(theirs)
    for (const stream of others) {
      expect(await stream.next()).toEqual({ comment: 'keep-alive' })
      stream.close()
    }
  })
})

describe('a message of several megabytes', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'large' } }

  it('arrives complete over HTTP+SSE', async () => {
    const stream = await openStream(app, { path: `/s/${server.id}/sse` })
    const path = (await stream.next())?.data ?? ''
    for (let count = 0; count < 3; count++) {
      await send(app, { path, headers: POST_HEADERS, body: call })
      expect(await nextMessage(stream)).toMatchObject({ id: 1, result: { content: [{ text: LARGE }] } })
    }
    stream.close()
  })

  it('and more of them disconnect a client that does not read', async () => {
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
