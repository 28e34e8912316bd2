import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failure, success } from '../../src/lib/kernel/result.ts'
import { authorize, FRIEND_TOKEN, makeServer, OWNER_TOKEN, startTestApp, type TestApp } from './support.ts'
import { errorCode, post, send, statelessRequest } from './wire.ts'

const open = makeServer()
const closed = makeServer({ tier: 'private' })
let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ servers: [open, closed], allowedOrigins: ['https://app.example.com'] })
})
afterAll(() => app.close())

const discover = statelessRequest('server/discover')
const ask = (target: TestApp, serverId: string, headers: Record<string, string | undefined> = {}) =>
  post(target, serverId, discover.body, { ...discover.headers, ...headers })

/** The challenge parameters that tell clients what to request (RFC 9728 §5.1). */
const metadata = `http://localhost:8080/.well-known/oauth-protected-resource/s/${closed.id}`
const asked = `resource_metadata="${metadata}", scope="mcp:read mcp:call"`

const ROUTES: [method: string, path: string][] = [
  ['POST', ''],
  ['GET', ''],
  ['DELETE', ''],
  ['GET', '/sse'],
  ['POST', '/messages?sessionId=x'],
]

describe.each(ROUTES)('%s /s/:uuid%s', (method, path) => {
  const at = (serverId: string, headers: Record<string, string | undefined> = {}) =>
    send(app, {
      method,
      path: `/s/${serverId}${path}`,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(method === 'POST' ? { body: discover.body } : {}),
    })

  it.each(['3b241101-e2bb-4255-8caf-4136c566a962', 'nothing', '..', '%2e%2e', 'x'.repeat(90)])(
    'of "%s", which is not a server: 404',
    async id => {
      expect((await at(id)).status).toBe(404)
    },
  )

  it('without a required token: 401 and a challenge without an error (RFC 6750 §3)', async () => {
    const response = await at(closed.id)
    expect([response.status, response.headers['www-authenticate']]).toEqual([401, `Bearer ${asked}`])
  })

  it.each(['Bearer pbk_unknown', 'bearer x', 'Bearer', 'Bearer  a b'])(
    'with the invalid token "%s": 401 and invalid_token',
    async authorization => {
      const response = await at(closed.id, { authorization })
      const challenge = `Bearer error="invalid_token", ${asked}`
      expect([response.status, response.headers['www-authenticate']]).toEqual([401, challenge])
    },
  )

  it('with credentials of another scheme: as without a token (RFC 6750 §3.1)', async () => {
    const response = await at(closed.id, { authorization: 'Basic YTpi' })
    expect([response.status, response.headers['www-authenticate']]).toEqual([401, `Bearer ${asked}`])
  })

  it('names the same document, however the id is spelled', async () => {
    const response = await at(closed.id.toUpperCase())
    expect([response.status, response.headers['www-authenticate']]).toEqual([401, `Bearer ${asked}`])
  })

  it('with another user’s token: 403', async () => {
    const response = await at(closed.id, { authorization: FRIEND_TOKEN })
    expect([response.status, errorCode(response)]).toEqual([403, -32000])
  })

  it.each(['https://evil.example', 'null', 'http://localhost', 'https://app.example.com.evil.example'])(
    'from a page of %s: 403 without CORS headers',
    async origin => {
      const response = await at(open.id, { origin })
      expect(response.status).toBe(403)
      expect(response.headers['access-control-allow-origin']).toBeUndefined()
    },
  )

  it.each(['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', '10.0.0.1'])(
    'under the Host %s, on loopback: 403 (DNS rebinding)',
    async host => {
      expect((await at(open.id, { host })).status).toBe(403)
    },
  )
})

