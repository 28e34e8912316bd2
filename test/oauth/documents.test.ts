import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import { knock } from '../mcp/messages.ts'
import { during } from '../support/world.ts'
import { authorizeUrl, connect, makeRequest, openConsent, readCallback, refresh, tokensOf } from './support/client.ts'
import { lookupLoopback, startDocumentHost } from './support/documents.ts'
import { runOAuthWorld, startOAuthWorld } from './support/world.ts'

const REDIRECTS = ['http://127.0.0.1/callback', 'http://localhost/callback']

const host = during(() => startDocumentHost())

const documentOf = (client_id: string, change: Record<string, unknown> = {}) => ({
  client_id,
  client_name: 'Documented',
  redirect_uris: REDIRECTS,
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  ...change,
})

describe('a client identified by its metadata document', () => {
  const world = runOAuthWorld({
    services: { documents: { policy: createAddressPolicy({ allow: ['127.0.0.0/8'] }), lookup: lookupLoopback } },
  })

  it('connects without registering, and is shown with the host of the document', async () => {
    const clientId = host.put('/good.json', url => ({ body: documentOf(url) }))
    const page = await openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    expect(page.text).toContain('Let Documented use Shipment desk?')
    expect(page.text).toContain(`<code>api.test:${host.port}</code>`)
    const request = makeRequest(clientId, world.serverUrl, { redirect_uri: 'http://127.0.0.1:53117/callback' })
    const tokens = await connect(world.visitor, world.origin, request)
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
    expect(tokensOf(await refresh(world.origin, clientId, tokens.refresh_token)).scope).toBe('mcp:read mcp:call')
    // The document is cached, although it has no caching headers.
    expect(host.asked.filter(path => path === '/good.json')).toHaveLength(1)
    const { db } = world.services
    expect(await db.oAuthClient.count({ where: { clientId } })).toBe(0)
  })

  it('must name a server', async () => {
    const clientId = host.put('/no-resource.json', url => ({ body: documentOf(url) }))
    const request = makeRequest(clientId, world.serverUrl, { resource: undefined })
    const callback = readCallback(await openConsent(world.visitor, world.origin, request))
    expect(callback.get('error')).toBe('invalid_target')
    expect(callback.get('error_description')).toContain('parameter resource (RFC 8707)')
  })

  it("stays connected while the document's host fails, but not once the document is gone", async () => {
    const clientId = host.put('/moody.json', url => ({ body: documentOf(url) }))
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const askAt = async (minutes: number, token: string) => {
      // Only advances the clock, so that entries cached for a minute expire.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 })
      try {
        return await refresh(world.origin, clientId, token)
      } finally {
        vi.useRealTimers()
      }
    }
    host.put('/moody.json', () => ({ status: 503 }))
    const asked = host.asked.length
    const second = tokensOf(await askAt(2, tokens.refresh_token))
    expect(host.asked.slice(asked)).toEqual(['/moody.json'])
    host.put('/moody.json', () => ({ status: 404 }))
    expect(await askAt(4, second.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_client' } })
  })

  it('can only redirect to the addresses in its document', async () => {
    const clientId = host.put('/exact.json', url => ({ body: documentOf(url) }))
    const redirect_uri = 'https://evil.example/callback'
    const page = await openConsent(
      world.visitor,
      world.origin,
      makeRequest(clientId, world.serverUrl, { redirect_uri }),
    )
    expect(page.status).toBe(400)
    expect(page.text).toContain('(invalid_redirect_uri)')
  })

  it.each([
    ['names another client', '/other', (url: string) => ({ body: documentOf(url.replace('/other', '/good.json')) })],
    ['names nobody', '/nobody', () => ({ body: documentOf('') })],
    ['is larger than 5 kB', '/huge', (url: string) => ({ body: documentOf(url, { pad: 'x'.repeat(6_000) }) })],
    ['redirects', '/away', () => ({ status: 302, headers: { location: '/good.json' } })],
    ['never comes', '/slow', () => 'never' as const],
    ['is not there', '/missing', () => ({ status: 404 })],
    ['is not JSON', '/html', () => ({ body: '<!doctype html>' })],
    ['is a list', '/list', () => ({ body: [] })],
    ['is empty', '/empty', () => ({ body: '' })],
    ['has no name', '/nameless', (url: string) => ({ body: documentOf(url, { client_name: undefined }) })],
    ['has no redirects', '/nowhere', (url: string) => ({ body: documentOf(url, { redirect_uris: [] }) })],
    ['holds a secret', '/secret', (url: string) => ({ body: documentOf(url, { client_secret: 'known' }) })],
    [
      'wants to authenticate by a secret',
      '/basic',
      (url: string) => ({ body: documentOf(url, { token_endpoint_auth_method: 'client_secret_basic' }) }),
    ],
    [
      'redirects to a script',
      '/script',
      (url: string) => ({ body: documentOf(url, { redirect_uris: [...REDIRECTS, 'javascript:alert(1)'] }) }),
    ],
    [
      'redirects in clear text',
      '/clear',
      (url: string) => ({
        body: documentOf(url, { application_type: 'web', redirect_uris: [...REDIRECTS, 'http://app.example/cb'] }),
      }),
    ],
  ] as const)('is rejected if the document %s', async (_title, path, answer) => {
    const clientId = host.put(path, answer)
    const page = await openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    expect(page.status).toBe(400)
    expect(page.headers.get('location')).toBeNull()
    expect(page.text).toMatch(/\(invalid_(client|client_metadata|redirect_uri)\)/)
    expect(host.asked).toContain(path)
    expect(host.asked.filter(asked => asked === '/good.json').length).toBeLessThanOrEqual(1)
  })

  it.each([
    ['http', () => `http://api.test:${host.port}/good.json`],
    ['a fragment', () => `${host.origin}/good.json#x`],
    ['a user', () => `https://u@api.test:${host.port}/good.json`],
    ['a path that climbs', () => `${host.origin}/x/../good.json`],
  ])('is rejected if its URL has %s', async (_title, clientId) => {
    const before = host.asked.length
    const page = await openConsent(world.visitor, world.origin, makeRequest(clientId(), world.serverUrl))
    expect(page.status).toBe(400)
    expect(host.asked).toHaveLength(before)
  })

  it('is not fetched for an address that caused sixty fetches in an hour', async () => {
    const askFrom = (address: string, path: string) => {
      const url = authorizeUrl(world.origin, makeRequest(`${host.origin}${path}`, world.serverUrl))
      return world.visitor.send('GET', url, undefined, { 'x-forwarded-for': address })
    }
    for (let count = 0; count < 60; count++) await askFrom('198.51.100.9', `/flood/${count}`)
    expect(host.asked).toContain('/flood/59')
    const flood = await askFrom('198.51.100.9', '/flood/60')
    expect(flood.status).toBe(400)
    expect(host.asked).not.toContain('/flood/60')
    await askFrom('198.51.100.10', '/flood/60')
    expect(host.asked).toContain('/flood/60')
  })

  it('is fetched for any address if its document was valid before', async () => {
    const clientId = host.put('/hosted.json', url => ({ body: documentOf(url) }))
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const { db } = world.services
    const where = { key: { startsWith: 'oauth-document:' } }
    expect((await db.counter.updateMany({ where, data: { points: 60 } })).count).toBeGreaterThan(0)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 })
    try {
      tokensOf(await refresh(world.origin, clientId, tokens.refresh_token))
    } finally {
      vi.useRealTimers()
      await db.counter.deleteMany({ where })
    }
    expect(host.asked.filter(path => path === '/hosted.json')).toHaveLength(2)
  })

  it('follows the rules of registrations: unsupported values are dropped, and nothing else is fetched', async () => {
    const redirect_uri = 'https://app.example/callback'
    const clientId = host.put('/broad.json', url => ({
      body: documentOf(url, {
        redirect_uris: [redirect_uri, ...REDIRECTS],
        application_type: 'web',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        scope: 'openid profile tools',
        sector_identifier_uri: `${host.origin}/sector.json`,
        require_auth_time: true,
        logo_uri: `${host.origin}/logo.svg`,
      }),
    }))
    const before = host.asked.length
    const url = await world.makeServer()
    await connect(world.visitor, world.origin, makeRequest(clientId, url))
    expect(host.asked.slice(before)).toEqual(['/broad.json'])
    // The client also redirects to the user's own machine, where any program could claim to be the client.
    const again = await openConsent(world.visitor, world.origin, makeRequest(clientId, url))
    expect(again.text).toContain('Let Documented use Shipment desk?')
  })
})

describe('a document inside the private network', () => {
  // In these apps, tools may reach loopback, but that setting does not apply to documents.
  it('is not fetched by its IP address', async () => {
    const world = await startOAuthWorld()
    onTestFinished(world.close)
    const before = host.connections()
    for (const inward of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0']) {
      const clientId = `https://${inward}:${host.port}/good.json`
      const page = await openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
      expect([inward, page.status]).toEqual([inward, 400])
      expect(page.text).toContain('(invalid_client)')
      expect(page.text).not.toContain('PATCHBAY_ALLOW_PRIVATE_NETWORKS')
    }
    expect(host.connections()).toBe(before)
  })

  it('is not fetched by a name that resolves to it', async () => {
    const documents = { policy: createAddressPolicy({ allow: [] }), lookup: lookupLoopback }
    const world = await startOAuthWorld({ services: { documents } })
    onTestFinished(world.close)
    const before = host.connections()
    const page = await openConsent(
      world.visitor,
      world.origin,
      makeRequest(`${host.origin}/good.json`, world.serverUrl),
    )
    expect(page.status).toBe(400)
    expect(host.connections()).toBe(before)
  })
})
