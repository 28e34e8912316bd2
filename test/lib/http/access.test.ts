import session from '@fastify/session'
import type { Session } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { actorOf } from '../../../src/lib/http/access.ts'
import { beginSession, endSession, SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../../src/lib/http/sessions.ts'
import { DAY_MS, HOUR_MS } from '../../../src/lib/kernel/durations.ts'
import { BASE_URL, buildHttpApp, type HttpAppOptions } from '../../support/http-app.ts'

const UNSAFE = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

const routes: FastifyPluginAsyncZod = async app => {
  app.post(
    '/sign-in',
    { config: { access: 'anyone' }, schema: { body: z.object({ userId: z.string() }) } },
    async (request, reply) => ({
      csrfToken: await beginSession(request, reply, request.body.userId),
    }),
  )
  app.post('/sign-out', { config: { access: 'user' } }, async (request, reply) => {
    await endSession(request, reply)
    return {}
  })
  app.route({
    method: ['GET', ...UNSAFE],
    url: '/user',
    config: { access: 'user' },
    handler: async request => actorOf(request).userId,
  })
  app.get('/mcp', { config: { access: 'user', scope: 'mcp' } }, async () => 'ok')
  app.get('/operator', { config: { access: 'operator' } }, async () => 'ok')
  app.get('/anyone', { config: { access: 'anyone' } }, async request => request.actor?.userId ?? 'nobody')
  app.get('/forgetful', { config: { access: 'anyone' } }, async request => actorOf(request).userId)
}

type Headers = Record<string, string>

const buildClient = async (options: HttpAppOptions = {}) => {
  const { app } = await buildHttpApp({ routes, ...options })
  const call = (method: 'GET' | (typeof UNSAFE)[number], path: string, headers: Headers = {}, payload?: object) =>
    app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { host: 'localhost:8080', ...headers },
      ...(payload && { payload }),
    })
  const signIn = async (headers: Headers = {}) => {
    const response = await call('POST', '/sign-in', headers, { userId: 'user' })
    const setCookie = String(response.headers['set-cookie'])
    return { setCookie, cookie: setCookie.split(';')[0] ?? '', csrfToken: z.string().parse(response.json().csrfToken) }
  }
  return { call, signIn }
}

describe('an API route', () => {
  it('without an access rule prevents the start, and is named', async () => {
    const undeclared: FastifyPluginAsyncZod = async app => {
      app.get('/undeclared', async () => 'open by mistake')
    }
    await expect(buildHttpApp({ routes: undeclared })).rejects.toThrow(/GET \/api\/v1\/undeclared .*access/)
  })

  it('for everyone that requires an actor returns 401, not 500', async () => {
    const { call } = await buildClient()
    expect((await call('GET', '/forgetful')).statusCode).toBe(401)
  })
})

