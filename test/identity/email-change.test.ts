import { describe, expect, it } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { anyDatabase, databases } from './app.ts'
import { EMAIL, linkIn, type MailApp, NEW_PASSWORD, newPerson, PASSWORD, startMailApp } from './mail.ts'

const NEW_EMAIL = 'ada@new.example'
type Browser = Awaited<ReturnType<typeof newPerson>>['browser']

const ask = (browser: Browser, email = NEW_EMAIL, password = PASSWORD) =>
  browser.send('PUT', '/me/email', { email, password })

const follow = (app: MailApp, token: string) => createBrowser(app.origin).send('POST', '/email-changes', { token })

/** Asks for the change; answers the link of the letter to the new address, and the letter to the old one. */
const askAndRead = async (app: MailApp, browser: Browser, email = NEW_EMAIL) => {
  expect((await ask(browser, email)).status).toBe(202)
  const letter = await app.smtp.next()
  return { letter, token: linkIn(letter).token, notice: await app.smtp.next() }
}

describe.each(databases)('changing the address on $kind', database => {
  it('happens when the link that was sent to the new one is used, and the old one is told before', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { letter, token, notice } = await askAndRead(app, browser)
    expect(letter.to).toEqual([NEW_EMAIL])
    expect(notice.to).toEqual([EMAIL])
    expect(notice.text).toContain(NEW_EMAIL)
    expect(notice.text).not.toContain(token)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: EMAIL } })

    expect((await follow(app, token)).status).toBe(200)
    expect((await follow(app, token)).status).toBe(400)
    const signedIn = await createBrowser(app.origin).signIn(NEW_EMAIL, PASSWORD)
    expect(signedIn.json()).toMatchObject({ user: { email: NEW_EMAIL, emailVerifiedAt: expect.any(String) } })
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(401)
    expect(await app.services.db.auditEntry.findFirst({ where: { action: 'user.email_changed' } })).toMatchObject({
      actorEmail: EMAIL,
      change: { email: { from: EMAIL, to: NEW_EMAIL }, sessionsEnded: 1 },
    })
  })

  it('ends every session but the one that uses the link', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const other = createBrowser(app.origin)
    await other.signIn(EMAIL, PASSWORD)
    const { token } = await askAndRead(app, browser)
    expect((await browser.send('POST', '/email-changes', { token })).status).toBe(200)
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: NEW_EMAIL } })
    expect((await other.send('GET', '/me')).status).toBe(401)
  })

  it('by a link that is used where somebody else is signed in ends that account’s sessions, not theirs', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const stranger = await newPerson(app, 'eve@example.com')
    const { token } = await askAndRead(app, browser)
    expect((await stranger.browser.send('POST', '/email-changes', { token })).status).toBe(200)
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await stranger.browser.send('GET', '/me')).status).toBe(200)
  })

  it('to an address that has an account is answered the same, and its mail tells whose it is', async () => {
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

  it('to an address that somebody took meanwhile fails as a link that is over does', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { token } = await askAndRead(app, browser)
    await newPerson(app, NEW_EMAIL)
    const refused = await follow(app, token)
    const unknown = await follow(app, 'x'.repeat(43))
    expect([refused.status, refused.text]).toEqual([unknown.status, unknown.text])
    expect((await browser.send('GET', '/me')).json()).toMatchObject({ user: { email: EMAIL } })
  })

  it('of two accounts to one address goes to one of them', async () => {
    const app = await startMailApp(database)
    const one = await newPerson(app)
    const other = await newPerson(app, 'eve@example.com')
    const tokens = [(await askAndRead(app, one.browser)).token, (await askAndRead(app, other.browser)).token]
    const answers = await Promise.all(tokens.map(token => follow(app, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })
})

describe('changing the address', () => {
  it('takes the password', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    expect((await ask(browser, NEW_EMAIL, 'wrong password')).status).toBe(403)
    await app.services.accounts.close()
    expect(app.smtp.received).toHaveLength(1)
  })

  it('is undone before it happens by another password, and by another wish', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const first = await askAndRead(app, browser, 'first@new.example')
    const second = await askAndRead(app, browser, 'second@new.example')
    expect((await follow(app, first.token)).status).toBe(400)
    await browser.send('PUT', '/me/password', { currentPassword: PASSWORD, password: NEW_PASSWORD })
    expect((await follow(app, second.token)).status).toBe(400)
  })

  it('ends links for a new password that went to the old address', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const { token } = await askAndRead(app, browser)
    await createBrowser(app.origin).send('POST', '/password-resets', { email: EMAIL })
    const reset = linkIn(await app.smtp.next())
    await follow(app, token)
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
  ])('to %j is refused, and nothing is sent', async (email, status) => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const answer = await ask(browser, email)
    expect(answer.status).toBe(status)
    expect(answer.json()).toMatchObject({ errors: [{ path: 'email' }] })
    await app.services.accounts.close()
    expect(app.smtp.received).toHaveLength(1)
  })

  it('to the address of the demo sends no link', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    expect((await ask(browser, 'demo@patchbay.internal')).status).toBe(202)
    await app.services.accounts.close()
    expect(app.smtp.received.some(({ text }) => text.includes('/change-email'))).toBe(false)
  })
})
