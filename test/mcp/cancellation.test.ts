import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import type { StopSignal } from '../../src/lib/kernel/stop-signal.ts'
import { makeServer, makeTool, startTestApp, type TestApp, text } from './support.ts'
import { beginSession, nextMessage, openStream, POST_HEADERS, post, send, statelessRequest } from './wire.ts'

/** Creates calls, identified by name, that run until they are aborted or released. */
const createCalls = () => {
  const calls = new Map<string, { started: PromiseWithResolvers<void>; aborted: PromiseWithResolvers<void> }>()
  const release = Promise.withResolvers<void>()
  const at = (key: string) => {
    const call = calls.get(key) ?? { started: Promise.withResolvers<void>(), aborted: Promise.withResolvers<void>() }
    calls.set(key, call)
    return call
  }
  const tool = makeTool('wait', {
    call: async (args, { signal }) => {
      const { started, aborted } = at(JSON.stringify(args))
      signal.addEventListener('abort', () => aborted.resolve())
      started.resolve()
      await Promise.race([aborted.promise, release.promise])
      return text(signal.aborted ? 'aborted' : 'done')
    },
  })
  const find = (key: string) => at(JSON.stringify({ text: key }))
  return {
    tool,
    started: (key: string) => find(key).started.promise,
    aborted: (key: string) => find(key).aborted.promise,
    release: release.resolve,
  }
}

let calls: ReturnType<typeof createCalls>
let server = makeServer()
let app: TestApp
beforeEach(async () => {
  calls = createCalls()
  server = makeServer({ tools: [calls.tool] })
  app = await startTestApp({ servers: [server] })
})
afterEach(async () => {
  calls.release()
  await app.close()
})

const call = (key: string, id: string | number = 1): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'wait', arguments: { text: key } },
})
const cancelled = (requestId: string | number): JsonObject => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'changed my mind' },
})

describe('notifications/cancelled (basic/utilities/cancellation)', () => {
  it.each<string | number>([1, 'one', 0, ''])('aborts the call with id %j, which gets no response', async id => {
    const session = await beginSession(app, server.id)
    const answer = post(app, server.id, call('a', id), session)
    await calls.started('a')
    expect((await post(app, server.id, cancelled(id), session)).status).toBe(202)
    await calls.aborted('a')
    expect(await answer).toMatchObject({ status: 202, text: '' })
  })

  it('does not affect other ids, ids of another type and the same id in another session', async () => {
    const [one, other] = [await beginSession(app, server.id), await beginSession(app, server.id)]
    const answers = [
      post(app, server.id, call('other id', 2), one),
      post(app, server.id, call('text id', '1'), one),
      post(app, server.id, call('other session', 1), other),
    ]
    await Promise.all(['other id', 'text id', 'other session'].map(calls.started))
    expect((await post(app, server.id, cancelled(1), one)).status).toBe(202)
    calls.release()
    for (const answer of answers) expect((await answer).text).toContain('"done"')
  })

  it('aborts both of two calls that share an id, and no later call with it', async () => {
    const session = await beginSession(app, server.id)
    const both = [post(app, server.id, call('a'), session), post(app, server.id, call('b'), session)]
    await Promise.all(['a', 'b'].map(calls.started))
    await post(app, server.id, cancelled(1), session)
    await Promise.all(['a', 'b'].map(calls.aborted))
    await Promise.all(both)
    const later = post(app, server.id, call('c'), session)
    await calls.started('c')
    calls.release()
    expect((await later).text).toContain('"done"')
  })

  it('in a batch omits one response', async () => {
    const session = await beginSession(app, server.id, '2025-03-26')
    const answer = post(app, server.id, [call('a', 1), call('b', 2)], session)
    await Promise.all(['a', 'b'].map(calls.started))
    await post(app, server.id, cancelled(1), session)
    await calls.aborted('a')
    calls.release()
    expect((await answer).json()).toMatchObject([{ id: 2, result: { content: [{ text: 'done' }] } }])
  })

  it('over HTTP+SSE aborts the call, which gets no response', async () => {
    const stream = await openStream(app, { path: `/s/${server.id}/sse` })
    const address = (await stream.next())?.data ?? ''
    const say = (body: JsonObject) => send(app, { path: address, headers: POST_HEADERS, body })
    expect((await say(call('a'))).status).toBe(202)
    await calls.started('a')
    await say(cancelled(1))
    await calls.aborted('a')
    await say({ jsonrpc: '2.0', id: 2, method: 'ping' })
    expect(await nextMessage(stream)).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
    stream.close()
  })
})

describe('a client that disconnects', () => {
  it.each(['session', 'stateless'])('cancels its call (%s era)', async era => {
    const { body, headers } =
      era === 'session'
        ? { body: call('a'), headers: await beginSession(app, server.id) }
        : statelessRequest('tools/call', { name: 'wait', arguments: { text: 'a' } })
    const controller = new AbortController()
    const gone = fetch(app.urlOf(server.id), {
      method: 'POST',
      headers: { ...POST_HEADERS, ...headers },
      body: JSON.stringify(body),
      signal: controller.signal,
    })
    await calls.started('a')
    controller.abort()
    await expect(gone).rejects.toThrow()
    await calls.aborted('a')
  })

  it('cancels the call whose response had become a stream (stateless era)', async () => {
    const params = { name: 'wait', arguments: { text: 'a' } }
    const { body, headers } = statelessRequest('tools/call', params)
    const asking = { ...body, params: { ...body.params, _meta: { ...body.params._meta, progressToken: 1 } } }
    const all = { ...POST_HEADERS, ...headers }
    const stream = await openStream(app, { method: 'POST', path: `/s/${server.id}`, headers: all, body: asking })
    expect(await nextMessage(stream)).toMatchObject({ method: 'notifications/progress' })
    stream.close()
    await calls.aborted('a')
  })

  it('cancels its calls over HTTP+SSE', async () => {
    const stream = await openStream(app, { path: `/s/${server.id}/sse` })
    const address = (await stream.next())?.data ?? ''
    await send(app, { path: address, headers: POST_HEADERS, body: call('a') })
    await calls.started('a')
    stream.close()
    await calls.aborted('a')
    await expect
      .poll(async () => (await send(app, { path: address, headers: POST_HEADERS, body: call('b') })).status)
      .toBe(404)
  })
})

describe('the end of a session', () => {
  it('cancels its calls', async () => {
    const session = await beginSession(app, server.id)
    const answer = post(app, server.id, call('a'), session)
    await calls.started('a')
    await send(app, { method: 'DELETE', path: `/s/${server.id}`, headers: session })
    await calls.aborted('a')
    expect((await answer).status).toBe(202)
  })
})

describe('a call that is not cancelled', () => {
  it('never has its signal aborted, however it ends', async () => {
    let seen: StopSignal | undefined
    const tool = makeTool('quick', {
      call: async (_args, { signal }) => {
        seen = signal
        return text('ok')
      },
    })
    const quick = makeServer({ tools: [tool] })
    app.servers.set(quick.id, quick)
    const { body, headers } = statelessRequest('tools/call', { name: 'quick' })
    await post(app, quick.id, body, headers)
    // Each request opens its own connection (`agent: false`), so the first connection is closed by now.
    await post(app, quick.id, body, headers)
    expect(seen?.aborted).toBe(false)
  })
})