describe('a request with', () => {
  it.each([
    ['no credentials', {}, '/user', 401, 'Bearer realm="Patchbay"'],
    [
      'an unknown token',
      { authorization: 'Bearer nobody:read' },
      '/user',
      401,
      'Bearer realm="Patchbay", error="invalid_token"',
    ],
    ['credentials of another kind', { authorization: 'Basic dXNlcjpyZWFk' }, '/user', 401, 'Bearer realm="Patchbay"'],
    ['an empty token', { authorization: 'Bearer ' }, '/user', 401, 'Bearer realm="Patchbay", error="invalid_token"'],
    [
      'a token that may not read',
      { authorization: 'Bearer user:write' },
      '/user',
      403,
      'Bearer realm="Patchbay", error="insufficient_scope", scope="read"',
    ],
    [
      'a token without the route’s scope',
      { authorization: 'Bearer user:read,write' },
      '/mcp',
      403,
      'Bearer realm="Patchbay", error="insufficient_scope", scope="mcp"',
    ],
  ])('%s is refused with the reason', async (_what, headers, path, status, challenge) => {
    const { call } = await buildClient()
    const response = await call('GET', path, headers)
    expect(response.statusCode).toBe(status)
    expect(response.headers['www-authenticate']).toBe(challenge)
  })

  it.each(UNSAFE)('a read-only token is refused for %s, naming the scope', async method => {
    const { call } = await buildClient()
    const response = await call(method, '/user', { authorization: 'Bearer user:read' })
    expect(response.statusCode).toBe(403)
    expect(response.json().detail).toContain('"write"')
  })

  it('a token needs no CSRF token and no cookie', async () => {
    const { call } = await buildClient()
    expect((await call('POST', '/user', { authorization: 'bearer user:write' })).body).toBe('user')
  })

  it('blanks around the token is accepted, but not with anything else after it', async () => {
    const { call } = await buildClient()
    const status = async (authorization: string) =>
      (await call('GET', '/user', { authorization })).headers['www-authenticate'] ?? 'let in'
    expect(await status('Bearer   user:read  ')).toBe('let in')
    expect(await status('Bearer')).toContain('invalid_token')
    expect(await status(`Bearer${' '.repeat(15_000)}a b`)).toBe('Bearer realm="Patchbay"')
    expect(await status('Bearers user:read')).toBe('Bearer realm="Patchbay"')
  })

  it("another user's token is refused for operator routes", async () => {
    const { call } = await buildClient()
    expect((await call('GET', '/operator', { authorization: 'Bearer user:read' })).statusCode).toBe(403)
    expect((await call('GET', '/operator', { authorization: 'Bearer operator:read' })).statusCode).toBe(200)
  })

  it('an invalid token is anonymous on public routes, even beside a valid session', async () => {
    const { call, signIn } = await buildClient()
    const { cookie } = await signIn()
    expect((await call('GET', '/anyone', { authorization: 'Bearer nobody:read', cookie })).body).toBe('nobody')
    expect((await call('GET', '/user', { authorization: 'Bearer nobody:read', cookie })).statusCode).toBe(401)
  })
})

