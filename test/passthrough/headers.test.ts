import { describe, expect, it } from 'vitest'
import { runPatchbay, runUser } from '../support/world.ts'
import { historyOf, passTo, sendRaw, startUpstream } from './support.ts'

describe('headers through a passthrough server', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  it('do not include the caller’s token, cookies or hop-by-hop headers', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const answer = await sendRaw(
      patchbay.origin,
      [
        `POST ${server.path} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${api.token}`,
        'Cookie: session=secret',
        'Connection: keep-alive, X-Hop, X-Other',
        'Keep-Alive: timeout=9',
        'X-Hop: 1',
        'X-Other: 2',
        'TE: trailers',
        'Proxy-Authorization: Basic c2VjcmV0',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        'X-Forwarded-For: 6.6.6.6',
        'X-Forwarded-Host: evil.test',
        'Forwarded: for=6.6.6.6',
        'X-Real-IP: 6.6.6.6',
        'Mcp-Session-Id: abc',
        'X-Kept: yes',
        'Content-Length: 2',
        '',
        'hi',
      ].join('\r\n'),
    )
    expect(answer.status).toBe(200)
    const [{ headers, body } = { headers: {}, body: '' }] = upstream.seen
    expect(body).toBe('hi')
    const port = new URL(patchbay.origin).port
    expect(headers).toEqual({
      host: `127.0.0.1:${upstream.port}`,
      connection: 'keep-alive',
      'content-length': '2',
      'mcp-session-id': 'abc',
      'x-kept': 'yes',
      via: '1.1 patchbay',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': `localhost:${port}`,
      'x-forwarded-port': port,
      'x-forwarded-prefix': server.path,
    })
  })

  it('include the configured headers, with globals and secrets, in place of the caller’s', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    await api.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: 'sesame-open', secret: true })
    await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, {
      headers: { Authorization: 'Bearer {{key}}', 'X-Team': 'blue' },
    })
    await fetch(server.url, { headers: { authorization: 'Bearer mine', 'x-team': 'red' } })
    expect(upstream.seen[0]?.headers).toMatchObject({ authorization: 'Bearer sesame-open', 'x-team': 'blue' })
    await api.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: 'sesame-close', secret: true })
    await fetch(server.url)
    expect(upstream.seen[1]?.headers.authorization).toBe('Bearer sesame-close')
  })

  it('come back without those that would affect our whole origin', async () => {
    const upstream = await startUpstream(response => {
      response.writeHead(418, 'Teapot', [
        ...['Content-Type', 'text/html', 'X-Own', 'a', 'X-Own', 'b', 'Set-Cookie', 'patchbay=stolen; Path=/'],
        ...['WWW-Authenticate', 'Bearer resource_metadata="https://evil.test"', 'Clear-Site-Data', '"*"'],
        ...['Strict-Transport-Security', 'max-age=1', 'Access-Control-Allow-Origin', '*', 'Connection', 'X-Hop'],
        ...['X-Hop', '1', 'Refresh', '0; url=https://evil.test'],
      ])
      response.end('<script>alert(1)</script>')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const answer = await fetch(server.url)
    expect(answer.status).toBe(418)
    expect(answer.statusText).toBe('Teapot')
    expect(await answer.text()).toBe('<script>alert(1)</script>')
    const names = [...answer.headers.keys()].filter(name => !['date', 'connection', 'keep-alive'].includes(name))
    expect(names.sort()).toEqual([
      'content-security-policy',
      'content-type',
      'transfer-encoding',
      'x-content-type-options',
      'x-own',
      'x-request-id',
    ])
    expect(answer.headers.get('x-own')).toBe('a, b')
    // A page from an upstream must not run anything on the dashboard's origin.
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  })

  it('do not let a caller forge its identity, or another path or host', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, {
      upstream: { headers: { 'X-Api-Key': 'ours' } },
    })
    const forged = [
      ...['X-Original-URL', 'X-Rewrite-URL', 'X-Original-Host', 'X-Host', 'X-HTTP-Host-Override', 'Proxy'],
      ...[
        'True-Client-IP',
        'CF-Connecting-IP',
        'X-Client-IP',
        'X_Forwarded_For',
        'Transfer_Encoding',
        'Content_Length',
        'X_Real_IP',
        'X_Api_Key',
        'X-Api_Key',
      ],
    ]
    const lines = [
      `GET ${server.path} HTTP/1.1`,
      'Host: localhost',
      ...forged.map(name => `${name}: /forged`),
      'X_Own: 1',
    ]
    expect((await sendRaw(patchbay.origin, [...lines, '', ''].join('\r\n'))).status).toBe(200)
    const { headers = {} } = upstream.seen[0] ?? {}
    expect(JSON.stringify(headers)).not.toContain('forged')
    expect(headers).toMatchObject({ 'x-api-key': 'ours', x_own: '1' })
  })

  it('do not bring back instructions for our proxies, or for browsers about our origin', async () => {
    const orders = [
      ...['X-Accel-Redirect', 'X-Accel-Expires', 'X-Sendfile', 'X-LiteSpeed-Location', 'X-Lighttpd-Send-File'],
      ...['X-Reproxy-URL', 'Surrogate-Control', 'CDN-Cache-Control', 'Cloudflare-CDN-Cache-Control'],
      ...[
        'Speculation-Rules',
        'Set-Login',
        'Use-As-Dictionary',
        'Accept-CH',
        'Origin-Trial',
        'Secure-Session-Registration',
      ],
    ]
    const upstream = await startUpstream(response => {
      response.writeHead(200, [...orders.flatMap(name => [name, 'obey']), 'X-Accel-Buffering', 'no'])
      response.end('x')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const answer = await fetch(server.url)
    expect(JSON.stringify([...answer.headers])).not.toContain('obey')
    // Makes proxies such as nginx stream the response instead of buffering it.
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
  })

  it.each([
    [['public, max-age=60, s-maxage=600'], 'private, max-age=60'],
    [['PUBLIC', 'max-age=1, S-MaxAge = "9"'], 'private, max-age=1'],
    [['no-store'], 'private, no-store'],
    [[], 'private'],
  ])('forbid shared caches to store a response to a request with a token: %j', async (said, comes) => {
    const upstream = await startUpstream(response => {
      response.writeHead(
        200,
        said.flatMap(value => ['Cache-Control', value]),
      )
      response.end('x')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const answer = await fetch(server.url, { headers: { authorization: `Bearer ${api.token}` } })
    expect(answer.headers.get('cache-control')).toBe(comes)
    await api.expectOk('PATCH', `/servers/${server.id}`, { access: 'public' })
    expect((await fetch(server.url)).headers.get('cache-control')).toBe(said.length === 0 ? null : said.join(', '))
  })

  it.each([
    ['script', 403],
    ['serviceworker', 403],
    ['style', 403],
    ['document', 200],
    ['empty', 200],
  ])('with the destination %s are answered with %i', async (destination, status) => {
    const upstream = await startUpstream(response => {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end('alert(1)')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const head = `GET ${server.path}/x.js HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Dest: ${destination}`
    expect((await sendRaw(patchbay.origin, `${head}\r\n\r\n`)).status).toBe(status)
    expect(upstream.seen.length).toBe(status === 200 ? 1 : 0)
  })

  it('turn a 401 of the upstream into a 502 that says so', async () => {
    const upstream = await startUpstream(response => {
      response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://evil.test/meta"' })
      response.end('who are you?')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const answer = await fetch(server.url, { method: 'POST', body: 'x' })
    expect(answer.status).toBe(502)
    expect(answer.headers.has('www-authenticate')).toBe(false)
    expect(await answer.json()).toMatchObject({
      error: { message: 'The MCP server responded with 401: it rejects the configured credentials' },
    })
    expect(await historyOf(api, server.id)).toMatchObject([{ outcome: 'error', status: 401 }])
  })

  describe('a redirect', () => {
    const follow = async (location: string, status = 302, headers: Record<string, string> = {}) => {
      const upstream = await startUpstream((response, { url }) => {
        response.writeHead(status, { location: location.replaceAll('PORT', url === '' ? '' : String(upstream.port)) })
        response.end()
      })
      const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp?key=own`)
      const answer = await fetch(`${server.url}/dir/x`, { redirect: 'manual', headers })
      const text = await answer.text()
      const ours = answer.headers.get('location')?.replace(server.path, '/OURS')
      const [{ error } = {}] = await historyOf(api, server.id)
      return { status: answer.status, location: ours, text, error, headers: answer.headers }
    }

    it.each([
      ['/mcp/dir/y?a=1', '/OURS/dir/y?a=1'],
      ['http://127.0.0.1:PORT/mcp/z#part', '/OURS/z#part'],
      ['/mcp?key=own', '/OURS'],
      ['/mcp/a?key=own&b=2', '/OURS/a?b=2'],
      ['y', '/OURS/dir/y'],
      ['https://elsewhere.test/file', 'https://elsewhere.test/file'],
    ])('to %s leads to %s', async (location, ours) => {
      expect(await follow(location)).toMatchObject({ status: 302, location: ours })
    })

    it.each([
      ['/admin', 302, {}],
      ['/mcp/../admin', 302, {}],
      ['/mcpx', 302, {}],
      ['http://127.0.0.1:PORT/', 308, {}],
      ['https://elsewhere.test/file', 307, {}],
      ['https://elsewhere.test/file', 302, { authorization: 'Bearer of-somebody' }],
      ['javascript:alert(1)', 302, {}],
    ] as const)('to %s (%i) is refused if it would leak data', async (location, status, headers) => {
      const answer = await follow(location, status, headers)
      expect(answer).toMatchObject({ status: 502, location: undefined })
      expect(answer.text).toContain('The MCP server redirected')
    })

    describe('for a browser', () => {
      const BROWSER = { accept: 'application/xhtml+xml,text/html;q=0.9,*/*;q=0.8' }

      it.each([
        ['/mcp/dir/y?a=1', '/OURS/dir/y?a=1'],
        ['http://127.0.0.1:PORT/mcp/z#part', '/OURS/z#part'],
        ['//127.0.0.1:PORT/mcp//elsewhere.test/', '/OURS//elsewhere.test/'],
        ['y', '/OURS/dir/y'],
      ])('to %s leads to %s, confined', async (location, ours) => {
        const answer = await follow(location, 302, BROWSER)
        expect(answer).toMatchObject({ status: 302, location: ours })
        expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox;/)
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      })

      it.each([
        ['https://elsewhere.test/file', 302],
        ['https://elsewhere.test/file', 300],
        ['https://elsewhere.test/file', 303],
        ['//elsewhere.test/mcp', 301],
        ['https:/\\elsewhere.test', 302],
        ['http://127.0.0.1:PORT@elsewhere.test/mcp/', 302],
        ['/admin', 302],
        ['javascript:alert(1)', 302],
      ])('to %s (%i) is refused with a problem document', async (location, status) => {
        const answer = await follow(location, status, BROWSER)
        expect(answer).toMatchObject({ status: 502, location: undefined })
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox;/)
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
        const detail = expect.stringContaining('The MCP server redirected')
        expect(JSON.parse(answer.text)).toEqual({
          type: 'about:blank',
          requestId: expect.any(String),
          title: 'Bad Gateway',
          status: 502,
          detail,
        })
        expect(answer.error).toEqual(detail)
      })

      it('leads elsewhere if the client rejects HTML', async () => {
        const answer = await follow('https://elsewhere.test/file', 302, { accept: 'text/html;q=0, */*' })
        expect(answer).toMatchObject({ status: 302, location: 'https://elsewhere.test/file' })
      })
    })

    it('with a secret is refused', async () => {
      const upstream = await startUpstream((response, { headers }) => {
        response.writeHead(302, { location: `https://elsewhere.test/?k=${headers['x-key']}` })
        response.end()
      })
      const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
      await api.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: 'sesame-open', secret: true })
      await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, { headers: { 'X-Key': '{{key}}' } })
      const answer = await fetch(server.url, { redirect: 'manual' })
      expect(answer.status).toBe(502)
      expect(await answer.text()).not.toContain('sesame')
    })
  })
})
