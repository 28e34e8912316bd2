import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createBoundedFetch } from '../../../src/lib/outbound/bounded-fetch.ts'
import { buildClient, faultOf, requestTo, startApi, startRawApi } from './apis.ts'

const sendTo = async (answer: RequestListener, request: Parameters<typeof requestTo>[1] = {}) => {
  const api = await startApi(answer)
  return buildClient().send(requestTo(`http://api.test:${api.port}/`, request))
}
const encoded =
  (encoding: string | string[], body: Buffer): RequestListener =>
  (_, response) =>
    response.setHeader('content-encoding', encoding).end(body)

const TEXT = Buffer.from('naïve text '.repeat(2_000))
const ENCODINGS: readonly (readonly [encoding: string, encode: (body: Buffer) => Buffer])[] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['GZIP', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['deflate', zlib.deflateRawSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
  ['identity', body => body],
  ['gzip, identity', zlib.gzipSync],
]

describe('a response', () => {
  it('has its status, reason, headers in lower case, repeated ones as a list, and body', async () => {
    const answer = await sendTo((_, response) => {
      response.writeHead(404, 'Not Here', ['X-One', '1', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', '__proto__', 'p'])
      response.write('first ')
      setImmediate(() => response.end('second'))
    })
    expect(answer).toMatchObject({ status: 404, statusText: 'Not Here' })
    expect(answer.headers).toMatchObject({ 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] })
    expect(Object.getPrototypeOf(answer.headers)).toBe(Object.prototype)
    expect(answer.body.toString()).toBe('first second')
  })

  it('of many chunks is assembled in order', async () => {
    const body = Buffer.from(Array.from({ length: 500_000 }, (_, at) => at % 251))
    const answer = await sendTo((_, response) => response.end(body))
    expect(answer.body.equals(body)).toBe(true)
  })

  it.each([204, 304])('of status %i has an empty body', async status => {
    const answer = await sendTo((_, response) => response.writeHead(status).end())
    expect(answer).toMatchObject({ status, body: Buffer.alloc(0) })
  })

  it('after interim responses is the final one', async () => {
    const answer = await sendTo((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('real')
    })
    expect([answer.status, answer.body.toString()]).toEqual([200, 'real'])
  })

  it.each(ENCODINGS)('encoded as %s is decoded, small or large', async (encoding, encode) => {
    for (const body of [TEXT.subarray(0, 300), TEXT, Buffer.alloc(900_000, 'z')]) {
      const answer = await sendTo(encoded(encoding, encode(body)))
      expect(answer.body.equals(body)).toBe(true)
    }
  })

  it('to HEAD may have a length and an encoding of a body that is not sent', async () => {
    const answer = await sendTo(
      (_, response) => response.writeHead(200, { 'content-encoding': 'x', 'content-length': 2_000_000_000 }).end(),
      { method: 'HEAD' },
    )
    expect(answer).toMatchObject({ status: 200, body: Buffer.alloc(0) })
  })

  it.each([
    ['of a known length', (body: Buffer) => ({ 'content-length': body.length })],
    ['of an unknown length', () => ({})],
  ])('that is large and %s is complete', async (_, headersFor) => {
    const body = randomBytes(3_000_001)
    const answer = await sendTo((__, response) => response.writeHead(200, headersFor(body)).end(body))
    expect(body.equals(answer.body)).toBe(true)
  })

  it('without a body may have an encoding', async () => {
    expect((await sendTo(encoded('gzip', Buffer.alloc(0)))).body).toHaveLength(0)
  })
})

describe('a response whose encoding', () => {
  const BAD: readonly (readonly [what: string, encoding: string | string[], body: Buffer])[] = [
    ['is stacked', 'gzip, gzip', zlib.gzipSync(zlib.gzipSync('x'))],
    ['is stacked over two headers', ['gzip', 'br'], zlib.gzipSync('x')],
    ['is unknown', 'compress', Buffer.from('x')],
    ['is the name of an object property', '__proto__', Buffer.from('x')],
    ['is not what the body is', 'gzip', Buffer.from('no gzip')],
    ['is cut off', 'gzip', zlib.gzipSync(TEXT).subarray(0, 40)],
    ['is cut off, of a large body', 'br', zlib.brotliCompressSync(Buffer.alloc(900_000, 'z')).subarray(0, -4)],
  ]
  it.each(BAD)('rejects %s', async (_, encoding, body) => {
    const api = await startApi(encoded(encoding, body))
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`)))
    expect(error.fault).toBe('encoding')
  })
})

describe('a response larger than allowed', () => {
  const limits = { maxResponseBytes: 100_000 }
  const faultAnd = async (answer: RequestListener) => {
    const api = await startApi(answer)
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`, limits)))
    return { error, api }
  }

  const BODIES: readonly (readonly [what: string, answer: RequestListener])[] = [
    ['by its Content-Length', (_, response) => response.writeHead(200, { 'content-length': 100_001 }).flushHeaders()],
    ['without a Content-Length', (_, response) => response.write(Buffer.alloc(100_001))],
    ['after decompression, of little gzip', encoded('gzip', zlib.gzipSync(Buffer.alloc(100_001)))],
    ['after decompression, of more gzip', encoded('gzip', zlib.gzipSync(Buffer.alloc(50_000_000)))],
    ['after decompression, of brotli', encoded('br', zlib.brotliCompressSync(Buffer.alloc(20_000_000)))],
    ['after decompression, of zstd', encoded('zstd', zlib.zstdCompressSync(Buffer.alloc(20_000_000)))],
  ]
  it.each(BODIES)('%s fails with too_large and the limit', async (_, answer) => {
    const { error } = await faultAnd(answer)
    expect(error.fault).toBe('too_large')
    expect(error.message).toContain('larger than 100000 bytes; ask for less, or raise PATCHBAY_MAX_RESPONSE_BYTES')
  })

  it('without an end is cut off at the limit, and its connection is closed', async () => {
    let sentBytes = 0
    const { error, api } = await faultAnd((_, response) => {
      const more = (): void => {
        sentBytes += 65_536
        if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more))
      }
      more()
    })
    expect(error.fault).toBe('too_large')
    await expect.poll(() => api.open.size).toBe(0)
    expect(sentBytes).toBeLessThan(50_000_000)
  })

  it('may be exactly as large as the limit', async () => {
    const api = await startApi((_, response) => response.end(Buffer.alloc(100_000)))
    expect((await buildClient().send(requestTo(`http://api.test:${api.port}/`, limits))).body).toHaveLength(100_000)
    const packed = await startApi(encoded('gzip', zlib.gzipSync(Buffer.alloc(100_000))))
    expect((await buildClient().send(requestTo(`http://api.test:${packed.port}/`, limits))).body).toHaveLength(100_000)
  })

  it('in its headers fails with too_large', async () => {
    const api = await startRawApi(socket => socket.end(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(200_000)}\r\n\r\nhi`))
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`)))
    expect(error.fault).toBe('too_large')
    expect(error.message).toContain('response headers')
  })
})

it('a status that HTTP does not have fails a fetch with an error that names the host', async () => {
  const api = await startRawApi(socket => socket.end('HTTP/1.1 700 Odd\r\nContent-Length: 0\r\n\r\n'))
  const fetch = createBoundedFetch(buildClient(), {
    organizationId: undefined,
    timeoutMs: 2_000,
    maxResponseBytes: 100,
  })
  const { fault, message } = await faultOf(fetch(`http://api.test:${api.port}/`))
  expect([fault, message]).toEqual([
    'protocol',
    expect.stringMatching(/^api\.test:\d+ responded with 700, which is not/),
  ])
})
