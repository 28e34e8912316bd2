import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../../../src/lib/outbound/outbound-request.ts'
import { RequestTrace } from '../../../src/lib/outbound/request-trace.ts'
import { type Api, buildClient, faultOf, requestTo, startApi } from './apis.ts'

const nextTurn = (): Promise<void> => new Promise(resolve => setTimeout(resolve))

const to = ({ port }: Api, trace: RequestTrace, more: Partial<OutboundRequest> = {}) =>
  requestTo(`http://api.test:${port}/`, { trace, ...more })

const phasesOf = ({ queueMs, dnsMs, connectMs, firstByteMs, bodyMs }: RequestTrace) => [
  queueMs,
  dnsMs,
  connectMs,
  firstByteMs,
  bodyMs,
]
const sumOf = (trace: RequestTrace): number => phasesOf(trace).reduce((sum, ms) => sum + ms)

/** Starts an API that holds its requests until the test answers them. */
const startHoldingApi = async () => {
  const held: ServerResponse[] = []
  const api = await startApi((_, response) => void held.push(response))
  return { api, held }
}

describe('the trace of a request', () => {
  it('has the time of every phase on a new connection, and none of connecting on one that is reused', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient()
    const first = new RequestTrace()
    await client.send(to(api, first))
    expect(
      phasesOf(first)
        .slice(1)
        .every(ms => ms > 0),
    ).toBe(true)
    const second = new RequestTrace()
    await client.send(to(api, second))
    expect([second.dnsMs, second.connectMs]).toEqual([0, 0])
    expect(second.firstByteMs).toBeGreaterThan(0)
  })

  it('counts the time until a connection becomes free as waiting', async () => {
    const { api, held } = await startHoldingApi()
    const client = buildClient({ maxSockets: 1 })
    const first = client.send(to(api, new RequestTrace()))
    await expect.poll(() => held).toHaveLength(1)
    const trace = new RequestTrace()
    const startedMs = performance.now()
    const second = client.send(to(api, trace))
    await nextTurn()
    const waitedMs = performance.now() - startedMs
    held[0]?.end()
    await expect.poll(() => held).toHaveLength(2)
    held[1]?.end()
    await Promise.all([first, second])
    expect(trace.queueMs).toBeGreaterThanOrEqual(waitedMs / 2)
    expect(sumOf(trace)).toBeLessThanOrEqual(performance.now() - startedMs)
  })

  it('tells the time until the response begins from the time of its body', async () => {
    const { api, held } = await startHoldingApi()
    const trace = new RequestTrace()
    const sent = buildClient().send(to(api, trace))
    await expect.poll(() => held).toHaveLength(1)
    const [response] = held
    await nextTurn()
    response?.write('begin')
    await expect.poll(() => trace.firstByteMs).toBeGreaterThan(0)
    const { firstByteMs } = trace
    await nextTurn()
    response?.end('end')
    await sent
    expect(trace.firstByteMs).toBe(firstByteMs)
    expect(trace.bodyMs).toBeGreaterThan(0)
  })

  it('counts the time of decompressing with the body, and adds up redirects', async () => {
    const body = gzipSync(Buffer.alloc(1_000_000))
    const api = await startApi(({ url }, response) => {
      if (url === '/') response.writeHead(302, { location: '/next' }).end()
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(body)
    })
    const trace = new RequestTrace()
    const startedMs = performance.now()
    const response = await buildClient().send(to(api, trace))
    expect(response.body).toHaveLength(1_000_000)
    expect(sumOf(trace)).toBeLessThanOrEqual(performance.now() - startedMs)
    expect([trace.retries, trace.attempts]).toEqual([0, undefined])
  })

  it('has the time of a request that failed, in the phase in which it failed', async () => {
    const { api, held } = await startHoldingApi()
    const client = buildClient()
    const unknown = new RequestTrace()
    await faultOf(client.send(requestTo('http://unknown.test/', { trace: unknown })))
    expect(unknown.dnsMs + unknown.connectMs).toBeGreaterThan(0)
    expect([unknown.firstByteMs, unknown.bodyMs]).toEqual([0, 0])
    const cancelled = new RequestTrace()
    const controller = new AbortController()
    const sent = faultOf(client.send(to(api, cancelled, { signal: controller.signal })))
    await expect.poll(() => held).toHaveLength(1)
    controller.abort()
    await sent
    expect(cancelled.firstByteMs).toBeGreaterThan(0)
    expect(cancelled.bodyMs).toBe(0)
  })

  it('counts the time of an origin inside this process', async () => {
    const inProcess = new Map([
      [
        'https://inside.test',
        async () => {
          await nextTurn()
          return { status: 200, statusText: '', headers: {}, body: Buffer.from('ok'), url: 'https://inside.test/' }
        },
      ],
    ])
    const trace = new RequestTrace()
    await buildClient({ inProcess }).send(requestTo('https://inside.test/', { trace }))
    expect(trace.firstByteMs).toBeGreaterThan(0)
  })
})
