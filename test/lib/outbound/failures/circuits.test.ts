import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HttpClientOptions } from '../../../../src/lib/outbound/client.ts'
import type { OutboundRequest } from '../../../../src/lib/outbound/outbound-request.ts'
import { type Api, buildClient, faultOf, requestTo, startApi } from '../apis.ts'

const FAILURES = 10
const OPEN_MS = 5_000

/** Starts an API that answers with the current status. With the status 0, it holds the requests. */
const startStatusApi = async (initial: number) => {
  const state = { status: initial, requests: 0, held: [] as ServerResponse[] }
  const api = await startApi((_, response) => {
    state.requests++
    if (state.status === 0) state.held.push(response)
    else response.writeHead(state.status).end()
  })
  return { api, state }
}

const to = ({ port }: Api, more: Partial<OutboundRequest> = {}) =>
  requestTo(`http://api.test:${port}/`, { organizationId: 'a', timeoutMs: 60_000, ...more })

describe('an origin that keeps failing', () => {
  let monotonicMs = 0
  beforeEach(() => {
    monotonicMs = 1
    // cockatiel reads the time of day.
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const build = (options: Partial<HttpClientOptions> = {}) =>
    buildClient({ circuits: {}, now: () => monotonicMs, ...options })

  const pass = (ms: number): void => {
    monotonicMs += ms
    vi.setSystemTime(Date.now() + ms)
  }

  /** Starts an API, and fails until its circuit is open. */
  const startOpen = async (more: Partial<OutboundRequest> = {}) => {
    const { api, state } = await startStatusApi(503)
    const client = build()
    for (let count = 0; count < FAILURES; count++) await client.send(to(api, more))
    return { api, state, client }
  }

  it.each([502, 503, 504])('with the status %i gets no more requests, and errors say why', async status => {
    const { api, state } = await startStatusApi(status)
    const client = build()
    for (let count = 0; count < FAILURES; count++) expect((await client.send(to(api))).status).toBe(status)
    const error = await faultOf(client.send(to(api)))
    expect([error.fault, error.message]).toEqual([
      'failing',
      `api.test:${api.port} failed 10 times in a row, the last time because it responded with ${status}; Patchbay tries it again in 5 s (after 0 ms)`,
    ])
    expect(state.requests).toBe(FAILURES)
  })

  it('because it refuses connections gets no more requests', async () => {
    const { api } = await startStatusApi(200)
    const gone = { ...api, port: 1 }
    const client = build()
    for (let count = 0; count < FAILURES; count++) await faultOf(client.send(to(gone)))
    const error = await faultOf(client.send(to(gone)))
    expect([error.fault, error.message]).toEqual([
      'failing',
      expect.stringContaining('because it refused the connection'),
    ])
  })

  it('counts only failures in a row', async () => {
    const { api, state } = await startStatusApi(503)
    const client = build()
    for (let round = 0; round < 3; round++) {
      state.status = 503
      for (let count = 1; count < FAILURES; count++) await client.send(to(api))
      state.status = 200
      await client.send(to(api))
    }
    expect(state.requests).toBe(3 * FAILURES)
  })

  it.each([200, 400, 401, 404, 429, 500])('is not one that responds with %i', async status => {
    const { api, state } = await startStatusApi(status)
    const client = build()
    for (let count = 0; count < 2 * FAILURES; count++) await client.send(to(api))
    expect(state.requests).toBe(2 * FAILURES)
  })

  it('is not one whose calls are cancelled', async () => {
    const { api, state } = await startStatusApi(0)
    const client = build()
    for (let count = 1; count <= 2 * FAILURES; count++) {
      const controller = new AbortController()
      const sent = faultOf(client.send(to(api, { signal: controller.signal })))
      await expect.poll(() => state.requests).toBe(count)
      controller.abort()
      expect((await sent).fault).toBe('aborted')
    }
  })

  it('still gets the requests of other organizations, and other origins get all requests', async () => {
    const { api, state, client } = await startOpen()
    const other = await startStatusApi(200)
    expect((await client.send(to(api, { organizationId: 'b' }))).status).toBe(503)
    expect((await client.send(to(other.api))).status).toBe(200)
    expect(state.requests).toBe(FAILURES + 1)
  })

  it('is tried by one request after a pause, and gets all again if that works', async () => {
    const { api, state, client } = await startOpen()
    pass(OPEN_MS)
    state.status = 0
    const probe = client.send(to(api))
    await expect.poll(() => state.held).toHaveLength(1)
    const error = await faultOf(client.send(to(api)))
    expect([error.fault, error.message]).toEqual(['failing', expect.stringContaining('another call is trying it now')])
    state.status = 200
    state.held[0]?.end('ok')
    expect((await probe).status).toBe(200)
    await expect.poll(async () => (await client.send(to(api))).status).toBe(200)
    await client.send(to(api))
  })

  it('is tried again after longer pauses each time it fails, up to a minute', async () => {
    const { api, state, client } = await startOpen()
    const pauses = [5, 10, 20, 40, 60, 60]
    for (const [index, seconds] of pauses.entries()) {
      expect((await faultOf(client.send(to(api)))).message).toContain(
        `failed ${FAILURES + index} times in a row, the last time because it responded with 503; Patchbay tries it again in ${seconds === 60 ? '1 min' : `${seconds} s`}`,
      )
      pass(seconds * 1_000)
      expect((await client.send(to(api))).status).toBe(503)
      expect(state.requests).toBe(FAILURES + index + 1)
    }
  })

  it('is tried again later if the request that tries it is cancelled', async () => {
    const { api, state, client } = await startOpen()
    pass(OPEN_MS)
    state.status = 0
    const controller = new AbortController()
    const probe = faultOf(client.send(to(api, { signal: controller.signal })))
    await expect.poll(() => state.held).toHaveLength(1)
    controller.abort()
    expect((await probe).fault).toBe('aborted')
    await expect
      .poll(async () => (await faultOf(client.send(to(api)))).message)
      .toContain('Patchbay tries it again in 10 s')
  })

  it('gets requests again if the one that tries it takes too long', async () => {
    const { api, state, client } = await startOpen()
    pass(OPEN_MS)
    state.status = 0
    const probe = client.send(to(api))
    await expect.poll(() => state.held).toHaveLength(1)
    pass(30_000)
    state.status = 200
    expect((await client.send(to(api))).status).toBe(200)
    state.held[0]?.end()
    await probe
  })

  it('is tried again on time if the time of day is set back', async () => {
    const { api, state, client } = await startOpen()
    vi.setSystemTime(Date.now() - 3_600_000)
    monotonicMs += OPEN_MS
    state.status = 200
    expect((await client.send(to(api))).status).toBe(200)
    await expect.poll(async () => (await client.send(to(api))).status).toBe(200)
  })

  it('gets no retries of a call once it has failed ten times in a row', async () => {
    const { api, state } = await startStatusApi(503)
    const client = build()
    for (let count = 1; count < FAILURES; count++) await client.send(to(api))
    expect((await client.send(to(api, { retries: 3 }))).status).toBe(503)
    expect(state.requests).toBe(FAILURES)
  })
})
