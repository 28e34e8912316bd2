import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { INITIALIZE } from '../mcp/messages.ts'
import { beginSession, nextMessage, openStream, POST_HEADERS, post, send, type WireStream } from '../mcp/wire.ts'
import { HAS_IPV6_LOOPBACK } from '../support/free-port.ts'
import { type Patchbay, startPatchbay } from '../support/process.ts'
import { callTool, openRaw, serveApi, startHeldApi } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

const CALLS = 30

/** The addresses at which Patchbay listens if PATCHBAY_HOST is not set. */
const LOOPBACK_ADDRESSES = HAS_IPV6_LOOPBACK ? ['127.0.0.1', '[::1]'] : ['127.0.0.1']

/** Reads the outcomes of calls from a database that no process has open anymore. */
const outcomesIn = ({ databaseFile }: Patchbay): string[] => {
  const db = new Sqlite(databaseFile, { readonly: true })
  try {
    return db
      .prepare<[], { outcome: string }>('SELECT "outcome" FROM "Execution"')
      .all()
      .map(row => row.outcome)
  } finally {
    db.close()
  }
}

const untilRefused = async (port: number): Promise<void> => {
  await vi.waitFor(() => expect(openRaw(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' }), {
    timeout: 10_000,
    interval: 10,
  })
}

/** Calls the tool with the id 7, both in a session whose response is streamed and over HTTP+SSE. */
const startStreamedCalls = async (patchbay: Patchbay, serverId: string, session: Record<string, string>) => {
  const params = { name: 'get_thing', arguments: {}, _meta: { progressToken: 'p' } }
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
  const headers = { ...POST_HEADERS, ...session }
  const streamed = await openStream(patchbay, { method: 'POST', path: `/s/${serverId}`, headers, body: call })
  expect(await nextMessage(streamed)).toMatchObject({ method: 'notifications/progress' })
  const sse = await openStream(patchbay, { path: `/s/${serverId}/sse` })
  const path = (await sse.next())?.data ?? ''
  await send(patchbay, { path, headers: POST_HEADERS, body: INITIALIZE('2024-11-05') })
  await nextMessage(sse)
  await send(patchbay, { path, headers: POST_HEADERS, body: call })
  return { streamed, sse }
}

const nextResponse = async (stream: WireStream): Promise<JsonObject | undefined> => {
  let message = await nextMessage(stream)
  while (message !== undefined && message.id === undefined) message = await nextMessage(stream)
  return message
}

const expectCleanEnd = async (stream: WireStream): Promise<void> => {
  while ((await stream.next()) !== undefined);
  expect(stream.isClean()).toBe(true)
}

describe('Patchbay after a stop signal', () => {
  it('completes and records calls in progress, refuses new requests, ends all else at once and exits with 0', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '600000' } })
    const api = await startHeldApi()
    const { url, serverId } = await serveApi(patchbay, api)
    const session = await beginSession(patchbay, serverId)
    const idle = await Promise.all([
      openStream(patchbay, { path: `/s/${serverId}`, headers: session }),
      openStream(patchbay, { path: `/s/${serverId}/sse` }),
    ])
    const spare = await openRaw(patchbay.port)
    const probe = await openRaw(patchbay.port)
    probe.socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n')

    const { streamed, sse } = await startStreamedCalls(patchbay, serverId, session)
    const addresses = LOOPBACK_ADDRESSES.map(address => url.replace('localhost', address))
    const calls = Array.from({ length: CALLS }, (_, at) =>
      callTool(addresses[at % addresses.length] ?? url, 'get_thing'),
    )
    await api.waiting(CALLS + 2)

    patchbay.kill('SIGTERM')
    await untilRefused(patchbay.port)
    probe.socket.write('\r\n')
    await probe.closed
    expect(probe.received()).toMatch(/^HTTP\/1\.1 503 /)
    for (const stream of idle) await expectCleanEnd(stream)
    // Node would wait 10 s for the first header of this connection.
    expect(await Promise.race([spare.closed, delay(9_000, 'still open', { ref: false })])).toBeUndefined()

    api.release()
    const answers = await Promise.all(calls)
    expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get('connection')}`))).toEqual(
      new Set(['200 close']),
    )
    expect(answers.every(({ text }) => text.includes('answered'))).toBe(true)
    for (const stream of [streamed, sse]) {
      expect(await nextResponse(stream)).toMatchObject({
        id: 7,
        result: { content: [{ text: expect.stringContaining('answered') }] },
      })
      await expectCleanEnd(stream)
    }
    expect(await patchbay.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(outcomesIn(patchbay)).toEqual(Array.from({ length: CALLS + 2 }, () => 'ok'))
  })

  it('waits only as long as configured for an incomplete request and an endless call, and records what it cut off', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '200' } })
    const api = await startHeldApi()
    const { url, serverId, builder, instanceIds } = await serveApi(patchbay, api)
    const half = await openRaw(patchbay.port)
    half.socket.write(`POST /s/${serverId} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{`)
    const { streamed, sse } = await startStreamedCalls(patchbay, serverId, await beginSession(patchbay, serverId))
    const called = callTool(url, 'get_thing')
    const viaApi = builder.send('POST', `/instances/${instanceIds.get_thing}/call`, { arguments: {} })
    await api.waiting(4)
    patchbay.kill('SIGTERM')
    expect(await patchbay.ended).toMatchObject({ code: 0, stderr: '' })
    await half.closed
    expect(await viaApi).toMatchObject({
      status: 503,
      body: { type: 'urn:patchbay:error:unavailable', detail: expect.stringMatching(/^Patchbay is shutting down/) },
    })
    const error = { code: -32_000, message: expect.stringMatching(/^Patchbay is shutting down/) }
    const { status, text } = await called
    expect([status, JSON.parse(text)]).toEqual([503, expect.objectContaining({ id: expect.any(Number), error })])
    for (const stream of [streamed, sse]) {
      expect(await nextResponse(stream)).toMatchObject({ id: 7, error })
      await expectCleanEnd(stream)
    }
    expect(outcomesIn(patchbay)).toEqual(['error', 'error', 'error', 'error'])
  })

  it('sends an error for every request of a batch, and for a call whose response was resumed by GET', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '200' } })
    const api = await startHeldApi()
    const { serverId } = await serveApi(patchbay, api)
    const path = `/s/${serverId}`
    const callOf = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'get_thing', arguments: {}, _meta: { progressToken: id } },
    })

    const session = await beginSession(patchbay, serverId)
    const headers = { ...POST_HEADERS, ...session }
    const first = await openStream(patchbay, { method: 'POST', path, headers, body: callOf(8) })
    let event = await first.next()
    while (!event?.data) event = await first.next()
    first.close()
    const resumed = await openStream(patchbay, { path, headers: { ...session, 'last-event-id': event.id } })
    expect(resumed.status).toBe(200)

    const batchSession = await beginSession(patchbay, serverId, '2025-03-26')
    const ping = { jsonrpc: '2.0', id: 11, method: 'ping' }
    const batch = post(patchbay, serverId, [callOf(9), callOf(10), ping], batchSession)
    await api.waiting(3)
    patchbay.kill('SIGTERM')
    const error = { code: -32_000, message: expect.stringMatching(/^Patchbay is shutting down/) }
    expect(await nextResponse(resumed)).toMatchObject({ id: 8, error })
    await expectCleanEnd(resumed)
    const answer = await batch
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      [
        { id: 9, error },
        { id: 10, error },
        { id: 11, result: {} },
      ],
    ])
    expect(await patchbay.ended).toMatchObject({ code: 0, stderr: '' })
    expect(outcomesIn(patchbay)).toEqual(['error', 'error', 'error'])
  })

  it('is unready and accepts requests until the delay is over, which SIGINT ends', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_SHUTDOWN_DELAY_MS: '600000', PATCHBAY_LOG_LEVEL: 'info' } })
    const api = await startHeldApi()
    api.release()
    const { url } = await serveApi(patchbay, api)
    patchbay.kill('SIGHUP')
    await patchbay.said('SIGHUP is ignored')
    expect((await fetch(`${patchbay.origin}/readyz`)).status).toBe(200)
    patchbay.kill('SIGTERM')
    await vi.waitFor(async () => expect((await fetch(`${patchbay.origin}/readyz`)).status).toBe(503))
    expect(await callTool(url, 'get_thing')).toMatchObject({ status: 200, text: expect.stringContaining('answered') })
    // A new connection is accepted, too.
    await openRaw(patchbay.port)
    patchbay.kill('SIGHUP')
    patchbay.kill('SIGINT')
    expect(await patchbay.ended).toMatchObject({ code: 0, signal: null })
    expect(patchbay.stdout().match(/SIGHUP is ignored/g)).toHaveLength(1)
  })

  it('stops on SIGINT too, and at once on a second signal', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '600000', PATCHBAY_LOG_LEVEL: 'info' } })
    const api = await startHeldApi()
    const { url } = await serveApi(patchbay, api)
    const call = callTool(url, 'get_thing').catch(() => 'cut off')
    await api.waiting(1)
    patchbay.kill('SIGINT')
    await patchbay.said('Patchbay is stopping')
    patchbay.kill('SIGINT')
    expect(await patchbay.ended).toMatchObject({ code: 1, signal: null })
    expect(await call).toBe('cut off')
  })
})
