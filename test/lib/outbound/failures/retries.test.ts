import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../../../../src/lib/outbound/outbound-request.ts'
import { RequestTrace } from '../../../../src/lib/outbound/request-trace.ts'
import { type Api, buildClient, faultOf, requestTo, startApi, startRawApi } from '../apis.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  response =>
    response.writeHead(code, headers).end(String(code))
const reset: Answer = (_, { socket }) => socket.resetAndDestroy()

/** Starts an API that answers the requests in this order, and those after them like the last. */
const startFlakyApi = async (...answers: readonly Answer[]) => {
  const methods: string[] = []
  const api = await startApi((request, response) => {
    const answer = answers[methods.length] ?? answers.at(-1)
    methods.push(request.method ?? '')
    answer?.(response, request)
  })
  return { api, methods }
}

const to = ({ port }: Api, more: Partial<OutboundRequest>) =>
  requestTo(`http://api.test:${port}/`, { organizationId: 'a', retries: 3, timeoutMs: 20_000, ...more })

describe('a request with retries', () => {
  it.each([429, 502, 503, 504])('is sent again after the status %i, until there is another response', async code => {
    const { api, methods } = await startFlakyApi(status(code), status(code), status(200))
    const trace = new RequestTrace()
    const response = await buildClient().send(to(api, { trace }))
    expect([response.status, methods.length]).toEqual([200, 3])
    expect(trace.attempts?.map(attempt => attempt.status)).toEqual([code, code, 200])
  })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('is sent again with the method %s', async method => {
    const { api, methods } = await startFlakyApi(status(503), status(200))
    expect((await buildClient().send(to(api, { method }))).status).toBe(200)
    expect(methods).toEqual([method, method])
  })

  it.each(['POST', 'PATCH'])('is not sent again with the method %s', async method => {
    const { api, methods } = await startFlakyApi(status(503))
    expect((await buildClient().send(to(api, { method }))).status).toBe(503)
    expect(methods).toEqual([method])
  })

  it.each([200, 400, 404, 408, 500, 501])('is not sent again after the status %i', async code => {
    const { api, methods } = await startFlakyApi(status(code))
    expect((await buildClient().send(to(api, {}))).status).toBe(code)
    expect(methods).toHaveLength(1)
  })

  it('is sent again if the connection was reset before or within the response', async () => {
    const cut: Answer = response => {
      response.writeHead(200, { 'content-length': '100' }).write('partial')
      response.socket?.end()
    }
    const { api, methods } = await startFlakyApi(reset, cut, status(200))
    const trace = new RequestTrace()
    const response = await buildClient().send(to(api, { trace }))
    expect([String(response.body), methods.length]).toEqual(['200', 3])
    expect(trace.attempts?.map(({ fault, status }) => fault ?? status)).toEqual(['reset', 'reset', 200])
  })

  it('is sent at most as often as the retries allow, and the error says how often', async () => {
    const { api, methods } = await startFlakyApi(reset)
    const error = await faultOf(buildClient().send(to(api, { retries: 2 })))
    expect(error.message).toMatch(/ ms and 3 attempts\)$/)
    expect(methods).toHaveLength(3)
  })

  it('is sent four times at most, including the retry on a connection that had been closed', async () => {
    let requests = 0
    const api = await startRawApi(socket => {
      requests++
      // The first response leaves a connection open, on which the second request is lost.
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else if (requests === 2) socket.destroy()
      else socket.end('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n')
    })
    const client = buildClient()
    await client.send(to(api, {}))
    const trace = new RequestTrace()
    expect((await client.send(to(api, { trace }))).status).toBe(503)
    expect(requests).toBe(1 + 4)
    expect(trace.attempts?.map(({ fault, status }) => fault ?? status)).toEqual(['stale', 503, 503, 503])
  })

  it('follows the redirects of each hop, and counts the retries of all hops together', async () => {
    const { api, methods } = await startFlakyApi(
      status(503),
      status(307, { location: '/next' }),
      status(503),
      status(503),
      status(503),
    )
    expect((await buildClient().send(to(api, { retries: 2 }))).status).toBe(503)
    expect(methods).toHaveLength(4)
  })

  it('waits as long as Retry-After says', async () => {
    const { api } = await startFlakyApi(status(429, { 'retry-after': '1' }), status(200))
    const trace = new RequestTrace()
    expect((await buildClient().send(to(api, { trace }))).status).toBe(200)
    expect(trace.attempts?.[1]?.startedMs).toBeGreaterThanOrEqual(1_000)
  })

  it.each([
    ['30', {}],
    ['Sat, 28 Nov 2026 12:00:30 GMT', { date: 'Sat, 28 Nov 2026 12:00:00 GMT' }],
  ])('ends with the response if Retry-After (%s) is longer than the time that is left', async (wait, headers) => {
    const { api, methods } = await startFlakyApi(status(503, { 'retry-after': wait, ...headers }), status(200))
    expect((await buildClient().send(to(api, {}))).status).toBe(503)
    expect(methods).toHaveLength(1)
  })

  it('ignores a Retry-After that makes no sense', async () => {
    const { api } = await startFlakyApi(status(503, { 'retry-after': 'soon' }), status(200))
    expect((await buildClient().send(to(api, {}))).status).toBe(200)
  })

  it('ends at once if it is cancelled while it waits', async () => {
    const { api, methods } = await startFlakyApi(status(503, { 'retry-after': '15' }))
    const controller = new AbortController()
    const trace = new RequestTrace()
    const sent = faultOf(buildClient().send(to(api, { signal: controller.signal, trace })))
    await expect.poll(() => trace.retries).toBe(1)
    controller.abort()
    expect((await sent).fault).toBe('aborted')
    expect(methods).toHaveLength(1)
  })
})

describe('the retries of an organization at an origin', () => {
  it('are three for its first 15 requests, and a fifth of the requests in all', async () => {
    let failing = 0
    const { api, methods } = await startFlakyApi(response => {
      // Every other response fails, so that the origin does not count as failing.
      failing++
      response.writeHead(failing % 2 === 0 ? 200 : 503).end()
    })
    const client = buildClient({ circuits: {} })
    for (let count = 0; count < 15; count++) await client.send(to(api, { retries: 1 }))
    expect(methods).toHaveLength(15 + 3)
    for (let count = 15; count < 60; count++) await client.send(to(api, { retries: 1 }))
    expect(methods.length).toBeGreaterThan(60)
    expect(methods.length).toBeLessThanOrEqual(60 + 12)
  })

  it('are not used up by another organization', async () => {
    const { api, methods } = await startFlakyApi(status(503))
    const client = buildClient()
    for (let count = 0; count < 3; count++) await client.send(to(api, {}))
    expect(methods).toHaveLength(3 + 3)
    await client.send(to(api, { organizationId: 'b' }))
    expect(methods).toHaveLength(6 + 4)
  })
})
