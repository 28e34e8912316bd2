import { describe, expect, it, onTestFinished } from 'vitest'
import { LINKS, type LinkPurpose, makeLinkToken } from '../../src/identity/mail/mailed-links.ts'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { anyDatabase, databasesOfRun, EMAIL, makeToken, NEW_PASSWORD, PASSWORD, startApp } from './app.ts'
import { linkIn, type MailApp, newPerson, startMailApp } from './mail.ts'
import { prepareOpenIdProvider, visitProvider } from './openid-provider.ts'
import { turnOn } from './second-factor.ts'

const LONG = { name: 'long', expiresInDays: 2 }
const SHORT = { name: 'short', expiresInDays: 1 }

/** Starts Patchbay with mail and an external provider. */
const startMailAppWithProvider = async () => {
  const provider = await prepareOpenIdProvider()
  const app = await startMailApp(anyDatabase, provider.settings)
  onTestFinished(await provider.listen(app.origin))
  return { ...app, provider }
}

/** Fills an account, while its email counts as confirmed, with everything that gives access to it. */
const fillAccount = async (app: MailApp, browser: ReturnType<typeof createBrowser>) => {
  const { db } = app.services
  const { id: userId } = await db.user.findUniqueOrThrow({ where: { email: EMAIL } })
  await db.user.update({ where: { id: userId }, data: { emailVerifiedAt: new Date() } })
  await turnOn(browser, PASSWORD)
  const token = await makeToken(browser)
  await db.externalIdentity.create({ data: { userId, issuer: 'https://login.example', subject: 'mallory' } })
  await db.oAuthArtifact.create({ data: { kind: 'Grant', handleHash: 'one', payload: {}, userId } })
  await db.user.update({ where: { id: userId }, data: { emailVerifiedAt: null } })
  const change = { email: 'mallory@example.com', password: PASSWORD }
  expect((await browser.send('PUT', '/me/email', change)).status).toBe(202)
  await app.smtp.next()
  await app.smtp.next()
  return { userId, token }
}

/** Counts what gives access to the account. */
const countAccess = async ({ services: { db } }: MailApp, userId: string) => {
  const where = { userId }
  const counts = [db.session, db.accessToken, db.secondFactor, db.recoveryCode, db.externalIdentity]
  const artifacts = await db.oAuthArtifact.count({ where })
  const links = await db.mailedLink.count({ where: { ...where, usedAt: null } })
  return [...(await Promise.all(counts.map(table => Reflect.apply(table.count, table, [{ where }])))), artifacts, links]
}

const resetPassword = async (app: MailApp, rest: object = {}) => {
  const stranger = createBrowser(app.origin)
  await stranger.send('POST', '/password-resets', { email: EMAIL })
  const { token } = linkIn(await app.smtp.next())
  expect((await stranger.send('PUT', '/password-resets', { token, password: NEW_PASSWORD, ...rest })).status).toBe(204)
}

describe.each(databasesOfRun)('an account whose email nobody has confirmed on $kind', database => {
  it('can have no second factor and no token of more than a day, until the link is opened in its browser', async () => {
    const app = await startMailApp(database)
    const { browser, welcome } = await newPerson(app)
    const confirmFirst = expect.stringContaining('Confirm your email before you')
    const second = await browser.send('POST', '/me/second-factor', { password: PASSWORD })
    expect([second.status, second.json()]).toMatchObject([409, { detail: confirmFirst }])
    const code = await browser.send('POST', '/me/second-factor/confirmation', { code: '123456' })
    expect([code.status, code.json()]).toMatchObject([409, { detail: confirmFirst }])
    for (const input of [LONG, { name: 'default' }]) {
      const refused = await browser.send('POST', '/tokens', input)
      expect([refused.status, refused.json()]).toMatchObject([
        409,
        { detail: confirmFirst, errors: [{ path: 'expiresInDays', message: expect.stringContaining('must be 1') }] },
      ])
    }
    const made = await browser.send('POST', '/tokens', SHORT)
    expect(made.status).toBe(201)

    const { token } = linkIn(welcome)
    expect((await browser.send('POST', '/email-verifications', { token })).status).toBe(200)
    expect((await browser.send('GET', '/me')).status).toBe(200)
    expect((await browser.send('GET', '/tokens')).json()).toMatchObject({ items: [{ name: 'short' }] })
    expect((await browser.send('POST', '/tokens', LONG)).status).toBe(201)
    await turnOn(browser, PASSWORD)
  })

  it('loses all that was set up before when the link is opened elsewhere', async () => {
    const app = await startMailApp(database)
    const { browser, welcome } = await newPerson(app)
    const { userId, token } = await fillAccount(app, browser)
    expect(await countAccess(app, userId)).toEqual([1, 1, 1, 10, 1, 1, 2])
    const another = await newPerson(app, 'eve@example.com')
    const { token: link } = linkIn(welcome)
    const answer = await another.browser.send('POST', '/email-verifications', { token: link })
    expect([answer.status, answer.json()]).toEqual([200, { email: EMAIL }])
    expect(await countAccess(app, userId)).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await createApiClient(app.origin, token).send('GET', '/me')).status).toBe(401)
    expect((await another.browser.send('GET', '/me')).status).toBe(200)
    expect(
      await app.services.db.auditEntry.findFirst({ where: { action: 'user.email_verified', targetId: userId } }),
    ).toMatchObject({
      change: { sessionsEnded: 1, tokensRemoved: 1, grantsEnded: 1, secondFactorRemoved: true, identitiesRemoved: 1 },
    })
    // Whoever created the account cannot come back, and whoever receives its mail can.
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(401)
    await resetPassword(app)
    expect((await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)).status).toBe(200)
  })

  it('loses all that was set up before when the password is reset, even if it should be kept', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { userId, token } = await fillAccount(app, browser)
    await resetPassword(app, { revokeAll: false })
    expect(await countAccess(app, userId)).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect((await createApiClient(app.origin, token).send('GET', '/me')).status).toBe(401)
    expect((await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)).status).toBe(200)
    expect((await app.smtp.next()).text).toContain('two-factor authentication')
  })

  it.each([
    ['by default revokes tokens and applications', {}, 0, 'have lost access'],
    ['can keep tokens and applications', { revokeAll: false }, 1, 'still work'],
  ])('once it is confirmed, a reset keeps its second factor and %s', async (_what, rest, left, notice) => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { userId } = await fillAccount(app, browser)
    await app.services.db.user.update({ where: { id: userId }, data: { emailVerifiedAt: new Date() } })
    await resetPassword(app, rest)
    expect(await countAccess(app, userId)).toEqual([0, left, 1, 10, 1, left, 0])
    const signedIn = await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)
    expect([signedIn.status, signedIn.json()]).toMatchObject([401, { errors: [{ path: 'code' }] }])
    expect((await app.smtp.next()).text).toContain(notice)
  })
})

