import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { buildHttpApp } from '../../support/http-app.ts'

/**
 * Sends raw bytes, and sends `onceBegun` as soon as a response has begun. Returns everything received until the server
 * closes the connection.
 */
const exchange = async (bytes: string, { onceBegun }: { onceBegun?: string } = {}): Promise<string> => {
  const { app } = await buildHttpApp({
    routes: async api => {
      api.post('/things', { config: { access: 'anyone' } }, async () => ({}))
      api.post('/begun', { config: { access: 'anyone' } }, (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-length': '120' }).write('begun')
      })
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const socket = connect(address.port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', chunk => received.push(chunk))
  if (onceBegun !== undefined) socket.once('data', () => socket.write(onceBegun))
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(received).toString('latin1')
}

const post = (...headers: string[]): string =>
  ['POST /api/v1/things HTTP/1.1', 'Host: localhost', 'Connection: close', ...headers].join('\r\n')

/** Parses the problem in a response, and checks its content type and length. */
const problemOf = (answer: string): unknown => {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toContain('Content-Type: application/problem+json')
  expect(head).toContain(`Content-Length: ${body.length}`)
  return JSON.parse(body)
}

describe('the server', () => {
  it.each([
    ['two lengths', 'Content-Length: 2', 'Content-Length: 3'],
    ['a length and chunks', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['a header with a bare CR', 'Content-Length: 2', 'X-Split: a\rb'],
  ])('responds with 400 to a request with %s, which proxies may interpret differently', async (_what, ...headers) => {
    const answer = await exchange(`${post('Content-Type: application/json', ...headers)}\r\n\r\n{}`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(problemOf(answer)).toMatchObject({ type: 'about:blank', title: 'Bad Request', status: 400 })
  })

  it('accepts the same request if it is well formed', async () => {
    const answer = await exchange(`${post('Content-Type: application/json', 'Content-Length: 2')}\r\n\r\n{}`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('responds with 431 to 40 kB of headers', async () => {
    const answer = await exchange(`${post(`X-Big: ${'a'.repeat(40_000)}`)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(problemOf(answer)).toMatchObject({ status: 431, detail: expect.stringContaining('headers') })
  })

  it('writes no error into a response that it has started', async () => {
    // The connection stays open, and the next bytes on it are not a valid request.
    const request = post('Content-Length: 0').replace('things', 'begun').replace('Connection: close', 'X-Any: 1')
    const answer = await exchange(`${request}\r\n\r\n`, { onceBegun: 'rubbish\r\n\r\n' })
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nbegun$/s)
  })

  it('limits the time for slow clients', async () => {
    const { app } = await buildHttpApp()
    expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 })
  })
})
