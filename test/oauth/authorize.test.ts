import { randomUUID } from 'node:crypto'
import { request as sendRaw } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import {
  answerConsent,
  authorizeUrl,
  connect,
  exchange,
  makeRequest,
  obtainCode,
  openConsent,
  readCallback,
  registerClient,
  tokensOf,
} from './support/client.ts'
import { createVisitor } from './support/visitor.ts'
import { runOAuthWorld } from './support/world.ts'

let clientId: string
const world = runOAuthWorld()
beforeAll(async () => {
  clientId = (await registerClient(world.origin)).client_id
})

const ask = (changes: Record<string, string | undefined>) =>
  openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl, changes))

describe('an authorization request with an error for the client', () => {
  it.each([
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a challenge and no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['for a server that is not there', { resource: () => `${world.origin}/s/${randomUUID()}` }, 'invalid_target'],
    ['for the whole installation', { resource: () => world.origin }, 'invalid_target'],
    ['for a server with a query', { resource: () => `${world.serverUrl}?a=b` }, 'invalid_target'],
    ['for a server with a list that is no number', { resource: () => `${world.serverUrl}?list=x` }, 'invalid_target'],
    [
      'for this machine at another port',
      { resource: () => world.serverUrl.replace(/\d+(?=\/s)/, '1') },
      'invalid_target',
    ],
    ['for a server with a fragment', { resource: () => `${world.serverUrl}#a` }, 'invalid_target'],
    ['for a server with a user', { resource: () => world.serverUrl.replace('//', '//u@') }, 'invalid_target'],
    ['for a path below a server', { resource: () => `${world.serverUrl}/messages` }, 'invalid_target'],
    ['for a server of another origin', { resource: () => `https://evil.example/s/${randomUUID()}` }, 'invalid_target'],
    ['for what is no URL', { resource: 'server' }, 'invalid_target'],
    ['to be answered by a form with a script', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['for a scope that nobody knows', { scope: 'admin' }, 'invalid_scope'],
    ['with a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  ] as const)('%s', async (_title, changes, error) => {
    const sent = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    )
    const callback = readCallback(await ask({ state: 'kept', ...sent }))
    expect(callback.get('code')).toBeNull()
    expect(callback.get('error')).toBe(error)
    expect(callback.get('iss')).toBe(world.origin)
    expect(callback.get('state')).toBe('kept')
  })

  it.each(['token', 'code id_token', 'none'])('is rejected for the response type %s', async response_type => {
    const page = await ask({ response_type })
    const location = new URL(page.headers.get('location') ?? '')
    const answer = new URLSearchParams(response_type === 'none' ? location.search : location.hash.slice(1))
    expect(answer.get('error')).toBe('unsupported_response_type')
  })

  it('is rejected for two resources at once', async () => {
    const url = `${authorizeUrl(world.origin, makeRequest(clientId, world.serverUrl))}&resource=${await world.makeServer()}`
    expect(readCallback(await world.visitor.get(url)).get('error')).toBe('invalid_target')
  })
})

describe('an authorization request that does not redirect', () => {
  it.each([
    ['another host', 'http://evil.example/callback'],
    ['another path', 'http://127.0.0.1/callback/more'],
    ['an encoded path', 'http://127.0.0.1/callbac%6b'],
    ['a path that climbs', 'http://127.0.0.1/x/../callback'],
    ['a query', 'http://127.0.0.1/callback?next=1'],
    ['a fragment', 'http://127.0.0.1/callback#x'],
    ['a user that looks like the host', 'http://127.0.0.1@evil.example/callback'],
    ['a user', 'http://u@127.0.0.1:4711/callback'],
    ['a subdomain', 'http://127.0.0.1.evil.example/callback'],
    ['another name of the host', 'http://localhost/callback'],
    ['another scheme', 'https://127.0.0.1/callback'],
    ['a script', 'javascript:alert(1)//127.0.0.1/callback'],
    ['a backslash', 'http://127.0.0.1\\@evil.example/callback'],
  ])('is rejected for a redirect to %s', async (_title, redirect_uri) => {
    const page = await ask({ redirect_uri })
    expect(page.status).toBe(400)
    expect(page.headers.get('location')).toBeNull()
    expect(page.text).toContain('(invalid_redirect_uri)')
  })

  it.each([
    ['a client that does not exist', { client_id: 'nobody' }],
    ['a client whose name is markup', { client_id: '<script>alert(1)</script>' }],
    ['no client', { client_id: undefined }],
  ])('is rejected from %s', async (_title, changes) => {
    const page = await ask(changes)
    expect(page.status).toBe(400)
    expect(page.headers.get('location')).toBeNull()
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.text).not.toContain('<script>alert')
  })

  it('is rejected from a client that no longer exists, with advice', async () => {
    const page = await ask({ client_id: randomUUID() })
    expect(page.text).toContain('Remove the server in the application and add it again')
    expect(page.text).toContain('(invalid_client)')
  })

  it('is rejected if it is longer than a few thousand characters', async () => {
    const page = await ask({ state: 'x'.repeat(4_000), resource: undefined })
    expect(page.status).toBe(400)
    expect(page.text).toContain('longer than 4096 characters')
  })

  it('is rejected by POST, which no client needs', async () => {
    const response = await fetch(`${world.origin}/oauth/authorize`, { method: 'POST', body: new URLSearchParams() })
    expect(response.status).toBe(405)
  })
})

