import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { freePort } from '../support/free-port.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const Result = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})
const textOf = ({ content: [first] }: z.infer<typeof Result>): string => z.string().parse(first?.text)

const answers: Record<string, (response: import('node:http').ServerResponse) => void> = {
  '/json': response => answerJson(response, { hello: 'wörld' }),
  '/text': response =>
    response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from('caf\xe9', 'latin1')),
  '/gzip': response =>
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync('packed')),
  '/png': response => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
  '/wav': response => response.writeHead(200, { 'content-type': 'audio/wav' }).end(Buffer.from('RIFF')),
  '/bytes': response =>
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.from([0, 255])),
  '/empty-type': response => response.writeHead(200, { 'content-type': '' }).end('said to be nothing'),
  '/empty-type-bytes': response => response.writeHead(200, { 'content-type': '' }).end(Buffer.from([0, 255])),
  '/empty': response => response.writeHead(204).end(),
  '/missing': response => answerJson(response, { error: 'no such user' }, 404),
  '/busy': response => response.writeHead(503, { 'retry-after': '7' }).end('come back later'),
  '/long-error': response => response.writeHead(500, { 'content-type': 'text/plain' }).end('x'.repeat(10_000)),
  '/big': response => response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(300_000)),
  '/reset': response => response.socket?.resetAndDestroy(),
  '/hang': () => undefined,
  '/moved': response => response.writeHead(302, { location: '/json' }).end(),
  '/inward': response => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/loop': response => response.writeHead(302, { location: '/loop' }).end(),
  '/parts': response =>
    response
      .writeHead(200, { 'content-type': 'multipart/mixed; boundary=cut' })
      .end(
        Buffer.concat([
          Buffer.from('--cut\r\nContent-Type: text/plain\r\n\r\nnot yet\r\n--cut\r\nContent-Type: image/png\r\n\r\n'),
          PNG,
          Buffer.from('\r\n--cut\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n--cut--\r\n'),
        ]),
      ),
  '/wrong-shape': response => answerJson(response, { id: 'not a number' }),
  '/right-shape': response => answerJson(response, { id: 7 }),
}

describe('the result of a call', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_RESPONSE_BYTES: '200000' } })
  const fake = runFakeApi(({ url }, response) => (answers[url] ?? (r => answerJson(r, {}, 404)))(response))
  const builder = runUser(patchbay)

  const call = async (path: string, more: Record<string, unknown> = {}) => {
    const url = path.startsWith('http') ? path : `${fake.origin}${path}`
    const { instanceIds } = await makeServer(builder, [{ name: 'tool', method: 'GET', url, ...more }])
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    return Result.parse(body)
  }

  it.each([
    ['JSON', '/json', [{ type: 'text', text: '{"hello":"wörld"}' }]],
    ['text in its own charset', '/text', [{ type: 'text', text: 'café' }]],
    ['compressed text', '/gzip', [{ type: 'text', text: 'packed' }]],
    ['an image', '/png', [{ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') }]],
    ['audio', '/wav', [{ type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }]],
    ['other bytes', '/bytes', [{ type: 'resource', resource: { mimeType: 'application/octet-stream', blob: 'AP8=' } }]],
    ['text whose type is empty', '/empty-type', [{ type: 'text', text: 'said to be nothing' }]],
    [
      'bytes whose type is empty',
      '/empty-type-bytes',
      [{ type: 'resource', resource: { mimeType: 'application/octet-stream', blob: 'AP8=' } }],
    ],
    ['an answer behind a redirect', '/moved', [{ type: 'text', text: '{"hello":"wörld"}' }]],
    [
      'several parts',
      '/parts',
      [
        { type: 'text', text: 'not yet' },
        { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
        { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'JVBERg==' } },
      ],
    ],
    ['no body', '/empty', [{ type: 'text', text: expect.stringContaining('204') }]],
  ])('contains %s', async (_what, path, content) => {
    const result = await call(path)
    expect(result.isError).toBeUndefined()
    expect(result.content).toMatchObject(content)
  })

  it.each([
    ['status and body', '/missing', [/^HTTP 404 Not Found/, /no such user/]],
    ['Retry-After', '/busy', [/^HTTP 503/, /Retry-After: 7/, /come back later/]],
    ['which limit an answer is over', '/big', [/200000|200,000|195/, /PATCHBAY_MAX_RESPONSE_BYTES/]],
    ['that the connection was reset', '/reset', [/reset|closed/i]],
    ['where redirects went in circles', '/loop', [/redirect/i, /5/]],
    ['that a redirect led inward', '/inward', [/169\.254\.169\.254/]],
    ['a metadata address', 'http://169.254.169.254/latest', [/169\.254\.169\.254/]],
    ['a private address', 'http://10.0.0.1/', [/10\.0\.0\.1/, /PATCHBAY_ALLOW_PRIVATE_NETWORKS/]],
  ])('is an error that a model can read for %s', async (_what, path, patterns) => {
    const result = await call(path)
    expect(result.isError).toBe(true)
    for (const pattern of patterns) expect(textOf(result)).toMatch(pattern)
  })

  it('contains only the start of a long error', async () => {
    expect(textOf(await call('/long-error')).length).toBeLessThan(3_000)
  })

  it('states after what time a call timed out, and what to change', async () => {
    const result = await call('/hang', { timeoutMs: 150 })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/after \d+ ms/)
    expect(textOf(result)).toMatch(/timeoutMs/)
  })

  it.each(['127.0.0.1', 'localhost', 'localhost.', '[::1]'])(
    'is an error if the tool calls Patchbay itself as %s',
    async host => {
      const result = await call(`http://${host}:${patchbay.settings.port}/healthz`)
      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatch(/Patchbay itself/)
    },
  )

  it('states that the connection was refused', async () => {
    const port = await freePort()
    const result = await call(`http://127.0.0.1:${port}/`)
    expect(textOf(result)).toMatch(/refused/i)
  })

  it('states that the response was not HTTP', async () => {
    const server = createServer(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    const port = await freePort()
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    const result = await call(`http://127.0.0.1:${port}/`)
    server.close()
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/HTTP/)
  })

  const outputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }

  it('has structured content if the tool declares an output schema', async () => {
    const result = await call('/right-shape', { outputSchema })
    expect(result).toMatchObject({ structuredContent: { id: 7 }, content: [{ type: 'text', text: '{"id":7}' }] })
  })

  it('has no structured content but that which matches the declared schema', async () => {
    const result = await call('/wrong-shape', { outputSchema })
    expect(result).toMatchObject({ structuredContent: {}, content: [{ type: 'text', text: '{"id":"not a number"}' }] })
    expect(result.isError).toBeUndefined()
  })
})
