import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { anyDatabase, databasesOfRun, EMAIL, makeToken, PASSWORD, signUpInBrowser, startApp } from './app.ts'
import { linkIn, startMailApp } from './mail.ts'
import {
  prepareOpenIdProvider,
  startAppWithProvider,
  startOwnAppWithProvider,
  visitProvider,
} from './openid-provider.ts'

/** Her email at the provider differs and is unverified, because linking must not depend on the email. */
const ADA = { sub: 'ada-at-provider', email: 'ada@elsewhere.example', email_verified: false }

const Identities = z.object({ items: z.array(z.looseObject({ id: z.string() })) })
const NewIdentity = z.object({ url: z.string() })

type Browser = ReturnType<typeof createBrowser>

/** Starts Patchbay with a provider and an account whose email is confirmed. `browser` is signed in to the account. */
const startWorld = async (starting = startAppWithProvider(anyDatabase)) => {
  const app = await starting
  const { provider } = app
  provider.people.set(ADA.sub, ADA)
  const browser = await signUpInBrowser(app)
  await app.services.db.user.updateMany({ data: { emailVerifiedAt: new Date() } })

  const begin = (by: Browser, body: object = { password: PASSWORD }) => by.send('POST', '/me/identities', body)
  /** Returns a page browser that shares the session of an API browser. */
  const pagesOf = (by: Browser) => {
    const pages = createPageBrowser(app.origin)
    for (const [name, value] of by.cookies) pages.cookies.set(name, value)
    return pages
  }
  const link = async (by: Browser, sub = ADA.sub, body?: object) => {
    const begun = await begin(by, body)
    const path = await visitProvider(provider.issuer, NewIdentity.parse(begun.json()).url, sub)
    return pagesOf(by).get(path)
  }
  const list = async (by: Browser) => Identities.parse((await by.send('GET', '/me/identities')).json()).items
  /** Signs in through the provider. Returns the email of the signed-in user, or undefined if nobody is signed in. */
  const comeAs = async (sub: string): Promise<string | undefined> => {
    const pages = createPageBrowser(app.origin)
    const { location = '' } = await pages.get('/sign-in/external')
    await pages.get(await visitProvider(provider.issuer, location, sub))
    const { status, html } = await pages.get('/api/v1/me')
    return status === 200 ? JSON.parse(html).user.email : undefined
  }
  return { ...app, browser, begin, pagesOf, link, list, comeAs }
}

describe.each(databasesOfRun)('an identity at the external provider on $kind', database => {
  it('is linked by a signed-in user with their password, signs them in, and can be unlinked', async () => {
    const { browser, provider, link, list, comeAs, services } = await startWorld(startAppWithProvider(database))
    expect(await comeAs(ADA.sub)).toBeUndefined()
    const linked = await link(browser, ADA.sub, { password: PASSWORD, returnTo: '/account' })
    expect([linked.status, linked.location]).toEqual([303, '/account'])
    const [identity] = await list(browser)
    expect(identity).toMatchObject({ issuer: provider.issuer, subject: ADA.sub })
    expect(await comeAs(ADA.sub)).toBe(EMAIL)
    // Linking the identity again changes nothing.
    expect((await link(browser)).status).toBe(303)
    expect(await list(browser)).toHaveLength(1)
    expect((await browser.send('DELETE', `/me/identities/${identity?.id}`)).status).toBe(204)
    expect([await list(browser), await comeAs(ADA.sub)]).toEqual([[], undefined])
    const audited = await services.db.auditEntry.findMany({ where: { action: { startsWith: 'user.identity_' } } })
    expect(audited).toMatchObject([
      { action: 'user.identity_linked', actorEmail: EMAIL, change: { subject: ADA.sub } },
      { action: 'user.identity_unlinked', actorEmail: EMAIL, change: { subject: ADA.sub } },
    ])
  })

  it('belongs to one account, and is hidden from and protected against other users', async () => {
    const { origin, browser, link, list, comeAs, services } = await startWorld(startAppWithProvider(database))
    await link(browser)
    const [identity] = await list(browser)
    const eve = await signUpInBrowser({ origin }, 'eve@example.com')
    await services.db.user.updateMany({ data: { emailVerifiedAt: new Date() } })
    expect(await list(eve)).toEqual([])
    expect((await eve.send('DELETE', `/me/identities/${identity?.id}`)).status).toBe(404)
    const refused = await link(eve)
    expect([refused.status, refused.html]).toEqual([409, expect.stringContaining('Another account is already linked')])
    expect(await comeAs(ADA.sub)).toBe(EMAIL)
  })
})

