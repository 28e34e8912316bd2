import { beforeAll, describe, expect, it } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { callTool } from '../process/calls.ts'
import { makeServer } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { runFakeApi } from '../support/world.ts'
import {
  answerConsent,
  authorizeUrl,
  connect,
  exchange,
  makeRequest,
  obtainCode,
  openConsent,
  readCallback,
  refresh,
  registerClient,
  tokensOf,
} from './support/client.ts'
import { createVisitor, fieldsOf, type Visitor } from './support/visitor.ts'
import { runOAuthWorld, startOAuthWorld } from './support/world.ts'

const EVIL = 'https://evil.example/'

let clientId: string
// Hashes passwords at full cost, because one of the attacks is a flood of sign-ins.
const world = runOAuthWorld({ services: { hashingCost: undefined } })
const fake = runFakeApi()
beforeAll(async () => {
  clientId = (await registerClient(world.origin)).client_id
})

const request = (changes?: Record<string, string>) => makeRequest(clientId, world.serverUrl, changes)

describe('another installation of Patchbay', () => {
  it('has clients, codes and tokens that are invalid here', async () => {
    const other = await startOAuthWorld()
    try {
      const theirs = await registerClient(other.origin)
      const asked = makeRequest(theirs.client_id, other.serverUrl)
      const tokens = await connect(other.visitor, other.origin, asked)
      const pending = makeRequest(theirs.client_id, other.serverUrl)
      const code = await obtainCode(other.visitor, other.origin, pending)

      expect(await knock(other.serverUrl, tokens.access_token)).toBe(200)
      expect(await knock(world.serverUrl, tokens.access_token)).toBe(401)
      const own = { client_id: clientId, resource: world.serverUrl }
      expect((await exchange(world.origin, code, pending, own)).body.error).toBe('invalid_grant')
      expect((await refresh(world.origin, clientId, tokens.refresh_token)).body.error).toBe('invalid_grant')
      expect((await refresh(world.origin, theirs.client_id, tokens.refresh_token)).body.error).toBe('invalid_client')
      // Nor does the other installation issue a token for our server.
      const foreign = makeRequest(theirs.client_id, world.serverUrl)
      expect(readCallback(await openConsent(other.visitor, other.origin, foreign)).get('error')).toBe('invalid_target')
      // Despite all attempts here, the code is still valid at the other installation.
      expect(tokensOf(await exchange(other.origin, code, pending)).scope).toBe('mcp:read mcp:call')
    } finally {
      await other.close()
    }
  })
})

describe('a browser prepared by an attacker', () => {
  const plant = (from: Visitor, into: Visitor): void => {
    for (const { name, value, path } of from.jar.all()) into.jar.set(name, value, path)
  }
  const fieldsFor = (email: string) => ({ email, password: 'correct horse battery staple' })

  it('signs in with a new session, which the owner of the planted cookies cannot use', async () => {
    const eve = await world.visit('eve@example.com')
    const asked = request()
    await openConsent(eve, world.origin, asked)
    const alice = createVisitor(world.origin)
    plant(eve, alice)
    expect(alice.jar.all().map(({ name }) => name)).toEqual(expect.arrayContaining(['sid', 'op_session']))

    // The page shows the attacker's account, and the victim rejects it.
    const planted = await openConsent(alice, world.origin, asked)
    expect(planted.text).toContain('eve@example.com')
    const afterQuestion = planted.text.slice(planted.text.indexOf('<form id="leave"'))
    const leave = fieldsOf({ ...planted, text: afterQuestion }, '/sign-out')
    const signIn = await alice.post(leave.action, leave.fields)
    const form = fieldsOf(signIn, '/sign-in')
    const consent = await alice.post(form.action, { ...form.fields, ...fieldsFor(world.owner.email) })
    expect(consent.text).toContain(world.owner.email)

    const { action, fields } = fieldsOf(consent, '/oauth/interaction/')
    expect((await eve.post(action, { ...fields, answer: 'yes' })).headers.get('location')).toBeNull()
    expect(readCallback(await answerConsent(alice, consent, 'yes')).get('code')).toBeTruthy()
    const silent = await eve.get(authorizeUrl(world.origin, request({ prompt: 'none' })))
    expect(readCallback(silent).get('error')).toBe('login_required')
    expect((await openConsent(eve, world.origin, request())).text).not.toContain(world.owner.email)
  })

  it('gets its own consent question after a question in another browser', async () => {
    const mallory = await world.visit('mallory@example.com')
    const consent = await openConsent(mallory, world.origin, request())
    const alice = createVisitor(world.origin)
    await alice.signIn(world.owner.email)
    expect((await alice.get(consent.url)).status).toBe(400)
    // The cookies from that consent page do not help either.
    for (const { name, value, path } of mallory.jar.all()) if (name !== 'sid') alice.jar.set(name, value, path)
    const shown = await alice.get(consent.url)
    expect(shown.url).not.toBe(consent.url)
    expect(shown.text).toContain(world.owner.email)
    expect(shown.text).not.toContain('mallory@example.com')
  })

  it("grants the second user's own access after a change of user, not the first user's", async () => {
    const shared = createVisitor(world.origin)
    await shared.signIn(world.owner.email)
    await connect(shared, world.origin, request())
    await shared.signUp('second-at-the-desk@example.com')
    const page = await openConsent(shared, world.origin, request())
    expect(page.text).toContain('You do not have access')
    expect(page.text).toContain('second-at-the-desk@example.com')
    expect(readCallback(await answerConsent(shared, page, 'yes')).get('error')).toBe('access_denied')
  })
})