describe("redirects of programs on the user's machine", () => {
  it.each([
    ['any port of a loopback address', 'http://127.0.0.1/callback', 'http://127.0.0.1:53999/callback'],
    ['any port of the IPv6 loopback address', 'http://[::1]:1234/cb', 'http://[::1]:53999/cb'],
    ['any port of localhost', 'http://localhost:8000/cb', 'http://localhost:53999/cb'],
    [
      'a scheme of its own',
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ],
    ['a scheme as RFC 8252 wants it', 'com.example.app:/callback', 'com.example.app:/callback'],
  ])('may be %s', async (_title, registered, used) => {
    const { client_id } = await registerClient(world.origin, { redirect_uris: [registered] })
    const request = makeRequest(client_id, world.serverUrl, { redirect_uri: used })
    const page = await openConsent(world.visitor, world.origin, request)
    const answered = await answerConsent(world.visitor, page, 'yes')
    expect(answered.headers.get('location')).toMatch(new RegExp(`^${used.replace(/[[\].]/g, '\\$&')}\\?code=`))
    const code = readCallback(answered).get('code') ?? ''
    expect(tokensOf(await exchange(world.origin, code, request)).scope).toBe('mcp:read mcp:call')
  })

  it('must match exactly for all other clients', async () => {
    const redirect = 'https://app.example/callback'
    const { client_id } = await registerClient(world.origin, { redirect_uris: [redirect] })
    const page = await ask({ client_id, redirect_uri: 'https://app.example:8443/callback' })
    expect(page.text).toContain('(invalid_redirect_uri)')
  })
})

describe('the resource', () => {
  it.each([
    ['with its scheme and host in capitals', () => world.serverUrl.replace('http://localhost', 'HTTP://LocalHost')],
    ['with a slash at its end', () => `${world.serverUrl}/`],
    ['with a number, to load the lists again', () => `${world.serverUrl}/?list=12`],
    ['with another loopback name', () => world.serverUrl.replace('localhost', '[::1]')],
    ['as the older transport', () => `${world.serverUrl}/sse`],
    ['with its id in capitals', () => world.serverUrl.replace(/[^/]*$/, id => id.toUpperCase())],
  ])('may be written %s', async (_title, resource) => {
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, resource()))
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
    const { db } = world.services
    const serverId = world.serverUrl.split('/').at(-1) ?? ''
    expect(await db.oAuthArtifact.count({ where: { kind: 'Grant', clientId, serverId } })).toBe(1)
  })
})

describe('parameters that other clients usually send', () => {
  it.each([
    ['no scope', undefined, 'mcp:read mcp:call'],
    ['offline_access alone', 'offline_access', 'mcp:read mcp:call'],
    ['offline_access besides', 'mcp:read offline_access', 'mcp:read'],
    ['the scopes of OpenID', 'openid profile email', 'mcp:read mcp:call'],
    ['a scope unknown here', 'mcp:call files:read', 'mcp:call'],
  ])('%s', async (_title, scope, granted) => {
    const request = makeRequest(clientId, world.serverUrl, { scope, prompt: 'consent', nonce: 'n', max_age: '0' })
    expect((await connect(world.visitor, world.origin, request)).scope).toBe(granted)
  })

  it('no state', async () => {
    const page = await ask({ state: undefined })
    const callback = readCallback(await answerConsent(world.visitor, page, 'yes'))
    expect(callback.get('code')).toBeTruthy()
    expect(callback.has('state')).toBe(false)
    expect(callback.get('iss')).toBe(world.origin)
  })
})

describe('a user who is not signed in', () => {
  it('is sent to sign in, and returns to the whole request', async () => {
    const nobody = createVisitor(world.origin)
    const request = makeRequest(clientId, world.serverUrl)
    const first = await nobody.send('GET', authorizeUrl(world.origin, request))
    expect(first.status).toBe(303)
    const signIn = new URL(first.headers.get('location') ?? '', world.origin)
    expect(signIn.pathname).toBe('/sign-in')
    const returnTo = signIn.searchParams.get('return_to') ?? ''
    expect(returnTo.startsWith('/oauth/authorize?')).toBe(true)
    expect(await world.services.db.oAuthArtifact.count({ where: { kind: 'Interaction', userId: null } })).toBe(0)

    await nobody.signIn(world.owner.email)
    const callback = readCallback(await answerConsent(nobody, await nobody.get(returnTo), 'yes'))
    expect(callback.get('state')).toBe(request.parameters.state)
    expect((await exchange(world.origin, callback.get('code') ?? '', request)).status).toBe(200)
  })

  it('is not asked if the client wants no page to be shown', async () => {
    const nobody = createVisitor(world.origin)
    const request = makeRequest(clientId, world.serverUrl, { prompt: 'none' })
    expect(readCallback(await openConsent(nobody, world.origin, request)).get('error')).toBe('login_required')
  })

  it('learns at once that a request is invalid', async () => {
    const nobody = createVisitor(world.origin)
    const request = makeRequest(clientId, world.serverUrl, { redirect_uri: 'https://evil.example/' })
    expect((await openConsent(nobody, world.origin, request)).status).toBe(400)
  })
})