describe('access', () => {
  it('is granted to the owner, and to everybody on a public server', async () => {
    expect((await ask(app, closed.id, { authorization: OWNER_TOKEN })).status).toBe(200)
    expect((await ask(app, open.id)).status).toBe(200)
    expect((await ask(app, open.id.toUpperCase())).status).toBe(200)
  })

  it('may be decided asynchronously, while the request waits', async () => {
    const waiting = await startTestApp({
      servers: [closed],
      authorize: async (policy, authorization) => authorize(policy, authorization),
    })
    expect((await ask(waiting, closed.id, { authorization: OWNER_TOKEN })).status).toBe(200)
    expect((await ask(waiting, closed.id)).status).toBe(401)
    await waiting.close()
  })

  it('is no problem if the client disconnects meanwhile', async () => {
    const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const waiting = await startTestApp({
      servers: [closed, open],
      authorize: async policy => {
        if (policy.tier === 'public') return success(undefined)
        asked.resolve()
        await decided.promise
        return failure('unauthenticated')
      },
    })
    const socket = connect(waiting.port, '127.0.0.1')
    socket.write(`POST /s/${closed.id} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{`)
    await asked.promise
    const gone = new Promise(resolve => waiting.app.server.on('connection', () => resolve(undefined)))
    socket.destroy()
    const next = ask(waiting, open.id)
    await gone
    decided.resolve()
    expect((await next).status).toBe(200)
    expect(waiting.faults).toEqual([])
    await waiting.close()
  })

  it('leaves no stream open if the client disconnects before it starts', async () => {
    const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isFirst = true
    const waiting = await startTestApp({
      servers: [open],
      authorize: async () => {
        if (isFirst) {
          isFirst = false
          asked.resolve()
          await decided.promise
        }
        return success(undefined)
      },
    })
    const accepted = new Promise<Socket>(resolve => waiting.app.server.once('connection', resolve))
    const socket = connect(waiting.port, '127.0.0.1')
    socket.write(`GET /s/${open.id}/sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`)
    const ours = await accepted
    const gone = new Promise<void>(resolve => ours.once('close', () => resolve()))
    await asked.promise
    socket.destroy()
    await gone
    decided.resolve()
    expect((await ask(waiting, open.id)).status).toBe(200)
    expect(waiting.registry.openStreams(open.id)).toBe(0)
    await waiting.close()
  })

  it('that cannot be decided results in 503 and a log entry', async () => {
    const broken = await startTestApp({
      servers: [closed],
      authorize: async () => Promise.reject(new Error('no database')),
    })
    const response = await ask(broken, closed.id)
    expect([response.status, errorCode(response)]).toEqual([503, -32603])
    expect(response.text).not.toContain('database')
    expect(broken.faults).toHaveLength(1)
    await broken.close()
  })

  it('is checked for every request', async () => {
    let isIn = true
    const changing = await startTestApp({
      servers: [closed],
      authorize: () => (isIn ? success({ userId: 'owner', tokenId: 't' }) : failure('unauthenticated')),
    })
    expect((await ask(changing, closed.id)).status).toBe(200)
    isIn = false
    expect((await ask(changing, closed.id)).status).toBe(401)
    await changing.close()
  })
})

