import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CompiledServer } from '../../src/runtime/call/compiled-server.ts'
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
import {
  beginSession,
  nextMessage,
  openStream,
  POST_HEADERS,
  post,
  replyOf,
  statelessRequest,
  type WireStream,
} from './wire.ts'

const CHANGED = 'notifications/tools/list_changed'
let server: CompiledServer
let app: TestApp
let streams: WireStream[]

beforeEach(async () => {
  server = makeServer({ tier: 'private', allowedUserIds: ['friend'] })
  app = await startTestApp({ servers: [server], limits: { maxSessionsPerServer: 50 } })
  streams = []
})
afterEach(async () => {
  for (const stream of streams) stream.close()
  await app.close()
})

const kept = async (opening: Promise<WireStream>): Promise<WireStream> => {
  const stream = await opening
  streams.push(stream)
  return stream
}
const owner = { authorization: OWNER_TOKEN }

const openSession = async (version: string, headers = owner, session?: Record<string, string>) => {
  const begun = session ?? (await beginSession(app, server.id, version, headers))
  return kept(openStream(app, { path: `/s/${server.id}`, headers: begun }))
}

const listen = (notifications: Record<string, boolean>, headers = owner, id: string | number = 'sub-1') => {
  const request = statelessRequest('subscriptions/listen', { notifications }, id)
  const all = { ...POST_HEADERS, ...request.headers, ...headers }
  return kept(openStream(app, { method: 'POST', path: `/s/${server.id}`, headers: all, body: request.body }))
}

/** Opens an SSE stream. Reads the address for messages from its first event. */
const openSse = async (headers = owner): Promise<{ stream: WireStream; address: string }> => {
  const stream = await kept(openStream(app, { path: `/s/${server.id}/sse`, headers }))
  const first = await stream.next()
  expect(first).toMatchObject({ event: 'endpoint' })
  return { stream, address: first?.data ?? '' }
}

/** Changes the list of tools. The change is live when the promise resolves. */
const change = async (name = 'young'): Promise<void> => {
  app.servers.set(server.id, { ...server, tools: [...server.tools, makeTool(name)] })
  await app.registry.refresh(server.id)
}

describe('a change of the tools', () => {
  it('is notified on every open stream of every kind', async () => {
    const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
    const sessions = await Promise.all([...versions, ...versions].map(version => openSession(version)))
    const sse = await Promise.all([openSse(), openSse()])
    const listening = [
      await listen({ toolsListChanged: true }, owner, 'a'),
      await listen({ toolsListChanged: true }, owner, 2),
    ]
    for (const stream of listening) await nextMessage(stream)
    expect(app.registry.openStreams(server.id)).toBe(12)
    await change()
    for (const stream of [...sessions, ...sse.map(one => one.stream)]) {
      expect(await nextMessage(stream)).toEqual({ jsonrpc: '2.0', method: CHANGED })
    }
    const tags = await Promise.all(listening.map(nextMessage))
    expect(tags).toMatchObject([
      { method: CHANGED, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'a' } } },
      { method: CHANGED, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 2 } } },
    ])
  })

  it('is notified once in a session with several streams, on the newest (basic/transports, "Multiple Connections")', async () => {
    const session = await beginSession(app, server.id, '2025-11-25', owner)
    const older = await openSession('', owner, session)
    const newer = await openSession('', owner, session)
    for (const name of ['first', 'second', 'third']) await change(name)
    for (let count = 0; count < 3; count++) expect(await nextMessage(newer)).toMatchObject({ method: CHANGED })
    newer.close()
    await expect.poll(() => app.registry.openStreams(server.id)).toBe(1)
    await change('fourth')
    app.registry.close()
    expect(await messagesOf(older)).toEqual([{ jsonrpc: '2.0', method: CHANGED }])
  })

  it('is not notified if only something else changed', async () => {
    const stream = await openSession('2025-11-25')
    app.servers.set(server.id, { ...server, name: 'Another name', instructions: 'New' })
    await app.registry.refresh(server.id)
    app.registry.close()
    expect(await messagesOf(stream)).toEqual([])
  })

  it('is visible to the next request after the refresh', async () => {
    await change('brand-new')
    const { body, headers } = statelessRequest('tools/list')
    const tools = replyOf(await post(app, server.id, body, { ...headers, ...owner })).result?.tools
    expect(tools).toMatchObject([{ name: 'brand-new' }, { name: 'echo' }])
  })
})

