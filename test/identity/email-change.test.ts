import { describe, expect, it } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { anyDatabase, databasesOfRun, EMAIL, NEW_PASSWORD, PASSWORD } from './app.ts'
import { linkIn, type MailApp, newPerson, startMailApp } from './mail.ts'

const NEW_EMAIL = 'ada@new.example'
type Browser = Awaited<ReturnType<typeof newPerson>>['browser']

const ask = (browser: Browser, email = NEW_EMAIL, password = PASSWORD) =>
  browser.send('PUT', '/me/email', { email, password })

const follow = (browser: Browser, token: string) => browser.send('POST', '/email-changes', { token })

/** Requests the change. Returns the link sent to the new email address and the message sent to the old one. */
const askAndRead = async (app: MailApp, browser: Browser, email = NEW_EMAIL) => {
  expect((await ask(browser, email)).status).toBe(202)
  const letter = await app.smtp.next()
  return { letter, token: linkIn(letter).token, notice: await app.smtp.next() }
}

describe.each(databasesOfRun)('changing the email on $kind', database => {
  it('takes effect when the link sent to the new email is used, and the old one is notified before', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { letter, token, notice } = await askAndRead(app, browser)
    expect(letter.to).toEqual([NEW_EMAIL])
    expect(notice.to).toEqual([EMAIL])
    expect(notice.text).toContain(NEW_EMAIL)
    expect(notice.text).not.toContain(token)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: EMAIL } })

    expect((await follow(browser, token)).status).toBe(200)
    expect((await follow(browser, token)).status).toBe(400)
    const signedIn = await createBrowser(app.origin).signIn(NEW_EMAIL, PASSWORD)
    expect(signedIn.json()).toMatchObject({ user: { email: NEW_EMAIL, emailVerifiedAt: expect.any(String) } })
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(401)
    expect(await app.services.db.auditEntry.findFirst({ where: { action: 'user.email_changed' } })).toMatchObject({
      actorEmail: EMAIL,
      change: { email: { from: EMAIL, to: NEW_EMAIL }, sessionsEnded: 0 },
    })
  })

  it('ends every session except the one that uses the link', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const other = createBrowser(app.origin)
    await other.signIn(EMAIL, PASSWORD)
    const { token } = await askAndRead(app, browser)
    expect((await browser.send('POST', '/email-changes', { token })).status).toBe(200)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: NEW_EMAIL } })
    expect((await other.send('GET', '/me')).status).toBe(401)
  })

  it('requires a session of the account, and a refused attempt does not use up the link', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const stranger = await newPerson(app, 'eve@example.com')
    const { letter, token } = await askAndRead(app, browser)
    expect(letter.text).toContain(`sign in as ${EMAIL}`)
    expect((await follow(createBrowser(app.origin), token)).status).toBe(401)
    const refused = await follow(stranger.browser, token)
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('another account')
    expect(refused.text).not.toContain(EMAIL)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: EMAIL } })
    expect((await stranger.browser.send('GET', '/me')).json()).toMatchObject({ user: { email: 'eve@example.com' } })
    expect((await follow(browser, token)).status).toBe(200)
  })

  it('to an email that has an account gets the same response, and only its mailbox is told', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    await newPerson(app, 'eve@example.com')
    const free = await ask(browser)
    await app.smtp.next()
    await app.smtp.next()
    const taken = await ask(browser, 'eve@example.com')
    expect([taken.status, taken.text]).toEqual([free.status, free.text])
    const letter = await app.smtp.next()
    expect(letter.to).toEqual(['eve@example.com'])
    expect(letter.text).not.toContain('token=')
    expect(await app.services.db.mailedLink.findMany({ where: { purpose: 'change_email' } })).toEqual([])
  })

  it('to an email that has been taken meanwhile fails like an expired link', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { token } = await askAndRead(app, browser)
    await newPerson(app, NEW_EMAIL)
    const refused = await follow(browser, token)
    const unknown = await follow(browser, 'x'.repeat(43))
    expect([refused.status, withoutRequestId(refused.json())]).toEqual([
      unknown.status,
      withoutRequestId(unknown.json()),
    ])
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: EMAIL } })
  })

  it('of two accounts to the same email succeeds for one of them', async () => {
    const app = await startMailApp(database)
    const one = await newPerson(app)
    const other = await newPerson(app, 'eve@example.com')
    const first = await askAndRead(app, one.browser)
    const second = await askAndRead(app, other.browser)
    const answers = await Promise.all([follow(one.browser, first.token), follow(other.browser, second.token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })
})

describe('changing the email', () => {
  it('requires the password', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    expect((await ask(browser, NEW_EMAIL, 'wrong password')).status).toBe(403)
    await app.services.accounts.close()
    expect(app.smtp.received).toHaveLength(1)
  })

  it('is canceled by a password change, and by another request', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const first = await askAndRead(app, browser, 'first@new.example')
    const second = await askAndRead(app, browser, 'second@new.example')
    expect((await follow(browser, first.token)).status).toBe(400)
    await browser.send('PUT', '/me/password', { currentPassword: PASSWORD, password: NEW_PASSWORD })
    await browser.loadCsrfToken()
    expect((await follow(browser, second.token)).status).toBe(400)
  })

  it('invalidates password reset links sent to the old email', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const { token } = await askAndRead(app, browser)
    await createBrowser(app.origin).send('POST', '/password-resets', { email: EMAIL })
    const reset = linkIn(await app.smtp.next())
    await follow(browser, token)
    const answer = await createBrowser(app.origin).send('PUT', '/password-resets', {
      token: reset.token,
      password: NEW_PASSWORD,
    })
    expect(answer.status).toBe(400)
  })

  it.each([
    ['no address', 400],
    [EMAIL, 400],
    ['ada@example.com\r\nBcc: eve@example.net', 400],
    ['ada@example.com,eve@example.net', 400],
    ['"ada\r\n"@example.com', 400],
  ])('to %j is rejected, and nothing is sent', async (email, status) => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const answer = await ask(browser, email)
    expect(answer.status).toBe(status)
    expect(answer.json()).toMatchObject({ errors: [{ path: 'email' }] })
    await app.services.accounts.close()
    expect(app.smtp.received).toHaveLength(1)
  })

  it('to the demo’s email sends no link', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    expect((await ask(browser, 'demo@patchbay.internal')).status).toBe(202)
    await app.services.accounts.close()
    expect(app.smtp.received.some(({ text }) => text.includes('/change-email'))).toBe(false)
  })
})