describe('a session', () => {
  it('starts with a cookie that scripts cannot read and other sites do not send', async () => {
    const { signIn } = await buildClient()
    const { setCookie } = await signIn()
    expect(setCookie).toMatch(/^sid=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/)
  })

  it.each([[[]], [['127.0.0.1/32']]])(
    'behind https has a __Host- cookie that is Secure, proxies trusted: %j',
    async trustProxy => {
      const { call, signIn } = await buildClient({
        baseUrl: 'https://patchbay.example',
        listensOnLoopback: false,
        trustProxy,
      })
      const { setCookie, cookie, csrfToken } = await signIn({ 'x-forwarded-proto': 'https' })
      expect(setCookie).toMatch(/^__Host-sid=[^;]+; Path=\/; [^\n]*HttpOnly; SameSite=Lax; Secure$/)
      const response = await call('POST', '/sign-out', { cookie, 'x-csrf-token': csrfToken })
      expect(String(response.headers['set-cookie'])).toMatch(/^__Host-sid=; Max-Age=0; Path=\/; .*; Secure/)
    },
  )

  it.each(UNSAFE)('requires its CSRF token for %s', async method => {
    const { call, signIn } = await buildClient()
    const { cookie, csrfToken } = await signIn()
    const other = await signIn()
    expect((await call(method, '/user', { cookie })).statusCode).toBe(403)
    expect((await call(method, '/user', { cookie, 'x-csrf-token': 'x' })).statusCode).toBe(403)
    expect((await call(method, '/user', { cookie, 'x-csrf-token': other.csrfToken })).statusCode).toBe(403)
    expect((await call(method, '/user', { cookie }, { _csrf: csrfToken })).statusCode).toBe(403)
    expect((await call(method, '/user', { cookie, 'x-csrf-token': csrfToken })).body).toBe('user')
  })

  it('gets a new id at sign-in, and the previous one is invalid', async () => {
    const { call, signIn } = await buildClient()
    const before = await signIn()
    const after = await signIn({ cookie: before.cookie })
    expect(after.cookie).not.toBe(before.cookie)
    expect((await call('GET', '/user', { cookie: before.cookie })).statusCode).toBe(401)
    expect((await call('GET', '/user', { cookie: after.cookie })).body).toBe('user')
  })

  it('ends with sign-out, which deletes its cookie', async () => {
    const { call, signIn } = await buildClient()
    const { cookie, csrfToken } = await signIn()
    const response = await call('POST', '/sign-out', { cookie, 'x-csrf-token': csrfToken })
    expect(String(response.headers['set-cookie'])).toMatch(/^sid=; Max-Age=0; Path=\//)
    expect((await call('GET', '/user', { cookie })).statusCode).toBe(401)
  })

  it.each(['sid=forged', 'sid=forged.c2lnbmF0dXJl', 'sid=', 'sid=%E0%A4%A'])(
    'is none with a cookie we did not sign: %s',
    async cookie => {
      const { call } = await buildClient()
      expect((await call('GET', '/user', { cookie })).statusCode).toBe(401)
    },
  )
})

describe('a session in use', () => {
  /** Creates a signed-in client with an adjustable clock. `endsAt` is when the stored session ends. */
  const buildClock = async () => {
    const startedAt = Date.now()
    let now = startedAt
    const stored = new Map<string, Session>()
    const { call, signIn } = await buildClient({ sessions: { now: () => now, store: new session.MemoryStore(stored) } })
    const { cookie } = await signIn()
    const visitAt = async (time: number) => {
      now = time
      return call('GET', '/user', { cookie })
    }
    return { startedAt, visitAt, endsAt: () => [...stored.values()][0]?.endsAt }
  }

  it('ends about a day after its last use, without a write for every request', async () => {
    const { startedAt, visitAt, endsAt } = await buildClock()
    expect(endsAt()).toBe(startedAt + SESSION_IDLE_MS)
    expect((await visitAt(startedAt + 60_000)).headers).not.toHaveProperty('set-cookie')
    expect(endsAt()).toBe(startedAt + SESSION_IDLE_MS)
    expect((await visitAt(startedAt + HOUR_MS)).headers).toHaveProperty('set-cookie')
    expect(endsAt()).toBe(startedAt + HOUR_MS + SESSION_IDLE_MS)
  })

  it('ends after two weeks even if it is used', async () => {
    const { startedAt, visitAt, endsAt } = await buildClock()
    for (let day = 0.5; day < 14; day += 0.5) await visitAt(startedAt + day * DAY_MS)
    expect(endsAt()).toBe(startedAt + SESSION_ABSOLUTE_MS)
  })
})

describe('a request from a page', () => {
  const signedIn = async (options: HttpAppOptions, headers: Headers) => {
    const { call, signIn } = await buildClient(options)
    const { cookie, csrfToken } = await signIn()
    return (await call('POST', '/user', { cookie, 'x-csrf-token': csrfToken, ...headers })).statusCode
  }

  it.each<[string, Headers, number]>([
    ['of our own', { origin: BASE_URL, 'sec-fetch-site': 'same-origin' }, 200],
    ['of this machine under another of its names', { origin: 'http://127.0.0.1:8080' }, 200],
    ['of no origin, as programs send it', {}, 200],
    ['typed into the address bar', { 'sec-fetch-site': 'none' }, 200],
    ['of another port', { origin: 'http://localhost:8081' }, 403],
    ['of another scheme', { origin: 'https://localhost:8080' }, 403],
    ['of another site', { origin: 'https://evil.example' }, 403],
    ['in a sandbox', { origin: 'null' }, 403],
    ['of another site that hides its origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another host of our site', { 'sec-fetch-site': 'same-site' }, 403],
    ['that got here by another name for this machine', { host: 'evil.example:8080' }, 403],
    ['by one of its names with a port', { host: '[::1]:8080' }, 200],
  ])('%s', async (_where, headers, status) => {
    expect(await signedIn({}, headers)).toBe(status)
  })

  it('of an allowed origin may call, with any Host if Patchbay listens beyond loopback', async () => {
    const options = { allowedOrigins: ['https://app.example'], listensOnLoopback: false }
    expect(await signedIn(options, { origin: 'https://app.example', host: 'patchbay.internal' })).toBe(200)
  })

  it('of another origin may not even read', async () => {
    const { call } = await buildClient()
    const response = await call('GET', '/anyone', { origin: 'https://evil.example' })
    expect(response.statusCode).toBe(403)
    expect(response.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
