import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { INITIALIZE } from '../mcp/messages.ts'
import { beginSession, nextMessage, openStream, POST_HEADERS, post, send } from '../mcp/wire.ts'
import { type Patchbay, startPatchbay } from '../support/process.ts'
import { callTool, openRaw, serveApi, startHeldApi } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

const CALLS = 100

/** What stands in the history of a database that nobody has open any more. */
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

describe('Patchbay after a stop signal', () => {
  it('completes and records calls in progress, refuses new requests, ends its streams and exits with 0', async () => {
    const patchbay = await startPatchbay()
    const api = await startHeldApi()
    const { url, serverId } = await serveApi(patchbay, api)
    const session = await beginSession(patchbay, serverId)
    const streams = await Promise.all([
      openStream(patchbay, { path: `/s/${serverId}`, headers: session }),
      openStream(patchbay, { path: `/s/${serverId}/sse` }),
    ])
    const probe = await openRaw(patchbay.port)
    probe.socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n')
    const calls = Array.from({ length: CALLS }, () => callTool(url, 'get_thing'))
    await api.waiting(CALLS)

    patchbay.kill('SIGTERM')
    await untilRefused(patchbay.port)
    probe.socket.write('\r\n')
    await probe.closed
    expect(probe.received()).toMatch(/^HTTP\/1\.1 503 /)
    for (const stream of streams) {
      while ((await stream.next()) !== undefined);
      expect(stream.isClean()).toBe(true)
    }

    api.release()
    const answers = await Promise.all(calls)
    expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get('connection')}`))).toEqual(
      new Set(['200 close']),
    )
    expect(answers.every(({ text }) => text.includes('answered'))).toBe(true)
    expect(await patchbay.ended).toMatchObject({ code: 0, stderr: '' })
    expect(outcomesIn(patchbay)).toEqual(Array.from({ length: CALLS }, () => 'ok'))
  })

  it('delivers the results of calls with streamed responses before the streams end', async () => {
    const patchbay = await startPatchbay()
    const api = await startHeldApi()
    const { serverId } = await serveApi(patchbay, api)
    const params = { name: 'get_thing', arguments: {}, _meta: { progressToken: 'p' } }
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }

    const session = await beginSession(patchbay, serverId)
    const headers = { ...POST_HEADERS, ...session }
    const streamed = await openStream(patchbay, { method: 'POST', path: `/s/${serverId}`, headers, body: call })
    expect(await nextMessage(streamed)).toMatchObject({ method: 'notifications/progress' })
    const sse = await openStream(patchbay, { path: `/s/${serverId}/sse` })
    const path = (await sse.next())?.data ?? ''
    await send(patchbay, { path, headers: POST_HEADERS, body: INITIALIZE('2024-11-05') })
    await nextMessage(sse)
    await send(patchbay, { path, headers: POST_HEADERS, body: call })
    await api.waiting(2)

    patchbay.kill('SIGTERM')
    await untilRefused(patchbay.port)
    api.release()
    for (const stream of [streamed, sse]) {
      let last = await nextMessage(stream)
      while (last !== undefined && last.id === undefined) last = await nextMessage(stream)
      expect(last).toMatchObject({ id: 7, result: { content: [{ text: expect.stringContaining('answered') }] } })
      while ((await stream.next()) !== undefined);
      expect(stream.isClean()).toBe(true)
    }
    expect(await patchbay.ended).toMatchObject({ code: 0 })
    expect(outcomesIn(patchbay)).toEqual(['ok', 'ok'])
  })

  it('waits only as long as configured for an incomplete request and an endless call, and records what it cut off', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '1500' } })
    const api = await startHeldApi()
    const { url, serverId, builder, instanceIds } = await serveApi(patchbay, api)
    const half = await openRaw(patchbay.port)
    half.socket.write(`POST /s/${serverId} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{`)
    const calls = [
      callTool(url, 'get_thing'),
      builder.send('POST', `/instances/${instanceIds.get_thing}/call`, { arguments: {} }),
    ]
    const cut = Promise.allSettled(calls)
    await api.waiting(2)
    patchbay.kill('SIGTERM')
    expect(await patchbay.ended).toMatchObject({ code: 0, stderr: '' })
    await half.closed
    expect((await cut).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(outcomesIn(patchbay)).toEqual(['error', 'error'])
  })

  it('does not wait for a connection that has sent no request', async () => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '600000' } })
    const spare = await openRaw(patchbay.port)
    // Node would wait 10 s for its first header.
    const stopped = await Promise.race([patchbay.stop(), delay(9_000, 'still running', { ref: false })])
    expect(stopped).toMatchObject({ code: 0 })
    await spare.closed
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('stops on %s, and at once on a second one', async signal => {
    const patchbay = await startPatchbay({ env: { PATCHBAY_MAX_DRAIN_MS: '600000', PATCHBAY_LOG_LEVEL: 'info' } })
    const api = await startHeldApi()
    const { url } = await serveApi(patchbay, api)
    const call = callTool(url, 'get_thing').catch(() => 'cut off')
    await api.waiting(1)
    patchbay.kill(signal)
    await patchbay.said('Patchbay stops')
    patchbay.kill(signal)
    expect(await patchbay.ended).toMatchObject({ code: 1, signal: null })
    expect(await call).toBe('cut off')
  })
})

describe('Patchbay after requests of every kind', () => {
  it('stops with exit code 0 and prints nothing to standard error', async () => {
    const patchbay = await startPatchbay()
    const { serverId } = await serveApi(patchbay, { origin: 'http://127.0.0.1:9' })
    await post(patchbay, serverId, INITIALIZE('2025-06-18'))
    expect(await patchbay.stop()).toMatchObject({ code: 0, signal: null, stderr: '' })
  })
})
