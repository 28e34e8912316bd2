import { describe, expect, it } from 'vitest'
import { type BrowserAnswer, createBrowser } from '../support/browser.ts'
import {
  anyDatabase,
  auditOf,
  BEHIND_PROXY,
  databasesOfRun,
  EMAIL,
  NEW_PASSWORD,
  PASSWORD,
  signUpInBrowser,
} from './app.ts'
import { linkIn, type MailApp, newPerson, startMailApp } from './mail.ts'

const askForReset = (app: MailApp, email = EMAIL, address?: string) =>
  createBrowser(app.origin, address === undefined ? {} : { address }).send('POST', '/password-resets', { email })

const tokenFor = async (app: MailApp): Promise<string> => {
  await askForReset(app)
  return linkIn(await app.smtp.next()).token
}

const reset = (app: MailApp, token: string, password = NEW_PASSWORD) =>
  createBrowser(app.origin).send('PUT', '/password-resets', { token, password })

describe.each(databasesOfRun)('a forgotten password on $kind', database => {
  it('is replaced through a link, which ends all sessions, links and grants and does not sign in', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { db } = app.services
    const user = await db.user.findFirstOrThrow()
    for (const kind of ['Grant', 'RefreshToken', 'AccessToken']) {
      await db.oAuthArtifact.create({ data: { kind, handleHash: kind, payload: {}, userId: user.id } })
    }
    const token = await tokenFor(app)
    const other = await tokenFor(app)

    const done = await reset(app, token)
    expect(done.status).toBe(204)
    expect(done.headers.getSetCookie()).toEqual([])
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect(await db.session.count()).toBe(0)
    expect(await db.mailedLink.count()).toBe(0)
    expect(await db.oAuthArtifact.count()).toBe(0)
    expect((await reset(app, token)).status).toBe(400)
    expect((await reset(app, other)).status).toBe(400)
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(401)
    expect((await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)).status).toBe(200)

    const notice = await app.smtp.next()
    expect(notice.headers).toContain('Subject: Your password for Patchbay was changed')
    expect(notice.text).not.toContain('token=')
    expect(await db.auditEntry.findFirst({ where: { action: 'user.password_reset' } })).toMatchObject({
      actorEmail: EMAIL,
      change: { sessionsEnded: 1, grantsEnded: 1, tokensRemoved: 0, secondFactorRemoved: false, identitiesRemoved: 0 },
    })
    expect(JSON.stringify(await db.auditEntry.findMany())).not.toMatch(new RegExp(`${token}|${NEW_PASSWORD}`))
  })

  it('confirms the email that the link was sent to', async () => {
    const app = await startMailApp(database)
    await newPerson(app)
    await reset(app, await tokenFor(app))
    expect((await app.services.db.user.findFirstOrThrow()).emailVerifiedAt).toBeInstanceOf(Date)
  })

  it('gets the same response whether or not the account exists', async () => {
    const app = await startMailApp(database)
    await newPerson(app)
    const shown = ({ status, text, headers }: BrowserAnswer) => ({
      status,
      text,
      headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
    })
    const known = shown(await askForReset(app))
    expect(shown(await askForReset(app, 'nobody@example.com'))).toEqual(known)
    expect(shown(await askForReset(app, 'demo@patchbay.internal'))).toEqual(known)
    expect(known.status).toBe(202)
    expect((await app.smtp.next()).to).toEqual([EMAIL])
    await app.services.accounts.close()
    expect(app.smtp.received).toHaveLength(2)
  })

  it.each([EMAIL, 'nobody@example.com'])('can be reset five times an hour for %s, whoever requests it', async email => {
    const app = await startMailApp(database, { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128' })
    await signUpInBrowser(app, 'operator@example.com')
    await newPerson(app)
    const statuses: number[] = []
    for (let count = 0; count < 6; count++) statuses.push((await askForReset(app, email, `192.0.2.${count}`)).status)
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429])
  })

  it('is replaced once if many use the link concurrently', async () => {
    const app = await startMailApp(database)
    await newPerson(app)
    const token = await tokenFor(app)
    const passwords = ['first password', 'second password', 'third password']
    const answers = await Promise.all(passwords.map(password => reset(app, token, password)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400])
  })
})

describe('a forgotten password', () => {
  it('can be reset thirty times an hour from one network', async () => {
    const app = await startMailApp(anyDatabase)
    const statuses: number[] = []
    for (let count = 0; count < 31; count++)
      statuses.push((await askForReset(app, `nobody${count}@example.com`)).status)
    expect(statuses).toEqual([...Array(30).fill(202), 429])
  })

  it('cannot be replaced by a password that is too short, and the link stays valid', async () => {
    const app = await startMailApp(anyDatabase)
    await newPerson(app)
    const token = await tokenFor(app)
    expect((await reset(app, token, 'short')).status).toBe(400)
    expect((await reset(app, token)).status).toBe(204)
  })

  it('cannot be replaced after half an hour', async () => {
    const app = await startMailApp(anyDatabase)
    await newPerson(app)
    const token = await tokenFor(app)
    const { expiresAt } = await app.services.db.mailedLink.findFirstOrThrow({ where: { purpose: 'reset_password' } })
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(30 * 60_000)
    await app.services.db.mailedLink.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } })
    expect((await reset(app, token)).status).toBe(400)
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(200)
  })

  it('no longer blocks the user once it is replaced', async () => {
    const app = await startMailApp(anyDatabase)
    await newPerson(app)
    for (let count = 0; count < 10; count++) await createBrowser(app.origin).signIn(EMAIL, 'wrong password')
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(429)
    await reset(app, await tokenFor(app))
    expect((await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)).status).toBe(200)
    expect(await auditOf(app)).toContain('user.password_reset')
  })

  it('lets the user in on every process once it is replaced, even after a hundred failures from other addresses', async () => {
    const app = await startMailApp(anyDatabase, BEHIND_PROXY)
    const another = await app.startAnother(BEHIND_PROXY)
    await signUpInBrowser(app)
    const signIn = (origin: string, address: string, password: string) =>
      createBrowser(origin, { address }).signIn(EMAIL, password)
    expect((await signIn(app.origin, '198.51.100.1', 'wrong password')).status).toBe(401)
    // Records the other 99 attempts directly, without hashing passwords.
    const ninetyNine = { data: { points: { increment: 99 } }, where: { key: { startsWith: 'sign-in-account:' } } }
    expect((await app.services.db.counter.updateMany(ninetyNine)).count).toBe(1)
    for (const { origin } of [app, another]) {
      expect((await signIn(origin, '198.51.100.2', PASSWORD)).status).toBe(429)
    }
    await reset(app, await tokenFor(app))
    for (const { origin } of [app, another]) {
      await expect
        .poll(async () => (await signIn(origin, '198.51.100.2', NEW_PASSWORD)).status, { timeout: 5_000 })
        .toBe(200)
    }
  })

  it('is reset by an email that is sent before Patchbay stops, if it was requested before', async () => {
    const app = await startMailApp(anyDatabase)
    await newPerson(app)
    await askForReset(app)
    await app.services.accounts.close()
    expect(app.smtp.received.at(-1)?.headers).toContain('Subject: Set a new password for Patchbay')
  })
})
