import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { makeServer, makeTool, startTestApp, type TestApp, text } from './support.ts'
import {
  beginSession,
  openStream,
  POST_HEADERS,
  portOf,
  post,
  replyOf,
  statelessRequest,
  type WireStream,
} from './wire.ts'

const INTERVAL_MS = 15_000
const BEAT = { comment: 'keep-alive' }
const DONE = { result: { content: [{ type: 'text', text: 'done' }] } }
const JSON_ONLY = { accept: 'application/json' }

let started: PromiseWithResolvers<void>
let result: PromiseWithResolvers<ReturnType<typeof text>>
const server = makeServer({
  tools: [
    makeTool('slow', {
      call: () => {
        started.resolve()
        return result.promise
      },
    }),
  ],
})
let app: TestApp

beforeEach(async () => {
  // Fakes only the timers that repeat, because the network needs real timers.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  started = Promise.withResolvers()
  result = Promise.withResolvers()
  app = await startTestApp({ servers: [server] })
})
afterEach(async () => {
  await app.close()
  vi.useRealTimers()
})

const { body, headers } = statelessRequest('tools/call', { name: 'slow', arguments: {} })
const call = (id: number): JsonObject => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'slow' } })
const untilSlow = async (): Promise<void> => {
  await started.promise
  // The first second may pass before the response is seen.
  vi.advanceTimersByTime(INTERVAL_MS + 1_000)
}
const dataOf = async (stream: WireStream): Promise<unknown> => JSON.parse((await stream.next())?.data ?? 'null')

const SILENT_SECONDS = 20

/** Starts a proxy that cuts a connection on which nothing arrives from the server for 20 seconds of the fake clock. */
const startCuttingProxy = async (target: number): Promise<number> => {
  const proxy = createServer(client => {
    const server = connect(target, '127.0.0.1')
    let silent = 0
    const timer = setInterval(() => {
      silent += 1
      if (silent < SILENT_SECONDS) return
      client.destroy()
      server.destroy()
    }, 1_000)
    server.on('data', () => {
      silent = 0
    })
    server.on('error', () => client.destroy()).on('close', () => clearInterval(timer))
    client.on('error', () => server.destroy())
    client.pipe(server).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  return portOf(proxy)
}

describe('a call that takes longer than 15 seconds', () => {
  const openCall = (own: Record<string, string>, message: JsonObject): Promise<WireStream> =>
    openStream(app, { method: 'POST', path: `/s/${server.id}`, headers: { ...POST_HEADERS, ...own }, body: message })

  it('sends comments in an event stream, then its result (stateless era)', async () => {
    const opening = openCall(headers, body)
    await untilSlow()
    const stream = await opening
    expect(stream).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } })
    expect(await stream.next()).toEqual(BEAT)
    vi.advanceTimersByTime(INTERVAL_MS)
    expect(await stream.next()).toEqual(BEAT)
    result.resolve(text('done'))
    expect(await dataOf(stream)).toMatchObject({ id: 1, ...DONE })
    expect(await stream.next()).toBeUndefined()
  })

  it('sends comments in an event stream that can be resumed, then its result (session era)', async () => {
    const session = await beginSession(app, server.id, '2025-11-25')
    const opening = openCall(session, call(7))
    await untilSlow()
    const stream = await opening
    expect((await stream.next())?.id).toMatch(/-0$/)
    vi.advanceTimersByTime(INTERVAL_MS)
    expect(await stream.next()).toEqual(BEAT)
    result.resolve(text('done'))
    expect(await dataOf(stream)).toMatchObject({ id: 7, ...DONE })
  })

  it('sends its error in the stream', async () => {
    const opening = openCall(headers, body)
    await untilSlow()
    const stream = await opening
    expect(await stream.next()).toEqual(BEAT)
    result.reject(new Error('broken'))
    expect(await dataOf(stream)).toMatchObject({ id: 1, error: { code: -32603 } })
  })

  it('sends white space before the JSON of its result to a client that accepts no streams', async () => {
    const response = post(app, server.id, body, { ...headers, ...JSON_ONLY })
    await untilSlow()
    vi.advanceTimersByTime(INTERVAL_MS)
    result.resolve(text('done'))
    const received = await response
    expect(received).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(received.text).toMatch(/^ {2}\{/)
    expect(replyOf(received)).toMatchObject(DONE)
  })

  it('sends white space before the results of a batch', async () => {
    const session = await beginSession(app, server.id, '2025-03-26')
    const response = post(app, server.id, [call(1), call(2)], session)
    await untilSlow()
    result.resolve(text('done'))
    const received = await response
    expect(received.text).toMatch(/^ \[/)
    expect(received.json()).toMatchObject([
      { id: 1, ...DONE },
      { id: 2, ...DONE },
    ])
  })
})

it('a call that ends earlier sends its JSON at once, and nothing afterwards', async () => {
  const response = post(app, server.id, body, headers)
  await started.promise
  vi.advanceTimersByTime(INTERVAL_MS - 1)
  result.resolve(text('done'))
  const { text: json, headers: received } = await response
  expect(received).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(json)),
  })
  expect(JSON.parse(json)).toMatchObject(DONE)
})

it('a proxy that cuts connections after 20 seconds of silence cuts no call', async () => {
  const port = await startCuttingProxy(app.port)
  const message = { path: `/s/${server.id}`, headers: { ...POST_HEADERS, ...headers }, body }
  const opening = openStream({ port }, { method: 'POST', ...message })
  await untilSlow()
  const stream = await opening
  for (let beat = 0; beat < 6; beat++) {
    expect(await stream.next()).toEqual(BEAT)
    vi.advanceTimersByTime(INTERVAL_MS)
  }
  result.resolve(text('done'))
  expect(await stream.next()).toEqual(BEAT)
  expect(await dataOf(stream)).toMatchObject(DONE)
})
