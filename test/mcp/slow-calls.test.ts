import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { makeServer, makeTool, startTestApp, type TestApp, text } from './support.ts'
import { beginSession, openStream, POST_HEADERS, post, replyOf, statelessRequest, type WireStream } from './wire.ts'

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