describe('subscriptions/listen (2026-07-28, basic/utilities/subscriptions)', () => {
  it('first acknowledges the supported part of the filter', async () => {
    const stream = await listen({ toolsListChanged: true, promptsListChanged: true }, owner, 7)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(await nextMessage(stream)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
    })
  })

  it('ends at once if nothing requested can ever be sent', async () => {
    const stream = await listen({ promptsListChanged: true, toolsListChanged: false })
    expect(await nextMessage(stream)).toMatchObject({ params: { notifications: {} } })
    expect(await nextMessage(stream)).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
    expect(await nextMessage(stream)).toBeUndefined()
    expect(app.registry.openStreams(server.id)).toBe(0)
  })

  it('ends with a result if the server ends it', async () => {
    const stream = await listen({ toolsListChanged: true })
    await nextMessage(stream)
    app.registry.close()
    expect(await nextMessage(stream)).toMatchObject({
      id: 'sub-1',
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub-1' } },
    })
    expect(await nextMessage(stream)).toBeUndefined()
    expect(stream.isClean()).toBe(true)
  })
})

describe('a disconnected stream', () => {
  it.each(['2025-03-26', '2025-11-25'])(
    'in %s continues where it stopped (basic/transports, "Resumability")',
    async version => {
      const session = await beginSession(app, server.id, version, owner)
      const stream = await openSession('', owner, session)
      await change('first')
      const told = await nextEvent(stream)
      stream.close()
      await expect.poll(() => app.registry.openStreams(server.id)).toBe(0)
      await change('second')
      await change('third')
      const resumed = await kept(
        openStream(app, { path: `/s/${server.id}`, headers: { ...session, 'last-event-id': told?.id } }),
      )
      const numbers = [await nextEvent(resumed), await nextEvent(resumed)].map(event => event?.id?.split('-').at(-1))
      expect(numbers).toEqual(['2', '3'])
      await change('fourth')
      expect((await nextEvent(resumed))?.id?.split('-').at(-1)).toBe('4')
    },
  )

  it.each(['nonsense', 'ffffff-1-1', ''])(
    'starts over if the client names the unknown event "%s"',
    async lastEventId => {
      const session = await beginSession(app, server.id, '2025-11-25', owner)
      const headers = { ...session, 'last-event-id': lastEventId }
      const stream = await kept(openStream(app, { path: `/s/${server.id}`, headers }))
      expect(stream.status).toBe(200)
      await change()
      expect(await nextMessage(stream)).toMatchObject({ method: CHANGED })
    },
  )

  it('of a slow response delivers the rest to the client that reconnects', async () => {
    const release = Promise.withResolvers<void>()
    const slow = makeTool('slow', { call: () => release.promise.then(() => text('at last')) })
    app.servers.set(server.id, { ...server, tools: [slow] })
    await app.registry.refresh(server.id)
    const session = await beginSession(app, server.id, '2025-11-25', owner)
    const params = { name: 'slow', _meta: { progressToken: 'p' } }
    const body = { jsonrpc: '2.0', id: 5, method: 'tools/call', params }
    const headers = { ...POST_HEADERS, ...session }
    const answer = await kept(openStream(app, { method: 'POST', path: `/s/${server.id}`, headers, body }))
    const event = await nextEvent(answer)
    expect(JSON.parse(event?.data ?? '')).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p' },
    })
    answer.close()
    await expect.poll(() => app.registry.openStreams(server.id)).toBe(0)
    release.resolve()
    const again = { ...session, 'last-event-id': event?.id }
    const resumed = await kept(openStream(app, { path: `/s/${server.id}`, headers: again }))
    expect(await nextMessage(resumed)).toMatchObject({ id: 5, result: { content: [{ text: 'at last' }] } })
    expect(await nextMessage(resumed)).toBeUndefined()
  })
})

