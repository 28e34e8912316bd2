import { beforeAll, describe, expect, it } from 'vitest'
import {
  answerConsent,
  authorizeUrl,
  connect,
  makeRequest,
  openConsent,
  readCallback,
  registerClient,
} from './support/client.ts'
import { createVisitor, fieldsOf, type Page } from './support/visitor.ts'
import { runOAuthWorld } from './support/world.ts'

let clientId: string
const world = runOAuthWorld()
beforeAll(async () => {
  clientId = (await registerClient(world.origin, { client_name: 'Claude' })).client_id
})

const open = (changes: Record<string, string | undefined> = {}): Promise<Page> =>
  openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl, changes))

const codesOf = () => world.services.db.oAuthArtifact.count({ where: { kind: 'AuthorizationCode' } })

describe('the consent page', () => {
  it('shows the client, its redirect target, the requested access, and the signed-in user', async () => {
    const page = await open({ redirect_uri: 'http://127.0.0.1:53117/callback' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('Let Claude use Shipment desk?')
    expect(page.text).toContain('<code>127.0.0.1:53117</code>')
    expect(page.text).toContain(world.serverUrl)
    expect(page.text).toContain(world.owner.email)
    expect(page.text).toContain('Call all tools as you')
    expect(page.text).toContain('a program on your own computer')
    const reading = await open({ scope: 'mcp:read' })
    expect(reading.text).toContain('List tools')
    expect(reading.text).not.toContain('Call all tools as you')
  })

  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1:4711/cb', 'http://127.0.0.1:4711'],
    ['https://app.example/cb', 'https://app.example/cb', 'https://app.example'],
    ['cursor://anysphere/cb', 'cursor://anysphere/cb', 'cursor:'],
  ])('lets its form redirect only to %s, and cannot be framed', async (registered, used, target) => {
    const { client_id } = await registerClient(world.origin, { redirect_uris: [registered] })
    const page = await open({ client_id, redirect_uri: used })
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toContain(`form-action 'self' ${target}`)
    expect(policy.split('; ')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('cache-control')).toContain('no-store')
    expect(page.text.includes('a program on your own computer')).toBe(target.startsWith('http://127'))
  })

  it.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['"><img src=x onerror=alert(1)>', '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;'],
    ['Cla\u200Bude\u202Eedualc', 'Cla ude edualc'],
    ['line\r\nbreak\u0007', 'line break'],
    ['x'.repeat(500), 'x'.repeat(80)],
    ['   ', 'An unnamed application'],
  ])('shows the name %j literally', async (client_name, shown) => {
    const { client_id } = await registerClient(world.origin, { client_name })
    const page = await open({ client_id })
    expect(page.text).toContain(`Let ${shown} use Shipment desk?`)
    expect(page.text).not.toContain('<script>alert')
    expect(page.text).not.toContain('<img src=x')
  })

  it('appears every time for native clients, and once for others', async () => {
    const native = makeRequest(clientId, world.serverUrl)
    await connect(world.visitor, world.origin, native)
    expect((await open()).text).toContain('Let Claude use')

    const redirect_uri = 'https://app.example/cb'
    const web = await registerClient(world.origin, { redirect_uris: [redirect_uri], application_type: 'web' })
    const request = () => makeRequest(web.client_id, world.serverUrl, { redirect_uri, scope: 'mcp:read' })
    await connect(world.visitor, world.origin, request())
    const silent = await openConsent(world.visitor, world.origin, request())
    expect(readCallback(silent).get('code')).toBeTruthy()
    // Additional scopes and other servers need new consent.
    const more = { redirect_uri, scope: 'mcp:read mcp:call' }
    const asked = await openConsent(world.visitor, world.origin, makeRequest(web.client_id, world.serverUrl, more))
    expect(asked.text).toContain('Call all tools as you')
    const other = makeRequest(web.client_id, await world.makeServer(), { redirect_uri, scope: 'mcp:read' })
    expect((await openConsent(world.visitor, world.origin, other)).status).toBe(200)
  })

  it('returns an error to the client when access is denied', async () => {
    const callback = readCallback(await answerConsent(world.visitor, await open({ state: 'kept' }), 'no'))
    expect(Object.fromEntries(callback)).toEqual({
      error: 'access_denied',
      error_description: 'the user refused',
      state: 'kept',
      iss: world.origin,
    })
  })

  it('signs out a user who is not the right one, and returns to the same request', async () => {
    const visitor = await world.visit('not-me@example.com')
    const request = makeRequest(clientId, world.serverUrl)
    const page = await openConsent(visitor, world.origin, request)
    expect(page.text).toContain('Not you?')
    const { action, fields } = fieldsOf(page, '/sign-out', 'return_to')
    expect(fields.return_to).toContain('/oauth/authorize?')
    const after = await visitor.send('POST', action, fields)
    expect(after.text).toContain('/oauth/authorize?')
    const signIn = await visitor.get(fields.return_to ?? '')
    expect(new URL(signIn.url).pathname).toBe('/sign-in')
    await visitor.signIn(world.owner.email)
    const again = await visitor.get(fields.return_to ?? '')
    expect(again.text).toContain(world.owner.email)
    expect(readCallback(await answerConsent(visitor, again, 'yes')).get('state')).toBe(request.parameters.state)
  })
})

