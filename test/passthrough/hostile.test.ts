import { createServer as createRawServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { freePort } from '../support/free-port.ts'
import { runPatchbay } from '../support/world.ts'
import { historyOf, listen, passTo, sendRaw, startUpstream, until } from './support.ts'

describe('a hostile client of a passthrough server', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_REQUEST_BYTES: '20000' } })
  let api: ApiClient
  beforeAll(async () => {
    api = await signUp(patchbay.origin)
  })

  const startBoth = async () => {
    const upstream = await startUpstream()
    return { upstream, server: await passTo(api, `http://127.0.0.1:${upstream.port}/base/mcp`) }
  }

  it.each([
    '/../admin',
    '/..',
    '/./x',
    '/a/%2e%2e/%2e%2e/admin',
    '/..%2fadmin',
    '/%2E%2e%5cadmin',
    '/a/..;x/admin',
    '/%252e%252e/admin',
    '/%25252e%25252e%25252fadmin',
    '/a\\..\\admin',
    '/x#/../y',
    `/${'%25'.repeat(50)}2e/..`,
  ])('cannot leave the path of the upstream: %s', async rest => {
    const { upstream, server } = await startBoth()
    const answer = await sendRaw(patchbay.origin, `GET ${server.path}${rest} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    expect(answer.status).toBe(400)
    expect(upstream.seen).toEqual([])
  })

  it.each([
    ['//evil.test/x', '/base/mcp//evil.test/x'],
    ['/http://evil.test/', '/base/mcp/http://evil.test/'],
    ['/@evil.test', '/base/mcp/@evil.test'],
    ['/a..b/.well-known/...', '/base/mcp/a..b/.well-known/...'],
    ['/a%2Fb%00%0d%0aX:1', '/base/mcp/a%2Fb%00%0d%0aX:1'],
    ['?url=../..&x=//', '/base/mcp?url=../..&x=//'],
  ])('may send unusual but harmless paths unchanged: %s', async (rest, url) => {
    const { upstream, server } = await startBoth()
    await sendRaw(patchbay.origin, `GET ${server.path}${rest} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    expect(upstream.seen.map(one => one.url)).toEqual([url])
  })

  it('reaches only the upstream, whatever host it names', async () => {
    const { upstream, server } = await startBoth()
    const answer = await sendRaw(
      patchbay.origin,
      `GET http://evil.test${server.path}/x HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    )
    expect(answer.status).toBe(200)
    expect(upstream.seen).toMatchObject([{ url: '/base/mcp/x', headers: { host: `127.0.0.1:${upstream.port}` } }])
  })

  it.each([
    [
      'both a length and chunks',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
    ['two lengths', 'Content-Length: 0\r\nContent-Length: 30\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['chunks that are none', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['chunks within another coding', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunks with a bad size', 'Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n'],
    ['a line break in a header', 'X-A: a\rX-B: b\r\nContent-Length: 0\r\n\r\n'],
    ['headers without end', `X-Big: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('cannot smuggle a request with %s', async (_name, rest) => {
    const { upstream, server } = await startBoth()
    const answer = await sendRaw(
      patchbay.origin,
      `POST ${server.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${rest}`,
    )
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(upstream.seen.map(({ url }) => url)).not.toContain('/smuggled')
    expect(upstream.seen.length).toBeLessThanOrEqual(1)
    // The next request on that connection is not affected.
    await fetch(server.url, { method: 'POST', body: 'next' })
    expect(upstream.seen.at(-1)).toMatchObject({ url: '/base/mcp', body: 'next' })
  })

  it.each(['GET', 'DELETE', 'OPTIONS', 'POST'])('cannot hide a second request in the chunks of a %s', async method => {
    const { upstream, server } = await startBoth()
    const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    const chunks = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
    const head = `${method} ${server.path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect((await sendRaw(patchbay.origin, `${head}${chunks}`)).status).toBe(200)
    await fetch(server.url, { method: 'POST', body: 'next' })
    expect(upstream.seen.map(({ url, body }) => [url, body])).toEqual([
      ['/base/mcp', hidden],
      ['/base/mcp', 'next'],
    ])
  })

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PROPFIND', 'POST'])(
    'cannot hide a second request by calling the length of a %s one of the connection',
    async method => {
      const { upstream, server } = await startBoth()
      const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
      const length = `Connection: content-length, transfer-encoding, host, close\r\nContent-Length: ${hidden.length}`
      const head = `${method} ${server.path} HTTP/1.1\r\nHost: localhost\r\n${length}\r\n\r\n`
      expect((await sendRaw(patchbay.origin, `${head}${hidden}`)).status).toBe(200)
      await fetch(server.url, { method: 'POST', body: 'next' })
      expect(upstream.seen.map(({ url, body }) => [url, body])).toEqual([
        ['/base/mcp', hidden],
        ['/base/mcp', 'next'],
      ])
    },
  )

  it.each(['TRACE', 'TRACK', 'CONNECT'])('cannot use %s to see what is sent to the upstream', async method => {
    const { upstream, server } = await startBoth()
    await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, { headers: { 'X-Key': 'sesame' } })
    const head = `${method} ${server.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const answer = await sendRaw(patchbay.origin, head)
    expect([0, 400, 405, 501]).toContain(answer.status)
    expect(upstream.seen).toEqual([])
  })

  it('cannot exceed the maximum request size, declared or sent', async () => {
    const { upstream, server } = await startBoth()
    const head = `POST ${server.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`
    const said = await sendRaw(patchbay.origin, `${head}Content-Length: 20001\r\n\r\n`)
    expect(said.status).toBe(413)
    expect(said.body).toContain('PATCHBAY_MAX_REQUEST_BYTES')
    expect(upstream.seen).toEqual([])
    const chunk = `2000\r\n${'x'.repeat(8_192)}\r\n`
    const sent = await sendRaw(patchbay.origin, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}0\r\n\r\n`)
    expect(sent.status).toBe(413)
    const whole = await sendRaw(patchbay.origin, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`)
    expect(whole.status).toBe(200)
  })

  it('cannot create a request loop', async () => {
    const { upstream, server } = await startBoth()
    const answer = await fetch(server.url, { headers: { via: Array(6).fill('1.1 patchbay').join(', ') } })
    expect(answer.status).toBe(508)
    expect(upstream.seen).toEqual([])
    await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, { url: `${server.url}` })
    const own = await fetch(server.url)
    expect(own.status).toBe(503)
    expect(await own.text()).toContain('is Patchbay itself')
  })
})

describe('a hostile upstream of a passthrough server', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1' } })
  let api: ApiClient
  beforeAll(async () => {
    api = await signUp(patchbay.origin)
  })

  const behaving = async (behave: (socket: Socket) => void, upstream: object = {}) => {
    const { port } = await listen(createRawServer(socket => socket.once('data', () => behave(socket))))
    return passTo(api, `http://127.0.0.1:${port}/mcp`, { upstream })
  }

  it.each([
    ['answers no HTTP', 502, (socket: Socket) => socket.end('SSH-2.0-OpenSSH\r\n')],
    ['closes at once', 502, (socket: Socket) => socket.end()],
    ['resets', 502, (socket: Socket) => socket.resetAndDestroy()],
    [
      'sends headers without end',
      502,
      (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`),
    ],
    [
      'sends both a length and chunks',
      502,
      (socket: Socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    ],
    [
      'changes the protocol unasked',
      502,
      (socket: Socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
  ] as const)('that %s results in a %i', async (_name, status, behave) => {
    const server = await behaving(behave)
    const answer = await fetch(server.url, { method: 'POST', body: 'x' })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { message: expect.stringContaining('The MCP server') },
    })
    expect((await historyOf(api, server.id))[0]).toMatchObject({ outcome: 'error', status: null })
  })

  describe('over HTTP+SSE', () => {
    /** Returns the endpoint event that the client receives when the upstream sends `said`. */
    const endpointOf = async (said: string) => {
      const event = `event: endpoint\ndata: ${said}\n\n`
      const { port } = await listen(
        createRawServer(socket =>
          socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${event}`)),
        ),
      )
      const server = await passTo(api, `http://127.0.0.1:${port}/a/sse`, { upstream: { transport: 'sse' } })
      await api.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: 'sesame', secret: true })
      await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, {
        url: `http://127.0.0.1:${port}/a/sse?v=1&key={{key}}`,
      })
      const text = await fetch(server.url)
        .then(answer => answer.text())
        .catch(() => '')
      return { text, path: server.path }
    }

    it('that repeats its configured query in the address for messages does not reveal it', async () => {
      const { text, path } = await endpointOf('/a/messages?session=2&key=sesame&v=1')
      expect(text).toBe(`event: endpoint\ndata: ${path}/messages?session=2\n\n`)
    })

    it.each([
      '/a/messages/sesame',
      '/a/messages?k=%22sesame%22',
      'https://evil.test/a/messages',
      '//evil.test/a',
      '/b',
    ])('that names %s as the address for messages gets its stream ended', async said => {
      expect((await endpointOf(said)).text).toBe('')
    })
  })

  it('that never responds is abandoned after the timeout', async () => {
    const server = await behaving(() => {}, { timeoutMs: 200 })
    const answer = await fetch(server.url, { method: 'POST', body: 'x' })
    expect(answer.status).toBe(504)
    expect(await answer.text()).toContain('did not start to respond within 200 ms')
  })

  it('at a forbidden address is not reached, by address or by name', async () => {
    const port = await freePort()
    for (const host of ['127.0.0.2', '169.254.169.254', '[::1]']) {
      const server = await passTo(api, `http://${host}:${port}/mcp`)
      const answer = await fetch(server.url)
      expect([host, answer.status]).toEqual([host, 503])
      expect(await answer.text()).toContain('PATCHBAY_ALLOW_PRIVATE_NETWORKS')
    }
  })

  it('that is unreachable is reported, and used again once it is reachable', async () => {
    const port = await freePort()
    const server = await passTo(api, `http://127.0.0.1:${port}/mcp`)
    const answer = await fetch(server.url, { method: 'POST', body: 'x' })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.text()).toContain('refused the connection')
    const { body } = await api.expectOk('GET', `/upstreams/${server.upstreamId}`)
    expect(body).toMatchObject({ state: { kind: 'failed', why: expect.stringContaining('refused the connection') } })
    const { createServer } = await import('node:http')
    await listen(
      createServer((_request, response) => response.end('back')),
      port,
    )
    await until(async () => expect((await fetch(server.url)).status).toBe(200))
    expect((await api.expectOk('GET', `/upstreams/${server.upstreamId}`)).body).toMatchObject({
      state: { kind: 'connected' },
    })
  })
})
