import { afterEach, describe, expect, it, vi } from 'vitest'
import { buildClient, faultOf, requestTo, startApi } from './apis.ts'

/** Starts an API that responds with what it received. */
const startEcho = () =>
  startApi((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, rawHeaders } = request
      response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(chunks).toString() }))
    })
  })

type Headers = readonly (readonly [string, string])[]

describe('a request', () => {
  it('is sent as given: method, path and query, headers in order, body', async () => {
    const api = await startEcho()
    const headers: Headers = [
      ['X-One', '1'],
      ['x-two', 'zwölf'],
      ['X-One', 'again'],
      ['User-Agent', 'mine'],
      ['Accept', 'application/json'],
      ['Accept-Encoding', 'identity'],
    ]
    const request = requestTo(`http://api.test:${api.port}/a%2Fb;c?d=e&f`, { method: 'PUT', headers, body: 'näh' })
    const answer = await buildClient().send(request)
    expect(JSON.parse(answer.body.toString())).toEqual({
      method: 'PUT',
      url: '/a%2Fb;c?d=e&f',
      rawHeaders: [
        'host',
        `api.test:${api.port}`,
        'connection',
        'keep-alive',
        ...headers.flat(),
        'content-length',
        '4',
      ],
      body: 'näh',
    })
  })

  it('has Accept, Accept-Encoding and User-Agent unless they are set', async () => {
    const api = await startEcho()
    const answer = await buildClient().send(requestTo(`http://api.test:${api.port}/`))
    expect(JSON.parse(answer.body.toString()).rawHeaders.slice(4)).toEqual([
      ...['user-agent', 'patchbay', 'accept', '*/*', 'accept-encoding', 'gzip, br'],
    ])
  })

  const FORBIDDEN = [
    'Host',
    'connection',
    'Keep-Alive',
    'TE',
    'trailer',
    'Transfer-Encoding',
    'upgrade',
    'Content-Length',
  ]
  it.each([...FORBIDDEN, 'Expect', 'Proxy-Authorization', 'proxy-anything', 'Sec-Fetch-Site', 'http2-settings'])(
    'with the header %s is refused before a connection',
    async name => {
      const api = await startEcho()
      const error = await faultOf(
        buildClient().send(requestTo(`http://api.test:${api.port}/`, { headers: [[name, '1']] })),
      )
      expect([error.fault, error.message]).toEqual([
        'invalid_request',
        expect.stringContaining(`the header ${name} cannot be set`),
      ])
      expect(api.connections).toBe(0)
    },
  )

  const INVALID: readonly (readonly [what: string, request: Parameters<typeof requestTo>[1]])[] = [
    ['a line break in a value', { headers: [['x-a', 'a\r\nHost: evil']] }],
    ['a line feed in a value', { headers: [['x-a', 'a\nb']] }],
    ['a NUL in a value', { headers: [['x-a', 'a\0']] }],
    ['a value beyond Latin-1', { headers: [['x-a', 'snow☃']] }],
    ['a line break in a name', { headers: [['x-a\r\nb', '1']] }],
    ['a blank in a name', { headers: [['x a', '1']] }],
    ['an empty name', { headers: [['', '1']] }],
    ['a method that is no token', { method: 'GET /x HTTP/1.1\r\nx:' }],
    ['the method CONNECT', { method: 'CONNECT' }],
  ]
  it.each(INVALID)('with %s is refused before a connection', async (_, request) => {
    const api = await startEcho()
    const client = buildClient()
    expect((await faultOf(client.send(requestTo(`http://api.test:${api.port}/`, request)))).fault).toBe(
      'invalid_request',
    )
    expect(api.connections).toBe(0)
    expect((await client.send(requestTo(`http://api.test:${api.port}/`))).status).toBe(200)
  })

  it('that cannot be written leaves its only connection to others', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient({ maxSockets: 1 })
    const url = `http://api.test:${api.port}/`
    for (let count = 0; count < 3; count++) {
      expect((await faultOf(client.send(requestTo(url, { headers: [['x-a', 'a\nb']] })))).fault).toBe('invalid_request')
    }
    expect((await client.send(requestTo(url))).status).toBe(200)
  })

  it('that cannot be written does not close a connection', async () => {
    const api = await startEcho()
    const client = buildClient()
    const url = `http://api.test:${api.port}/`
    await client.send(requestTo(url))
    await faultOf(client.send(requestTo(url, { headers: [['x-a', 'a\nb']] })))
    await client.send(requestTo(url))
    expect(api.connections).toBe(1)
  })
})

describe('proxies named by the environment', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it('are not used', async () => {
    const api = await startEcho()
    const proxy = await startApi((_, response) => response.end('proxied'))
    for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    await buildClient().send(requestTo(`http://api.test:${api.port}/`))
    expect([api.connections, proxy.connections]).toEqual([1, 0])
  })
})
