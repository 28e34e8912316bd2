import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Api, buildClient, faultOf, requestTo, startApi } from './apis.ts'

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string }

/** Starts an API that redirects `/r?status=…&to=…`, responds with 200 to everything else, and records all requests. */
const startRedirector = async (): Promise<Api & { seen: Seen[] }> => {
  const seen: Seen[] = []
  const api = await startApi((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      const { pathname, searchParams } = new URL(url, 'http://any.test')
      if (pathname === '/loop') response.writeHead(302, { location: '/loop' }).end()
      else if (pathname === '/silent') response.writeHead(302).end('no place')
      else if (pathname === '/two')
        response
          .writeHead(
            302,
            [
              ['location', '/a'],
              ['location', '/b'],
            ].flat(),
          )
          .end()
      else if (pathname === '/r') {
        const location = searchParams.get('to') ?? ''
        response.writeHead(Number(searchParams.get('status') ?? 302), { location }).end('moved')
      } else response.end('arrived')
    })
  })
  return Object.assign(api, { seen })
}

const SECRETS = [
  ['authorization', 'Bearer s'],
  ['X-Api-Key', 'k'],
  ['cookie', 'c=1'],
  ['accept-encoding', 'secret'],
  ['Accept', 'text/plain'],
  ['accept-language', 'eo'],
  ['user-agent', 'mine'],
] as const

describe('a redirect', () => {
  it('within the origin keeps every header, and the response has the final URL', async () => {
    const api = await startRedirector()
    const origin = `http://api.test:${api.port}`
    const answer = await buildClient().send(requestTo(`${origin}/r?to=/x?y=1`, { headers: SECRETS }))
    expect(answer.url).toBe(`${origin}/x?y=1`)
    expect(api.seen.at(-1)?.headers).toMatchObject(
      Object.fromEntries(SECRETS.map(([name, value]) => [name.toLowerCase(), value])),
    )
  })

  it("to another origin drops every configured header and sends the client's own", async () => {
    const api = await startRedirector()
    const other = await startRedirector()
    for (const target of [`http://other.test:${api.port}/x`, `http://api.test:${other.port}/x`]) {
      const url = `http://api.test:${api.port}/r?to=${encodeURIComponent(target)}`
      await buildClient().send(requestTo(url, { headers: SECRETS }))
    }
    for (const seen of [api.seen, other.seen]) {
      const { host, connection, ...sent } = seen.find(({ url }) => url === '/x')?.headers ?? {}
      expect(sent).toEqual({
        accept: '*/*',
        'user-agent': 'patchbay',
        'accept-encoding': 'gzip, br',
      })
    }
  })

  it('back to the first origin does not restore the headers', async () => {
    const api = await startRedirector()
    const home = `http://api.test:${api.port}`
    const away = `http://other.test:${api.port}/r?to=${encodeURIComponent(`${home}/x`)}`
    await buildClient().send(requestTo(`${home}/r?to=${encodeURIComponent(away)}`, { headers: SECRETS }))
    expect(api.seen.at(-1)?.url).toBe('/x')
    expect(api.seen.at(-1)?.headers.authorization).toBeUndefined()
  })

  const METHODS = [
    [301, 'GET', 'GET', ''],
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [303, 'HEAD', 'HEAD', ''],
    [301, 'PUT', 'PUT', 'body'],
    [302, 'DELETE', 'DELETE', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PATCH', 'PATCH', 'body'],
  ] as const
  it.each(METHODS)('%i of a %s is followed with a %s', async (status, method, next, nextBody) => {
    const api = await startRedirector()
    const body = ['GET', 'HEAD', 'DELETE'].includes(method) ? undefined : 'body'
    const headers = [['content-type', 'text/plain']] as const
    const url = `http://api.test:${api.port}/r?status=${status}&to=/x`
    await buildClient().send(requestTo(url, { method, headers, body }))
    expect(api.seen.at(-1)).toMatchObject({ method: next, url: '/x', body: nextBody })
    const isDropped = next === 'GET' && method !== 'GET'
    if (isDropped) expect(api.seen.at(-1)?.headers['content-type']).toBeUndefined()
  })

  it.each([307, 308])('%i of a request with a body to another origin is blocked', async status => {
    const api = await startRedirector()
    const to = encodeURIComponent(`http://other.test:${api.port}/x`)
    const request = requestTo(`http://api.test:${api.port}/r?status=${status}&to=${to}`, { method: 'POST', body: 'b' })
    const error = await faultOf(buildClient().send(request))
    expect(error.fault).toBe('blocked')
    expect(error.message).toContain('with a body to another origin')
    expect(api.seen).toHaveLength(1)
  })

  it('303 that drops the body may lead to another origin', async () => {
    const api = await startRedirector()
    const to = encodeURIComponent(`http://other.test:${api.port}/x`)
    const request = requestTo(`http://api.test:${api.port}/r?status=303&to=${to}`, { method: 'POST', body: 'b' })
    expect((await buildClient().send(request)).url).toBe(`http://other.test:${api.port}/x`)
  })

  it('in a loop ends after the allowed number', async () => {
    const api = await startRedirector()
    const error = await faultOf(buildClient({ maxRedirects: 3 }).send(requestTo(`http://api.test:${api.port}/loop`)))
    expect(error.fault).toBe('too_many_redirects')
    expect(error.message).toContain('after 3 redirects')
    expect(api.seen).toHaveLength(4)
  })

  it('is returned as the response if none are followed, or without a location', async () => {
    const api = await startRedirector()
    const unfollowed = await buildClient({ maxRedirects: 0 }).send(requestTo(`http://api.test:${api.port}/loop`))
    expect(unfollowed).toMatchObject({ status: 302, headers: { location: '/loop' } })
    const silent = await buildClient().send(requestTo(`http://api.test:${api.port}/silent`))
    expect(silent.body.toString()).toBe('no place')
    const other = await buildClient().send(requestTo(`http://api.test:${api.port}/r?status=300&to=/x`))
    expect(other.status).toBe(300)
  })

  const BAD = [
    '/two',
    '/r?to=http://a:b@api.test/',
    '/r?to=/a%20b',
    '/r?to=/a%5Cb',
    '/r?to=http://',
    '/r?to=mailto:a@b',
  ]
  it.each(BAD)('that cannot be followed safely is blocked: %s', async path => {
    const api = await startRedirector()
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}${path}`)))
    expect(error.fault).toBe('blocked')
    expect(error.message).toContain('sent a redirect that is not allowed')
    expect(api.seen).toHaveLength(1)
  })

  it('does not restart the timeout', async () => {
    const times: number[] = []
    const clock = [0, 0, 950, 1_000]
    const inProcess = new Map([
      [
        'http://inside.test',
        async ({ timeoutMs }: { timeoutMs: number }) => {
          times.push(timeoutMs)
          const location = times.length === 1 ? { location: '/next' } : {}
          return { status: 302, statusText: '', headers: location, body: Buffer.alloc(0), url: '' }
        },
      ],
    ])
    const client = buildClient({ inProcess, now: () => clock.shift() ?? 1_000 })
    await client.send(requestTo('http://inside.test/', { timeoutMs: 1_000 }))
    expect(times).toEqual([1_000, 50])
  })
})