describe('the metadata documents', () => {
  const Metadata = z.looseObject({ issuer: z.string(), authorization_endpoint: z.string(), jwks_uri: z.string() })

  it('are built from the base URL, whatever the Host and proxy headers say', async () => {
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
      const response = await fetch(`${world.origin}${path}`, {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      })
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      const metadata = Metadata.parse(await response.json())
      expect(metadata).toMatchObject({
        issuer: world.origin,
        authorization_endpoint: `${world.origin}/oauth/authorize`,
        token_endpoint: `${world.origin}/oauth/token`,
        registration_endpoint: `${world.origin}/oauth/register`,
        revocation_endpoint: `${world.origin}/oauth/revoke`,
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        response_types_supported: ['code'],
        scopes_supported: ['mcp:read', 'mcp:call', 'offline_access'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      })
    }
  })

  it('keep redirects at the base URL as well', async () => {
    const url = new URL(authorizeUrl(world.origin, makeRequest(clientId, world.serverUrl)))
    const cookie = world.visitor.jar.header('/oauth/authorize')
    const headers = { cookie, host: `127.0.0.1:${url.port}`, 'x-forwarded-host': 'evil.example' }
    const location = await new Promise<string | undefined>((resolve, reject) => {
      sendRaw({ host: '127.0.0.1', port: url.port, path: `${url.pathname}${url.search}`, headers }, response => {
        response.resume()
        resolve(response.headers.location)
      })
        .on('error', reject)
        .end()
    })
    expect(location).toMatch(/^\/oauth\/interaction\//)
    const { db } = world.services
    const interactions = JSON.stringify(await db.oAuthArtifact.findMany({ where: { kind: 'Interaction' } }))
    expect(interactions).not.toContain('evil.example')
  })

  it('publish only the public half of the signing key', async () => {
    const response = await fetch(`${world.origin}/oauth/jwks`)
    const { keys } = z.object({ keys: z.array(z.record(z.string(), z.string())) }).parse(await response.json())
    expect(keys).toMatchObject([{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }])
    expect(keys[0]).not.toHaveProperty('d')
  })

  it.each(['token', 'register', 'revoke', 'jwks'])(
    'allow MCP Inspector to call /oauth/%s on loopback without cookies, and no other website',
    async name => {
      const preflight = (origin: string) =>
        fetch(`${world.origin}/oauth/${name}`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        })
      for (const origin of ['http://localhost:6274', 'http://127.0.0.1:6274']) {
        const response = await preflight(origin)
        expect(response.status).toBe(204)
        expect(response.headers.get('access-control-allow-origin')).toBe('*')
        expect(response.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
        expect(response.headers.has('access-control-allow-credentials')).toBe(false)
      }
      const refused = await preflight('https://app.example')
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null])
    },
  )

  it('reject bodies larger than any valid request', async () => {
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x'.repeat(70_000) })
      const response = await fetch(`${world.origin}${path}`, { method: 'POST', body })
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    }
  })
})

describe('the session of the authorization server', () => {
  it("lasts an hour; only the dashboard's session can extend it", async () => {
    const visitor = await world.visit('short@example.com')
    await visitor.get(authorizeUrl(world.origin, makeRequest(clientId, world.serverUrl)))
    const { db } = world.services
    const user = await db.user.findUniqueOrThrow({ where: { email: 'short@example.com' } })
    const sessions = await db.oAuthArtifact.findMany({ where: { kind: 'Session', userId: user.id } })
    expect(sessions).toHaveLength(1)
    for (const { expiresAt } of sessions) expect(expiresAt?.getTime()).toBeLessThan(Date.now() + 3_601_000)
  })
})

describe('a browser in which another user signs in', () => {
  it('gives the client a token of the user who is signed in now', async () => {
    const url = await world.makeServer({ access: 'public' })
    const shared = createVisitor(world.origin)
    await shared.signUp('first@example.com')
    await connect(shared, world.origin, makeRequest(clientId, url))
    await shared.signUp('second@example.com')
    const page = await openConsent(shared, world.origin, makeRequest(clientId, url))
    expect(page.text).toContain('second@example.com')
    expect(page.text).not.toContain('first@example.com')
    const request = makeRequest(clientId, url)
    const code = await obtainCode(shared, world.origin, request)
    tokensOf(await exchange(world.origin, code, request))
    const { db } = world.services
    const second = await db.user.findUniqueOrThrow({ where: { email: 'second@example.com' } })
    expect(await db.oAuthArtifact.count({ where: { kind: 'AccessToken', userId: second.id } })).toBe(1)
  })
})