describe('a page of an allowed origin', () => {
  it.each(['https://app.example.com', 'http://localhost:8080'])(
    'of %s can read responses and their headers',
    async origin => {
      const response = await ask(app, open.id, { origin })
      expect(response.status).toBe(200)
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers':
          'Mcp-Session-Id, MCP-Protocol-Version, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
        vary: 'Origin',
      })
      expect(response.headers['access-control-allow-credentials']).toBeUndefined()
    },
  )

  it('can read why it was refused, so that it can get a token', async () => {
    const response = await ask(app, closed.id, { origin: 'https://app.example.com' })
    expect(response.status).toBe(401)
    expect(response.headers).toMatchObject({ 'www-authenticate': `Bearer ${asked}`, vary: 'Origin' })
  })

  it.each(['', '/sse', '/messages'])('may send a preflight request to /s/:uuid%s', async path => {
    const headers = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, mcp-session-id, mcp-param-region',
    }
    const response = await send(app, { method: 'OPTIONS', path: `/s/${open.id}${path}`, headers })
    expect(response.status).toBe(204)
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, mcp-session-id, mcp-param-region',
      vary: 'Origin',
    })
  })

  it('learns nothing if it is of another origin', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const response = await send(app, { method: 'OPTIONS', path: `/s/${open.id}`, headers })
    expect(response.status).toBe(403)
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('a page of another origin', () => {
  const website = 'https://website.example'
  const ticked = makeServer({ allowAnyOrigin: true })
  const preflight = (target: TestApp, serverId: string, origin = website) =>
    send(target, {
      method: 'OPTIONS',
      path: `/s/${serverId}`,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, mcp-protocol-version',
      },
    })
  const statusesOf = async (target: TestApp, serverId: string, headers: Record<string, string>) => {
    const responses = [await ask(target, serverId, headers), await preflight(target, serverId, headers.origin)]
    return responses.map(response => [response.status, response.headers['access-control-allow-origin']])
  }
  let wide: TestApp
  beforeAll(async () => {
    const options = { baseUrl: 'https://patchbay.example.com', allowedOrigins: ['https://app.example.com'] }
    wide = await startTestApp({ ...options, servers: [open, closed, ticked], listensOnLoopback: false })
  })
  afterAll(() => wide.close())

  it.each([website, 'null'])('of %s may call a server that requires a token', async origin => {
    const headers = { origin, authorization: OWNER_TOKEN }
    expect(await statusesOf(wide, closed.id, headers)).toEqual([
      [200, '*'],
      [204, '*'],
    ])
  })

  it('may read why it was refused, and that there is no server, but never with credentials', async () => {
    const missing = '3b241101-e2bb-4255-8caf-4136c566a962'
    for (const [serverId, status] of [
      [closed.id, 401],
      [missing, 404],
    ] as const) {
      const response = await ask(wide, serverId, { origin: website })
      expect(response.status).toBe(status)
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers':
          'Mcp-Session-Id, MCP-Protocol-Version, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
      })
      expect(response.headers['access-control-allow-credentials']).toBeUndefined()
    }
    const metadata = `https://patchbay.example.com/.well-known/oauth-protected-resource/s/${closed.id}`
    const { headers } = await ask(wide, closed.id, { origin: website })
    expect(headers['www-authenticate']).toContain(`resource_metadata="${metadata}"`)
  })

  it('may call a public server only if its owner allows it, or the operator allows the origin', async () => {
    const allowed = 'https://app.example.com'
    const refused = [
      [403, undefined],
      [403, undefined],
    ]
    expect(await statusesOf(wide, open.id, { origin: website })).toEqual(refused)
    expect(await statusesOf(wide, open.id, { origin: website, authorization: OWNER_TOKEN })).toEqual(refused)
    expect(await statusesOf(wide, open.id, { origin: allowed })).toEqual([
      [200, allowed],
      [204, allowed],
    ])
    expect(await statusesOf(wide, ticked.id, { origin: website })).toEqual([
      [200, '*'],
      [204, '*'],
    ])
  })

  it('may call nothing on loopback unless it is MCP Inspector', async () => {
    const local = await startTestApp({ servers: [open, closed, ticked] })
    const authorization = OWNER_TOKEN
    for (const { id } of [open, closed, ticked]) {
      for (const origin of [website, 'http://localhost:6275']) {
        expect((await statusesOf(local, id, { origin, authorization })).map(([status]) => status)).toEqual([403, 403])
      }
      for (const origin of ['http://localhost:6274', 'http://127.0.0.1:6274']) {
        expect((await statusesOf(local, id, { origin, authorization })).map(([status]) => status)).toEqual([200, 204])
      }
    }
    await local.close()
  })
})

describe('a challenge', () => {
  it.each([
    ['127.0.0.1:8080', '', 'http://127.0.0.1:8080'],
    ['[::1]:8080', '', 'http://[::1]:8080'],
    ['127.0.0.1:9090', '', 'http://localhost:8080'],
    ['localhost:8080', '/', 'http://localhost:8080'],
    ['localhost:8080', '?list=7', 'http://localhost:8080'],
    ['LOCALHOST:8080', '/?list=7', 'http://localhost:8080'],
  ])('under the Host %s with "%s" after the id names that address', async (host, ending, origin) => {
    const { status, headers } = await send(app, {
      path: `/s/${closed.id}${ending}`,
      body: discover.body,
      headers: { ...discover.headers, 'content-type': 'application/json', host },
    })
    const metadata = `${origin}/.well-known/oauth-protected-resource/s/${closed.id}${ending}`
    expect([status, headers['www-authenticate']]).toEqual([401, expect.stringContaining(`"${metadata}"`)])
  })
})

describe('beyond loopback', () => {
  it('any Host is accepted, but still only known origins', async () => {
    const wide = await startTestApp({ servers: [open], listensOnLoopback: false })
    expect((await ask(wide, open.id, { host: 'mcp.example.com' })).status).toBe(200)
    expect((await ask(wide, open.id, { origin: 'https://evil.example' })).status).toBe(403)
    await wide.close()
  })
})

describe('unsupported methods', () => {
  it.each([
    ['PUT', '', 'GET, POST, DELETE'],
    ['PATCH', '', 'GET, POST, DELETE'],
    ['HEAD', '', 'GET, POST, DELETE'],
    ['POST', '/sse', 'GET'],
    ['GET', '/messages', 'POST'],
  ])('%s /s/:uuid%s: 405 with the allowed methods', async (method, path, allowed) => {
    const response = await send(app, { method, path: `/s/${open.id}${path}` })
    expect([response.status, response.headers.allow]).toEqual([405, allowed])
  })
})
