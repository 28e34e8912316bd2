import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { linkIn } from '../../identity/mail.ts'
import { createPageBrowser, inputsOf } from '../../support/page-browser.ts'
import { SETUP_TOKEN } from '../../support/setup-token.ts'
import type { SmtpServer } from '../../support/smtp-server.ts'
import { runPatchbay, startWorld } from '../../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const PASSWORD = 'correct horse battery staple'
const NEW_PASSWORD = 'another horse another staple'

// A message of an earlier test may arrive late.
const start = async (env: Record<string, string> = {}) => {
  const app = await startWorld({ hasMail: true, isOwn: true, env })
  onTestFinished(app.close)
  return app
}

const newPerson = async ({ origin, smtp }: { origin: string; smtp: SmtpServer }, email = 'ada@example.com') => {
  const browser = createPageBrowser(origin)
  await browser.submit('/sign-up', { email, password: PASSWORD, setup_token: SETUP_TOKEN })
  await browser.get('/account')
  return { browser, email, welcome: await smtp.next() }
}

const pathOf = ({ url }: ReturnType<typeof linkIn>) => `${url.pathname}${url.search}`

describe('the page of an emailed link', () => {
  it('confirms an email when its button is pressed, not when it is opened', async () => {
    const app = await start()
    const { browser, welcome } = await newPerson(app)
    const link = linkIn(welcome)
    expect((await browser.get('/account')).html).toContain('Not confirmed yet')
    const scanner = createPageBrowser(app.origin)
    for (let count = 0; count < 3; count++) expect((await scanner.get(pathOf(link))).status).toBe(200)
    expect((await browser.get('/account')).html).toContain('Not confirmed yet')
    const page = await scanner.get(pathOf(link))
    const done = await scanner.submit('/verify-email', { token: inputsOf(page.html).get('token') ?? '' })
    expect(done.html).toContain('Email confirmed')
    expect((await browser.get('/account')).html).toContain('<span class="state">Confirmed</span>')
    const again = await scanner.submit('/verify-email', { token: link.token })
    expect(again.status).toBe(400)
    expect(again.html).toContain('This link is no longer valid')
  })

  it('sets a new password, and shows errors without repeating the password', async () => {
    const app = await start()
    const { browser, email } = await newPerson(app)
    const stranger = createPageBrowser(app.origin)
    const known = await stranger.submit('/forgot-password', { email })
    const unknown = await stranger.submit('/forgot-password', { email: 'nobody@example.com' })
    expect([known.status, known.html]).toEqual([unknown.status, unknown.html])
    expect(known.html).toContain('If an account with this email exists')
    const link = linkIn(await app.smtp.next())
    const page = await stranger.get(pathOf(link))
    expect(page.headers.get('referrer-policy')).toBe('strict-origin')
    const short = await stranger.submit('/reset-password', { token: link.token, password: 'short!' })
    expect(short.status).toBe(400)
    expect(short.html).toContain('The password must have 8 to 256 characters.')
    expect(short.html).not.toContain('short!')
    expect(inputsOf(short.html).get('token')).toBe(link.token)
    const done = await stranger.submit('/reset-password', { token: link.token, password: NEW_PASSWORD })
    expect(done.html).toContain('Password changed')
    expect(done.html).not.toContain(link.token)
    expect(stranger.cookies.size).toBe(0)
    expect((await browser.get('/account')).status).toBe(303)
    expect((await stranger.submit('/sign-in', { email, password: NEW_PASSWORD })).status).toBe(303)
  })

  it('leaks its token neither to other pages nor to the log', async () => {
    const lines: string[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(line => lines.push(String(line)) > 0)
    onTestFinished(() => write.mockRestore())
    const app = await start({ PATCHBAY_LOG_LEVEL: 'trace' })
    const { welcome } = await newPerson(app)
    const link = linkIn(welcome)
    const stranger = createPageBrowser(app.origin)
    await stranger.get(pathOf(link))
    await stranger.submit('/verify-email', { token: link.token })
    await stranger.submit('/verify-email', { token: link.token })
    await fetch(`${app.origin}/api/v1/email-verifications?token=${link.token}`, { method: 'POST' })
    expect(lines.join('')).toContain('/api/v1/email-verifications')
    expect(lines.join('')).not.toContain(link.token)
  })
})

describe('the account page', () => {
  it('changes the password, ends the other sessions and stays signed in', async () => {
    const app = await start()
    const { browser, email } = await newPerson(app)
    const elsewhere = createPageBrowser(app.origin)
    await elsewhere.submit('/sign-in', { email, password: PASSWORD })
    await browser.get('/account/security')
    const wrong = await browser.submit('/account/password', { currentPassword: 'wrong', password: NEW_PASSWORD })
    expect(wrong.status).toBe(403)
    expect(wrong.html).toMatch(/id="current-password-error">.*The current password is wrong\./)
    expect(wrong.html).not.toContain(NEW_PASSWORD)
    const done = await browser.submit('/account/password', { currentPassword: PASSWORD, password: NEW_PASSWORD })
    expect(done).toMatchObject({ status: 303, location: '/account/security?done=password' })
    expect((await browser.get('/account/security?done=password')).html).toContain('Password changed')
    expect((await elsewhere.get('/account')).status).toBe(303)
  })

  it('changes the email after the link sent to the new one is opened', async () => {
    const app = await start()
    const { browser } = await newPerson(app)
    const wrong = await browser.submit('/account/email', { email: 'no address', password: PASSWORD })
    expect(wrong.html).toMatch(/id="email-error">.*The new email must have the form name@example\.com\./)
    expect(inputsOf(wrong.html).get('email')).toBe('no address')
    const asked = await browser.submit('/account/email', { email: 'ada@new.example', password: PASSWORD })
    expect(asked).toMatchObject({ status: 303, location: '/account?done=email' })
    const link = linkIn(await app.smtp.next())
    await browser.get(pathOf(link))
    expect((await browser.submit('/change-email', { token: link.token })).html).toContain('ada@new.example')
    expect((await browser.get('/account')).html).toMatch(/<b>ada@new\.example<\/b>.*>Confirmed</s)
  })

  it('lists and ends sessions, and resends the confirmation link', async () => {
    const app = await start()
    const { browser, email } = await newPerson(app)
    const elsewhere = createPageBrowser(app.origin)
    await elsewhere.submit('/sign-in', { email, password: PASSWORD })
    const page = await browser.get('/account/sessions')
    expect(page.html).toContain('this session')
    const [path = ''] = /\/account\/sessions\/[0-9a-f-]{36}\/end/.exec(page.html) ?? []
    expect(await browser.submit(path, {})).toMatchObject({ status: 303 })
    expect((await elsewhere.get('/account')).status).toBe(303)
    await browser.get('/account/sessions')
    expect((await browser.submit(path, {})).status).toBe(404)
    await browser.get('/account')
    expect(await browser.submit('/account/email-verification', {})).toMatchObject({
      location: '/account?done=verification',
    })
    expect((await app.smtp.next()).to).toEqual([email])
  })
})

describe('the account page without a mail server', () => {
  const patchbay = runPatchbay()
  it('says that the operator has the message', async () => {
    const browser = createPageBrowser(patchbay.origin)
    const asked = await browser.submit('/forgot-password', { email: 'ada@example.com' })
    expect(asked.html).toContain('its operator can find the message in the outbox')
  })
})