describe('a user who may not use the server', () => {
  it('learns nothing about it and can only deny access', async () => {
    const stranger = await world.visit('no-access@example.com')
    const request = makeRequest(clientId, world.serverUrl)
    const page = await openConsent(stranger, world.origin, request)
    expect(page.status).toBe(200)
    expect(page.text).toContain('You do not have access')
    expect(page.text).not.toContain('Shipment desk')
    expect(page.text).not.toContain('value="yes"')
    const forced = readCallback(await answerConsent(stranger, page, 'yes'))
    expect(forced.get('error')).toBe('access_denied')
    expect(forced.get('code')).toBeNull()
  })

  it('gets nothing if access was removed while the page was open', async () => {
    const url = await world.makeServer({ access: 'public' })
    const guest = await world.visit('guest@example.com')
    const page = await openConsent(guest, world.origin, makeRequest(clientId, url))
    expect(page.text).toContain('value="yes"')
    await world.owner.expectOk('PATCH', `/servers/${url.split('/').at(-1)}`, { access: 'private' })
    expect(readCallback(await answerConsent(guest, page, 'yes')).get('error')).toBe('access_denied')
  })
})

describe("a consent response that is not the user's own", () => {
  it.each([
    ['without the token of the form', (fields: Record<string, string>) => ({ ...fields, _csrf: '' })],
    ['with a token made up', (fields: Record<string, string>) => ({ ...fields, _csrf: 'x'.repeat(52) })],
  ])('is rejected %s', async (_title, forge) => {
    const page = await open()
    const { action, fields } = fieldsOf(page, '/oauth/interaction/')
    const before = await codesOf()
    const answer = await world.visitor.post(action, { ...forge(fields), answer: 'yes' })
    expect(answer.status).toBe(403)
    expect(await codesOf()).toBe(before)
  })

  it('is rejected from a page of another site', async () => {
    const { action, fields } = fieldsOf(await open(), '/oauth/interaction/')
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
      const answer = await world.visitor.send('POST', action, { ...fields, answer: 'yes' }, headers)
      expect(answer.status).toBe(403)
    }
  })

  it('is rejected in another browser, whoever is signed in there', async () => {
    const { action, fields } = fieldsOf(await open(), '/oauth/interaction/')
    const eve = await world.visit('eve@example.com')
    const own = fieldsOf(await openConsent(eve, world.origin, makeRequest(clientId, world.serverUrl)), '/oauth/')
    const without = await eve.post(action, { ...own.fields, answer: 'yes' })
    expect(without.status).toBe(400)
    // The consent decision is rejected even when it is sent with the cookies from the owner's consent page.
    for (const { name, value, path } of world.visitor.jar.all()) {
      if (name.startsWith('op_interaction')) eve.jar.set(name, value, path)
    }
    const answer = await eve.post(action, { ...own.fields, answer: 'yes' })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('location')).toBeNull()
    // The owner's own consent is still accepted.
    expect(readCallback(await world.visitor.post(action, { ...fields, answer: 'yes' })).get('code')).toBeTruthy()
  })

  it('is rejected once the user has signed out', async () => {
    const visitor = createVisitor(world.origin)
    await visitor.signIn(world.owner.email)
    const page = await openConsent(visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const { action, fields } = fieldsOf(page, '/oauth/interaction/')
    visitor.jar.set('sid', '')
    expect((await visitor.post(action, { ...fields, answer: 'yes' })).status).toBe(403)
  })

  it('is rejected with the cookie of another question of the same user', async () => {
    const one = await open()
    const other = await open()
    const { action, fields } = fieldsOf(one, '/oauth/interaction/')
    const cookies = world.visitor.jar.all().filter(({ path }) => path === new URL(other.url).pathname)
    expect(cookies.map(({ name }) => name)).toEqual(['op_interaction', 'op_interaction.sig'])
    for (const { name, value } of cookies) world.visitor.jar.set(name, value, new URL(one.url).pathname)
    const before = await codesOf()
    expect(await world.visitor.post(action, { ...fields, answer: 'yes' })).toMatchObject({ status: 400 })
    expect(await codesOf()).toBe(before)
  })

  it('is not accepted at an address that any page could submit to', async () => {
    const page = await open()
    const shown = await world.visitor.get(page.url)
    expect(shown.headers.get('location')).toBeNull()
    expect(shown.text).toContain('value="yes"')
    const before = await codesOf()
    await createVisitor(world.origin).get(`${page.url}?answer=yes`)
    expect(await codesOf()).toBe(before)
  })

  it('gives a second client no code without a question', async () => {
    await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const second = await registerClient(world.origin, {
      client_name: 'Claude',
      redirect_uris: ['https://evil.example/cb'],
      application_type: 'web',
    })
    const request = makeRequest(second.client_id, world.serverUrl, { redirect_uri: 'https://evil.example/cb' })
    const page = await world.visitor.get(authorizeUrl(world.origin, request))
    expect(page.headers.get('location')).toBeNull()
    expect(page.text).toContain('<code>evil.example</code>')
    const silent = { redirect_uri: 'https://evil.example/cb', prompt: 'none' }
    const none = await openConsent(world.visitor, world.origin, makeRequest(second.client_id, world.serverUrl, silent))
    expect(readCallback(none).get('error')).toBe('consent_required')
  })
})
