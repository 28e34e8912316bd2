import { generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { createPageBrowser, type PageResponse } from '../support/page-browser.ts'
import { type AccountsApp, anyDatabase, auditOf, databasesOfRun, EMAIL, PASSWORD, startApp } from './app.ts'
import {
  CLIENT_SECRET,
  type OpenIdProvider,
  prepareOpenIdProvider,
  startAppWithProvider,
  startOwnAppWithProvider,
  visitProvider,
} from './openid-provider.ts'
import { codeOf, turnOn } from './second-factor.ts'

const ADA = { sub: 'ada-at-provider', email: 'Ada@Example.com', email_verified: true }
const CALLBACK = '/sign-in/external/callback'

type PageBrowser = ReturnType<typeof createPageBrowser>
type World = AccountsApp & { provider: OpenIdProvider; browser: () => PageBrowser }

/** Starts Patchbay with a provider and creates the operator's account, so that the sign-up policy applies. */
const startWorld = async (starting = startAppWithProvider(anyDatabase)): Promise<World> => {
  const world = await starting
  await world.services.accounts.createUser({ email: 'operator@example.com', password: PASSWORD })
  world.provider.people.set(ADA.sub, ADA)
  return { ...world, browser: () => createPageBrowser(world.origin) }
}

/** Signs in at the provider as `sub` and returns. `change` can alter either URL, as an attacker might. */
const travel = async (
  { provider }: World,
  browser: PageBrowser,
  sub: string | undefined,
  {
    returnTo,
    there = url => url,
    back = path => path,
  }: {
    returnTo?: string
    there?: (url: string) => string
    back?: (path: string) => string
  } = {},
): Promise<PageResponse> => {
  const query = returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`
  const sent = await browser.get(`/sign-in/external${query}`)
  expect([sent.status, sent.location]).toEqual([303, expect.stringContaining(`${provider.issuer}/auth?`)])
  return browser.get(back(await visitProvider(provider.issuer, there(sent.location ?? ''), sub)))
}

const changeQuery =
  (change: (query: URLSearchParams) => void) =>
  (address: string): string => {
    const url = new URL(address, 'http://localhost')
    change(url.searchParams)
    return address.startsWith('/') ? `${url.pathname}${url.search}` : url.href
  }

/** Returns the email of the signed-in user, or undefined if nobody is signed in. */
const whoIs = async (browser: PageBrowser): Promise<string | undefined> => {
  const { status, html } = await browser.get('/api/v1/me')
  return status === 200 ? JSON.parse(html).user.email : undefined
}

const usersOf = ({ services }: World) =>
  services.db.user.findMany({ where: { email: { not: 'operator@example.com' } } })
const identitiesOf = ({ services }: World) => services.db.externalIdentity.findMany()

describe.each(databasesOfRun)('signing in with an external provider on $kind', database => {
  it('creates an account with a verified email the first time, and signs in to it afterwards', async () => {
    const world = await startWorld(startAppWithProvider(database))
    const first = world.browser()
    const arrived = await travel(world, first, ADA.sub, { returnTo: '/account?tab=1' })
    expect([arrived.status, arrived.location]).toEqual([303, '/account?tab=1'])
    expect(await whoIs(first)).toBe(EMAIL)
    const [user] = await usersOf(world)
    expect(user).toMatchObject({ email: EMAIL, isOperator: false, emailVerifiedAt: expect.any(Date) })
    expect(await identitiesOf(world)).toMatchObject([
      { userId: user?.id, issuer: world.provider.issuer, subject: ADA.sub },
    ])
    // The subject identifies the user. The email at the provider may change, even to that of another user here.
    world.provider.people.set(ADA.sub, { ...ADA, email: 'operator@example.com' })
    const second = world.browser()
    await travel(world, second, ADA.sub)
    expect(await whoIs(second)).toBe(EMAIL)
    expect(await usersOf(world)).toHaveLength(1)
    const actions = await auditOf(world)
    expect(actions).toEqual(expect.arrayContaining(['user.signed_up', 'user.identity_linked']))
    expect(actions.filter(action => action === 'user.signed_in')).toHaveLength(2)
    // No password works, because none is set.
    for (const password of ['', PASSWORD]) {
      expect((await createBrowser(world.origin).signIn(EMAIL, password)).status).toBe(401)
    }
  })

  it('creates one account for one user who arrives twice at once', async () => {
    const world = await startWorld(startAppWithProvider(database))
    const browsers = Array.from({ length: 4 }, world.browser)
    await Promise.all(browsers.map(browser => travel(world, browser, ADA.sub)))
    expect(await Promise.all(browsers.map(whoIs))).toEqual(Array(4).fill(EMAIL))
    expect([(await usersOf(world)).length, (await identitiesOf(world)).length]).toEqual([1, 1])
  })

  it('asks for the password if the email has an account, and links it only with the right one', async () => {
    const world = await startWorld(startAppWithProvider(database))
    await world.services.accounts.createUser({ email: EMAIL, password: PASSWORD })
    const browser = world.browser()
    const arrived = await travel(world, browser, ADA.sub, { returnTo: '/account' })
    expect([arrived.status, arrived.location]).toEqual([303, '/sign-in/link'])
    expect(await whoIs(browser)).toBeUndefined()
    expect((await browser.get('/sign-in/link')).html).toContain(EMAIL)
    const wrong = await browser.submit('/sign-in/link', { password: 'wrong password' })
    expect([wrong.status, wrong.html]).toEqual([401, expect.stringContaining('password is wrong')])
    expect([await whoIs(browser), await identitiesOf(world)]).toEqual([undefined, []])
    const right = await browser.submit('/sign-in/link', { password: PASSWORD })
    expect([right.status, right.location]).toEqual([303, '/account'])
    expect(await whoIs(browser)).toBe(EMAIL)
    const again = world.browser()
    await travel(world, again, ADA.sub)
    expect(await whoIs(again)).toBe(EMAIL)
    expect(await usersOf(world)).toHaveLength(1)
  })
})

describe('a user who returns from the provider', () => {
  it.each([
    ['an unverified email', { email: EMAIL, email_verified: false }],
    ['an email without a verification claim', { email: EMAIL }],
    ['a verification claim that is a string', { email: EMAIL, email_verified: 'true' }],
    ['no email', { email_verified: true }],
    ['an invalid email', { email: 'ada', email_verified: true }],
    ['several emails', { email: [EMAIL, 'eve@example.com'], email_verified: true }],
  ])('with %s gets no account and is not linked to one', async (_what, claims) => {
    const world = await startWorld()
    world.provider.people.set('somebody', { sub: 'somebody', ...claims })
    const browser = world.browser()
    const answer = await travel(world, browser, 'somebody')
    expect([answer.status, answer.html]).toEqual([403, expect.stringContaining('has not verified your email')])
    expect(await whoIs(browser)).toBeUndefined()
    expect([await usersOf(world), await identitiesOf(world)]).toEqual([[], []])
    await world.services.accounts.createUser({ email: EMAIL, password: PASSWORD })
    expect((await travel(world, world.browser(), 'somebody')).status).toBe(403)
  })

  it('can have the email in the ID token itself', async () => {
    const world = await startWorld(startAppWithProvider(anyDatabase, {}, { hasClaimsInToken: true }))
    const browser = world.browser()
    await travel(world, browser, ADA.sub)
    expect(await whoIs(browser)).toBe(EMAIL)
    expect(world.provider.asked).not.toContain('/me')
  })

  it.each([
    ['invite', 'Open the link in your invitation'],
    ['closed', 'Ask the operator'],
  ])('gets no account if sign-up is %s, is told what to do, and can be linked to one', async (policy, advice) => {
    const world = await startWorld(startAppWithProvider(anyDatabase, { PATCHBAY_SIGNUP: policy }))
    const answer = await travel(world, world.browser(), ADA.sub)
    expect([answer.status, answer.html]).toEqual([403, expect.stringContaining(advice)])
    expect(await usersOf(world)).toEqual([])
    await world.services.accounts.createUser({ email: EMAIL, password: PASSWORD })
    const browser = world.browser()
    await travel(world, browser, ADA.sub)
    await browser.submit('/sign-in/link', { password: PASSWORD })
    expect(await whoIs(browser)).toBe(EMAIL)
  })

  it('does not become the operator if the first account requires the setup token', async () => {
    const app = await startAppWithProvider(anyDatabase, { PATCHBAY_TRUST_PROXY: '192.0.2.0/24' })
    app.provider.people.set(ADA.sub, ADA)
    const world = { ...app, browser: () => createPageBrowser(app.origin) }
    const answer = await travel(world, world.browser(), ADA.sub)
    expect([answer.status, answer.html]).toEqual([403, expect.stringContaining('setup token')])
    expect(await usersOf(world)).toEqual([])
  })

  it('cannot get the demo account', async () => {
    const world = await startWorld()
    world.provider.people.set('demo', { sub: 'demo', email: 'demo@patchbay.internal', email_verified: true })
    expect((await travel(world, world.browser(), 'demo')).status).toBe(409)
    expect(await usersOf(world)).toEqual([])
  })

  it('is asked for the code if a second factor is on, both for signing in and for linking', async () => {
    const world = await startWorld()
    const own = createBrowser(world.origin)
    await own.signUp(EMAIL, PASSWORD)
    const { secret, recoveryCodes } = await turnOn(own, PASSWORD)
    const browser = world.browser()
    await travel(world, browser, ADA.sub, { returnTo: '/account' })
    expect((await browser.submit('/sign-in/link', { password: PASSWORD })).location).toBe('/sign-in/code')
    expect([await whoIs(browser), await identitiesOf(world)]).toEqual([undefined, []])
    await browser.submit('/sign-in/code', { code: '000000' })
    expect([await whoIs(browser), await identitiesOf(world)]).toEqual([undefined, []])
    expect((await browser.submit('/sign-in/code', { code: codeOf(secret, 1) })).location).toBe('/account')
    expect([await whoIs(browser), (await identitiesOf(world)).length]).toEqual([EMAIL, 1])

    const again = world.browser()
    expect((await travel(world, again, ADA.sub, { returnTo: '/account' })).location).toBe('/sign-in/code')
    expect(await whoIs(again)).toBeUndefined()
    expect((await again.submit('/sign-in/code', { code: recoveryCodes[0] ?? '' })).location).toBe('/account')
    expect(await whoIs(again)).toBe(EMAIL)
  })

  it('and canceled there gets an error message from Patchbay', async () => {
    const world = await startWorld()
    const answer = await travel(world, world.browser(), undefined)
    expect([answer.status, answer.html]).toEqual([403, expect.stringContaining('did not sign you in (access_denied)')])
    expect(answer.html).not.toContain('changed my mind')
  })
})

describe('the round trip to the provider', () => {
  it('carries a fresh state, nonce and PKCE challenge each time, and no secret', async () => {
    const world = await startWorld()
    const seen: string[] = []
    for (let count = 0; count < 2; count++) {
      const { location = '' } = await world.browser().get('/sign-in/external')
      const query = new URL(location).searchParams
      expect(Object.fromEntries(query)).toMatchObject({
        response_type: 'code',
        scope: 'openid email',
        redirect_uri: `${world.origin}${CALLBACK}`,
        code_challenge_method: 'S256',
      })
      for (const name of ['state', 'nonce', 'code_challenge']) seen.push(query.get(name) ?? '')
      expect(location).not.toContain(encodeURIComponent(CLIENT_SECRET))
    }
    expect(seen.every(text => text.length >= 43)).toBe(true)
    expect(new Set(seen).size).toBe(6)
  })

  it.each([
    ['another state', { back: changeQuery(query => query.set('state', 'x'.repeat(43))) }],
    ['no state', { back: changeQuery(query => query.delete('state')) }],
    ['two states', { back: changeQuery(query => query.append('state', query.get('state') ?? '')) }],
    ['another code', { back: changeQuery(query => query.set('code', 'x'.repeat(43))) }],
    ['no code', { back: changeQuery(query => query.delete('code')) }],
    ['the name of another issuer (RFC 9207)', { back: changeQuery(query => query.set('iss', 'https://evil.example')) }],
    ['no name of an issuer that gives it (RFC 9207)', { back: changeQuery(query => query.delete('iss')) }],
    ['an ID token with another nonce', { there: changeQuery(query => query.set('nonce', 'x'.repeat(43))) }],
    [
      'a code of another PKCE challenge',
      { there: changeQuery(query => query.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')) },
    ],
  ])('does not sign in with %s', async (_what, changes) => {
    const world = await startWorld()
    const browser = world.browser()
    const answer = await travel(world, browser, ADA.sub, changes)
    expect([answer.status, answer.html]).toEqual([
      400,
      expect.stringContaining('does not match a sign-in started here'),
    ])
    expect([await whoIs(browser), await usersOf(world)]).toEqual([undefined, []])
  })

  it('does not accept the callback of another browser, nor the same one twice', async () => {
    const world = await startWorld()
    const thief = world.browser()
    const victim = world.browser()
    const path = await visitProvider(
      world.provider.issuer,
      (await thief.get('/sign-in/external')).location ?? '',
      ADA.sub,
    )
    // The victim's browser, first without a pending sign-in, then with one of its own.
    expect((await victim.get(path)).status).toBe(400)
    await victim.get('/sign-in/external')
    expect((await victim.get(path)).status).toBe(400)
    expect(await whoIs(victim)).toBeUndefined()
    expect((await thief.get(path)).status).toBe(303)
    const replayed = await thief.get(path)
    expect([replayed.status, replayed.html]).toEqual([400, expect.stringContaining('is already complete')])
  })

  it('accepts one attempt: after a tampered callback, the original fails too', async () => {
    const world = await startWorld()
    const browser = world.browser()
    const { location = '' } = await browser.get('/sign-in/external')
    const path = await visitProvider(world.provider.issuer, location, ADA.sub)
    expect((await browser.get(changeQuery(query => query.set('state', 'x'))(path))).status).toBe(400)
    expect((await browser.get(path)).status).toBe(400)
    expect(await whoIs(browser)).toBeUndefined()
  })

  it('expires after ten minutes', async () => {
    const world = await startWorld()
    const browser = world.browser()
    const { location = '' } = await browser.get('/sign-in/external')
    const [kept] = await world.services.db.session.findMany()
    const left = (kept?.expiresAt.getTime() ?? 0) - Date.now()
    expect(left).toBeGreaterThan(9 * 60_000)
    expect(left).toBeLessThanOrEqual(10 * 60_000)
    const path = await visitProvider(world.provider.issuer, location, ADA.sub)
    await world.services.db.session.updateMany({ data: { expiresAt: new Date() } })
    expect((await browser.get(path)).status).toBe(400)
    expect(await whoIs(browser)).toBeUndefined()
  })

  it('uses a new session ID, so that a planted one gains nothing', async () => {
    const world = await startWorld()
    await world.services.accounts.createUser({ email: EMAIL, password: PASSWORD })
    const victim = world.browser()
    await victim.get('/sign-in/external')
    const seen = new Set(victim.cookies.values())
    await travel(world, victim, ADA.sub)
    const [atLink = ''] = victim.cookies.values()
    expect(seen).not.toContain(atLink)
    seen.add(atLink)
    await victim.submit('/sign-in/link', { password: PASSWORD })
    expect(await whoIs(victim)).toBe(EMAIL)
    for (const sid of seen) {
      const thief = world.browser()
      thief.cookies.set('sid', sid)
      expect(await whoIs(thief)).toBeUndefined()
      expect((await thief.get('/sign-in/link')).location).toBe('/sign-in')
    }
  })

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/%2f/evil.example', 'javascript:alert(1)'])(
    'leads nowhere else, as %s would',
    async returnTo => {
      const world = await startWorld()
      const browser = world.browser()
      const arrived = await travel(world, browser, ADA.sub, { returnTo })
      expect(arrived.location).toBe('/')
      expect((await browser.get(`/sign-in/external?${new URLSearchParams({ return_to: returnTo })}`)).location).toBe(
        '/',
      )
    },
  )

  it('is offered next to the password, and keeps the requested page', async () => {
    const world = await startWorld()
    for (const page of ['/sign-in', '/sign-up']) {
      const { html } = await world.browser().get(`${page}?return_to=%2Faccount`)
      expect(html).toMatch(/href="\/sign-in\/external\?return_to=%2Faccount">Continue with Example Login</)
    }
    const without = await startApp(anyDatabase)
    expect((await createPageBrowser(without.origin).get('/sign-in')).html).not.toContain('/sign-in/external')
  })
})

describe('a provider', () => {
  const begin = async (world: World) => {
    const answer = await world.browser().get('/sign-in/external')
    return { status: answer.status, html: answer.html }
  }
  const unavailable = { status: 503, html: expect.stringContaining('Example Login is not responding correctly') }
  const DISCOVERY = '/.well-known/openid-configuration'

  it('that is down affects nothing else, and is used once it is up', async () => {
    const provider = await prepareOpenIdProvider()
    const app = await startApp(anyDatabase, provider.settings)
    const world = { ...app, provider, browser: () => createPageBrowser(app.origin) }
    expect(await begin(world)).toEqual(unavailable)
    expect((await createBrowser(app.origin).signUp('operator@example.com', PASSWORD)).status).toBe(201)
    onTestFinished(await provider.listen(app.origin))
    provider.people.set(ADA.sub, ADA)
    const browser = world.browser()
    await travel(world, browser, ADA.sub)
    expect(await whoIs(browser)).toBe(EMAIL)
  })

  type Fault = Parameters<OpenIdProvider['faults']['set']>[1]
  const responds =
    (status: number, headers: Record<string, string>, body: string): Fault =>
    (_request, response) =>
      response.writeHead(status, headers).end(body)
  const endless: Fault = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const fill = (): void => {
      while (!response.destroyed && response.write(' '.repeat(64 * 1_024)));
    }
    response.on('drain', fill)
    fill()
  }

  it('that never responds, responds without an end or incorrectly cannot be used, and is asked again', async () => {
    const silent = await startWorld(startOwnAppWithProvider(anyDatabase))
    silent.provider.faults.set(DISCOVERY, () => undefined)
    const timedOut = begin(silent)
    const world = await startWorld(startOwnAppWithProvider(anyDatabase))
    const json = { 'content-type': 'application/json' }
    const faults: [string, Fault][] = [
      ['sends an endless response', endless],
      ['redirects elsewhere', responds(302, { location: 'http://127.0.0.1:1/' }, '')],
      ['fails', responds(500, {}, 'oops')],
      ['responds with a page', responds(200, { 'content-type': 'text/html' }, '<h1>Hello</h1>')],
      ['names another issuer', responds(200, json, '{"issuer":"https://evil.example"}')],
      ['lacks endpoints', responds(200, json, JSON.stringify({ issuer: world.provider.issuer }))],
    ]
    for (const [what, fault] of faults) {
      world.provider.faults.set(DISCOVERY, fault)
      expect([what, await begin(world)]).toEqual([what, unavailable])
    }
    world.provider.faults.clear()
    expect((await begin(world)).status).toBe(303)
    expect(await timedOut).toEqual(unavailable)
  })

  it.each([
    ['signs with a key that it does not publish', 'RS256'],
    ['does not sign at all', 'none'],
    ['signs with the client secret', 'HS256'],
  ])('that %s is not trusted', async (_what, alg) => {
    const world = await startWorld()
    const { privateKey } = await generateKeyPair('RS256')
    const browser = world.browser()
    const { location = '' } = await browser.get('/sign-in/external')
    const nonce = new URL(location).searchParams.get('nonce') ?? ''
    const path = await visitProvider(world.provider.issuer, location, ADA.sub)
    const claims = { ...ADA, nonce, iss: world.provider.issuer, aud: 'patchbay' }
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1_000)
    const forge = async (): Promise<string> => {
      if (alg === 'none') return `${encode({ alg })}.${encode({ ...claims, iat: now, exp: now + 60 })}.`
      const key = alg === 'HS256' ? new TextEncoder().encode(CLIENT_SECRET) : privateKey
      return new SignJWT(claims)
        .setProtectedHeader({ alg, kid: 'test' })
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key)
    }
    const answer = { access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token: await forge() }
    world.provider.faults.set('/token', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    expect((await browser.get(path)).status).toBe(400)
    expect([await whoIs(browser), await usersOf(world)]).toEqual([undefined, []])
  })

  it('that stops responding half-way does not sign in, and the error names it', async () => {
    const world = await startWorld()
    const browser = world.browser()
    const { location = '' } = await browser.get('/sign-in/external')
    const path = await visitProvider(world.provider.issuer, location, ADA.sub)
    world.provider.faults.set('/token', (_request, response) => response.destroy())
    expect(await browser.get(path)).toMatchObject(unavailable)
    expect(await whoIs(browser)).toBeUndefined()
  })
})