describe('an open stream', () => {
  it.each(['a session', 'HTTP+SSE', 'listen'])('of %s ends when its caller loses access; others stay', async kind => {
    const open = async (headers: typeof owner): Promise<WireStream> => {
      if (kind === 'HTTP+SSE') return (await openSse(headers)).stream
      if (kind === 'a session') return openSession('2025-06-18', headers)
      const stream = await listen({ toolsListChanged: true }, headers)
      await nextMessage(stream)
      return stream
    }
    const mine = await open(owner)
    const theirs = await open({ authorization: FRIEND_TOKEN })
    const access = { ...server.access, allowedUserIds: new Set<string>() }
    app.servers.set(server.id, { ...server, access, tools: [makeTool('young')] })
    await app.registry.refresh(server.id)
    expect((await nextMessage(theirs))?.method).not.toBe(CHANGED)
    expect(await nextMessage(mine)).toMatchObject({ method: CHANGED })
  })

  it('ends when its server is removed', async () => {
    const stream = await openSession('2025-06-18')
    app.servers.delete(server.id)
    await app.registry.refresh(server.id)
    expect(await nextMessage(stream)).toBeUndefined()
    expect(stream.isClean()).toBe(true)
  })

  it('is refused above the limit, which the error names', async () => {
    const session = await beginSession(app, server.id, '2025-11-25', owner)
    for (let count = 0; count < 50; count++) await openSession('', owner, session)
    const refused = [
      await openSession('', owner, session),
      await listen({ toolsListChanged: true }),
      await kept(openStream(app, { path: `/s/${server.id}/sse`, headers: owner })),
    ]
    expect(refused.map(stream => stream.status)).toEqual([503, 503, 503])
    streams.shift()?.close()
    await expect.poll(() => app.registry.openStreams(server.id)).toBe(49)
    expect((await openSession('', owner, session)).status).toBe(200)
  })
})

describe('stopping', () => {
  it('ends streams cleanly, lets calls finish and opens no new streams', async () => {
    const release = Promise.withResolvers<void>()
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    const slow = makeTool('slow', {
      call: async () => {
        started[calls++]?.resolve()
        await release.promise
        return text('done')
      },
    })
    app.servers.set(server.id, { ...server, tools: [slow] })
    await app.registry.refresh(server.id)
    const session = await beginSession(app, server.id, '2025-11-25', owner)
    const notices = await openSession('', owner, session)
    await notices.next()
    const { stream, address } = await openSse()
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } }
    const answer = post(app, server.id, body, session)
    const toSse = { method: 'POST', path: address, headers: { ...POST_HEADERS, ...owner } }
    await kept(openStream(app, { ...toSse, body: INITIALIZE('2024-11-05', 0) }))
    expect(await nextMessage(stream)).toMatchObject({ id: 0 })
    await kept(openStream(app, { ...toSse, body }))
    await Promise.all(started.map(one => one.promise))

    app.registry.close()
    expect(await nextMessage(notices)).toBeUndefined()
    expect(notices.isClean()).toBe(true)
    expect((await openSession('', owner, session)).status).toBe(503)
    release.resolve()
    expect(replyOf(await answer).result).toMatchObject({ content: [{ text: 'done' }] })
    expect(await nextMessage(stream)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    expect(await nextMessage(stream)).toBeUndefined()
    expect(stream.isClean()).toBe(true)
  })
})

/** Reads all messages up to the end of the stream. */
const messagesOf = async (stream: WireStream) => {
  const messages = []
  for (let message = await nextMessage(stream); message !== undefined; message = await nextMessage(stream)) {
    messages.push(message)
  }
  return messages
}

/** Reads the next event that contains data. */
const nextEvent = async (stream: WireStream) => {
  for (;;) {
    const event = await stream.next()
    if (event === undefined || event.data) return event
  }
}