describe('linking an external identity', () => {
  it('requires the password, a session and its CSRF token', async () => {
    const { origin, browser, begin, list } = await startWorld()
    for (const [body, status] of [
      [{}, 400],
      [{ password: 'wrong password' }, 403],
    ] as const) {
      const answer = await begin(browser, body)
      expect([answer.status, answer.json()]).toEqual([
        status,
        expect.objectContaining({ errors: [expect.objectContaining({ path: 'password' })] }),
      ])
    }
    const byToken = createApiClient(origin, await makeToken(browser))
    expect((await byToken.send('POST', '/me/identities', { password: PASSWORD })).status).toBe(401)
    const withoutCsrf = createBrowser(origin)
    for (const [name, value] of browser.cookies) withoutCsrf.cookies.set(name, value)
    expect((await begin(withoutCsrf)).status).toBe(403)
    expect(await list(browser)).toEqual([])
  })

  it('works only in the session that began it', async () => {
    const { origin, provider, browser, begin, pagesOf, list } = await startWorld()
    const { url } = NewIdentity.parse((await begin(browser)).json())
    const path = await visitProvider(provider.issuer, url, ADA.sub)
    const other = createBrowser(origin)
    await other.signUp('eve@example.com', PASSWORD)
    expect((await pagesOf(other).get(path)).status).toBe(400)
    expect((await createPageBrowser(origin).get(path)).status).toBe(400)
    // Meanwhile, another user has signed in with the same browser.
    await browser.signIn('eve@example.com', PASSWORD)
    expect((await pagesOf(browser).get(path)).status).toBe(400)
    expect([await list(browser), await list(other)]).toEqual([[], []])
  })

  it('does not count wrong passwords while the provider is down', async () => {
    const { browser, begin, provider } = await startWorld(startOwnAppWithProvider(anyDatabase))
    provider.faults.set('/.well-known/openid-configuration', (_request, response) => response.destroy())
    for (let count = 0; count < 11; count++) expect((await begin(browser)).status).toBe(503)
    provider.faults.clear()
    expect((await begin(browser)).status).toBe(200)
  })

  it('redirects only to Patchbay afterwards', async () => {
    const { browser, link } = await startWorld()
    const linked = await link(browser, ADA.sub, { password: PASSWORD, returnTo: '//evil.example/' })
    expect(linked.location).toBe('/')
  })

  it('is not possible if no provider is set up', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    await app.services.db.user.updateMany({ data: { emailVerifiedAt: new Date() } })
    expect((await browser.send('POST', '/me/identities', { password: PASSWORD })).status).toBe(404)
  })
})

describe('the only way to sign in', () => {
  it('cannot be unlinked from an account without a password, which can be linked to more identities', async () => {
    const { origin, provider, list, services } = await startWorld()
    provider.people.set('new', { sub: 'new', email: 'new@example.com', email_verified: true })
    const pages = createPageBrowser(origin)
    const { location = '' } = await pages.get('/sign-in/external')
    await pages.get(await visitProvider(provider.issuer, location, 'new'))
    const browser = createBrowser(origin)
    for (const [name, value] of pages.cookies) browser.cookies.set(name, value)
    await browser.loadCsrfToken()
    const [first] = await list(browser)
    const refused = await browser.send('DELETE', `/me/identities/${first?.id}`)
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Set a password first')])
    expect(await list(browser)).toHaveLength(1)
    // The account has no password, so it cannot have a second factor either: removing one requires a password.
    expect((await browser.send('POST', '/me/second-factor', { password: PASSWORD })).status).toBe(409)

    const { url } = NewIdentity.parse((await browser.send('POST', '/me/identities', {})).json())
    await pages.get(await visitProvider(provider.issuer, url, ADA.sub))
    expect(await list(browser)).toHaveLength(2)
    expect((await browser.send('DELETE', `/me/identities/${first?.id}`)).status).toBe(204)
    const audited = await services.db.auditEntry.findMany({ where: { action: 'user.identity_unlinked' } })
    expect(audited).toHaveLength(1)
  })

  it('can be unlinked after the user has set a password by email', async () => {
    const provider = await prepareOpenIdProvider()
    const app = await startMailApp(anyDatabase, provider.settings)
    onTestFinished(await provider.listen(app.origin))
    provider.people.set('new', { sub: 'new', email: EMAIL, email_verified: true })
    const pages = createPageBrowser(app.origin)
    const { location = '' } = await pages.get('/sign-in/external')
    await pages.get(await visitProvider(provider.issuer, location, 'new'))
    await pages.submit('/forgot-password', { email: EMAIL })
    const { token } = linkIn(await app.smtp.next())
    const browser = createBrowser(app.origin)
    expect((await browser.send('PUT', '/password-resets', { token, password: PASSWORD })).status).toBe(204)
    await browser.signIn(EMAIL, PASSWORD)
    await browser.loadCsrfToken()
    const [identity] = Identities.parse((await browser.send('GET', '/me/identities')).json()).items
    expect((await browser.send('DELETE', `/me/identities/${identity?.id}`)).status).toBe(204)
  })

  it('includes the password once there is one', async () => {
    const { browser, link, list } = await startWorld()
    await link(browser)
    const [identity] = await list(browser)
    expect((await browser.send('DELETE', `/me/identities/${identity?.id}`)).status).toBe(204)
  })
})