describe('an email counts as confirmed', () => {
  const mayHaveLongToken = async (browser: ReturnType<typeof createBrowser>): Promise<boolean> =>
    (await browser.send('POST', '/tokens', LONG)).status === 201

  it('if the installation does not send mail', async () => {
    const { origin, services } = await startApp(anyDatabase)
    const browser = createBrowser(origin)
    await browser.signUp(EMAIL, PASSWORD)
    await browser.loadCsrfToken()
    expect(await mayHaveLongToken(browser)).toBe(true)
    await turnOn(browser, PASSWORD)
    // The operator passes on links from the outbox. They end no more than for a confirmed email.
    const { id: userId } = await services.db.user.findFirstOrThrow()
    const makeLink = async (purpose: LinkPurpose) => {
      const { token, tokenHash } = makeLinkToken()
      const expiresAt = new Date(Date.now() + LINKS[purpose].ttlMs)
      await services.db.mailedLink.create({ data: { userId, purpose, email: EMAIL, tokenHash, expiresAt } })
      return token
    }
    const stranger = createBrowser(origin)
    const reset = { token: await makeLink('reset_password'), password: NEW_PASSWORD, revokeAll: false }
    expect((await stranger.send('PUT', '/password-resets', reset)).status).toBe(204)
    expect([await services.db.secondFactor.count(), await services.db.accessToken.count()]).toEqual([1, 1])
    await services.db.user.updateMany({ data: { emailVerifiedAt: null } })
    const token = await makeLink('verify_email')
    expect((await stranger.send('POST', '/email-verifications', { token })).status).toBe(200)
    expect([await services.db.secondFactor.count(), await services.db.accessToken.count()]).toEqual([1, 1])
  })

  it('if the account was made on the command line', async () => {
    const app = await startMailApp(anyDatabase)
    const user = await app.services.accounts.createUser({ email: EMAIL, password: PASSWORD })
    expect(user.emailVerifiedAt).not.toBeNull()
    const browser = createBrowser(app.origin)
    await browser.signIn(EMAIL, PASSWORD)
    await browser.loadCsrfToken()
    expect(await mayHaveLongToken(browser)).toBe(true)
  })

  it('if the account was made with the setup token, but not for the next account', async () => {
    const app = await startMailApp(anyDatabase, { PATCHBAY_TRUST_PROXY: '192.0.2.0/24' })
    for (const [email, isConfirmed] of [
      [EMAIL, true],
      ['bob@example.com', false],
    ] as const) {
      const browser = createBrowser(app.origin)
      await browser.signUp(email, PASSWORD)
      await browser.loadCsrfToken()
      expect(await mayHaveLongToken(browser)).toBe(isConfirmed)
    }
    await app.services.accounts.close()
    expect(app.smtp.received.map(({ to }) => to)).toEqual([['bob@example.com']])
  })

  it('if an identity for whose email the provider vouches is linked with the password, but not before', async () => {
    const app = await startMailAppWithProvider()
    const { browser } = await newPerson(app)
    const refused = await browser.send('POST', '/me/identities', { password: PASSWORD })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Confirm your email before you')])

    app.provider.people.set('ada', { sub: 'ada', email: EMAIL, email_verified: true })
    const pages = createPageBrowser(app.origin)
    const { location = '' } = await pages.get('/sign-in/external')
    await pages.get(await visitProvider(app.provider.issuer, location, 'ada'))
    expect((await pages.submit('/sign-in/link', { password: 'wrong password' })).status).toBe(401)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { emailVerifiedAt: null } })
    expect((await pages.submit('/sign-in/link', { password: PASSWORD })).status).toBe(303)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { emailVerifiedAt: expect.any(String) } })
    expect(await mayHaveLongToken(browser)).toBe(true)
  })
})