describe('a response to the consent question', () => {
  it('redirects to the requesting client, whatever the form was changed to', async () => {
    for (const answer of ['yes', 'no']) {
      const asked = request({ redirect_uri: 'http://127.0.0.1:4711/callback' })
      const { action, fields } = fieldsOf(await openConsent(world.visitor, world.origin, asked), '/oauth/interaction/')
      const forged = {
        redirect_uri: EVIL,
        return_to: EVIL,
        redirect: EVIL,
        next: EVIL,
        client_id: 'other',
        resource: EVIL,
      }
      const query = `?${new URLSearchParams(forged)}`
      const answered = await world.visitor.post(`${action}${query}`, { ...forged, ...fields, answer })
      const location = new URL(answered.headers.get('location') ?? '')
      expect(`${location.origin}${location.pathname}`).toBe('http://127.0.0.1:4711/callback')
      expect(location.href).not.toContain('evil')
      expect(location.searchParams.get('iss')).toBe(world.origin)
    }
  })
})

describe("a caller's token", () => {
  it('is not passed on to any API, in a header or otherwise', async () => {
    const tool = { name: 'get_thing', method: 'POST', url: `${fake.origin}/thing` }
    const { url } = await makeServer(world.owner, [tool], { server: { access: 'private' } })
    const { access_token } = await connect(world.visitor, world.origin, makeRequest(clientId, url))
    const called = await callTool(url, 'get_thing', {}, { authorization: `Bearer ${access_token}` })
    expect(called.status).toBe(200)
    const [seen] = fake.seen.slice(-1)
    expect(seen?.url).toBe('/thing')
    expect(seen?.headers).not.toHaveProperty('authorization')
    expect(JSON.stringify(fake.seen)).not.toContain(access_token)
  })
})

describe('a flood of sign-ins', () => {
  it('is rejected, while calls by token and signed-in users continue', async () => {
    const tool = { name: 'get_thing', method: 'GET', url: `${fake.origin}/thing` }
    const { url } = await makeServer(world.owner, [tool], { server: { access: 'private' } })
    const { access_token } = await connect(world.visitor, world.origin, makeRequest(clientId, url))
    let sent = 0
    const attempt = async (): Promise<number> => {
      const address = `198.18.${Math.floor(++sent / 250)}.${sent % 250}`
      const browser = createBrowser(world.origin, { address })
      return (await browser.signIn(`nobody${sent % 7}@example.com`, 'not the password')).status
    }
    const flood = Promise.all(Array.from({ length: 30 }, attempt))
    let isOver = false
    const over = flood.finally(() => {
      isOver = true
    })
    const statuses: number[] = []
    while (!isOver) {
      statuses.push((await callTool(url, 'get_thing', {}, { authorization: `Bearer ${access_token}` })).status)
      statuses.push((await openConsent(world.visitor, world.origin, request())).status)
    }
    expect(statuses.length).toBeGreaterThan(2)
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const status of await over) expect([401, 429, 503]).toContain(status)
    const visitor = createVisitor(world.origin)
    await visitor.signIn(world.owner.email)
    expect((await connect(visitor, world.origin, request())).scope).toBe('mcp:read mcp:call')
  })
})
