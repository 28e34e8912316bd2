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
    const page = await browser.get(pathOf(link))
    expect(page.html).not.toContain('will end')
    const done = await browser.submit('/verify-email', { token: inputsOf(page.html).get('token') ?? '' })
    expect(done.html).toContain('Email confirmed')
    expect((await browser.get('/account')).html).toContain('<span class="state">Confirmed</span>')
    const again = await scanner.submit('/verify-email', { token: link.token })
    expect(again.status).toBe(400)
    expect(again.html).toContain('This link is no longer valid')
  })

  it('opened elsewhere says what confirming ends, and ends it', async () => {
    const app = await start()
    const { browser, email, welcome } = await newPerson(app)
    const link = linkIn(welcome)
    const elsewhere = createPageBrowser(app.origin)
    expect((await elsewhere.get(pathOf(link))).html).toMatch(/not signed in to its account here.*will end/)
    const done = await elsewhere.submit('/verify-email', { token: link.token })
    expect(done.html).toContain('Set a new password to sign in.')
    expect(done.html).toContain('href="/forgot-password"')
    expect((await browser.get('/account')).status).toBe(303)
    expect((await elsewhere.submit('/sign-in', { email, password: PASSWORD })).status).toBe(401)
  })

  it('for a new password lists what can use the account, with Revoke all ticked', async () => {
    const app = await start()
    const { browser, email, welcome } = await newPerson(app)
    await browser.submit('/verify-email', { token: linkIn(welcome).token })
    const { db } = app.services
    const { id: userId } = await db.user.findUniqueOrThrow({ where: { email } })
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId } })
    const server = await db.server.create({ data: { organizationId, ownerId: userId, name: 'Mine' } })
    const makeTokenAndGrant = async () => {
      await browser.get('/account/tokens')
      const made = await browser.submit('/account/tokens', { name: '<b>Cron', scopes: 'read', expiresInDays: '90' })
      expect(made.html).toContain('pbk_')
      const grant = { kind: 'Grant', userId, clientId: 'https://client.example/app', serverId: server.id }
      await db.oAuthArtifact.create({ data: { ...grant, handleHash: grant.clientId, payload: {} } })
    }
    const openReset = async () => {
      const stranger = createPageBrowser(app.origin)
      await stranger.submit('/forgot-password', { email })
      const link = linkIn(await app.smtp.next())
      return { stranger, token: link.token, page: await stranger.get(pathOf(link)) }
    }
    const leftOver = async () => [await db.accessToken.count(), await db.oAuthArtifact.count()]

    await makeTokenAndGrant()
    const first = await openReset()
    expect(first.page.html).toMatch(/&lt;b&gt;Cron.*client\.example.*name="revokeAll" value="yes" checked/s)
    const short = await first.stranger.submit('/reset-password', { token: first.token, password: 'short!' })
    expect(short.html).toMatch(/name="revokeAll" value="yes">/)
    await first.stranger.submit('/reset-password', { token: first.token, password: NEW_PASSWORD })
    expect(await leftOver()).toEqual([1, 1])
    await app.smtp.next()

    const second = await openReset()
    await second.stranger.submit('/reset-password', { token: second.token, password: PASSWORD, revokeAll: 'yes' })
    expect(await leftOver()).toEqual([0, 0])
    await app.smtp.next()
    const third = await openReset()
    expect(third.page.html).toContain('<input type="hidden" name="revokeAll" value="yes">')
  })

  it('for a new password says what ends if nobody has confirmed the email', async () => {
    const app = await start()
    const { email } = await newPerson(app)
    const stranger = createPageBrowser(app.origin)
    await stranger.submit('/forgot-password', { email })
    const { html } = await stranger.get(pathOf(linkIn(await app.smtp.next())))
    expect(html).toContain('Nobody has confirmed this email yet')
    expect(html).not.toContain('revokeAll')
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

describe('a user whose email is not confirmed', () => {
  it('is asked on each page to confirm it, and gets another link', async () => {
    const app = await start()
    const { browser, email, welcome } = await newPerson(app)
    const page = await browser.get('/servers')
    expect(page.html).toContain(`Confirm ${email} with the link`)
    expect((await browser.get('/account')).html).not.toContain('Confirm ada@')
    await browser.get('/servers')
    const sent = await browser.submit('/account/email-verification', {})
    expect(sent).toMatchObject({ status: 303, location: '/account?done=verification' })
    expect((await browser.get('/account?done=verification')).html).toContain('confirmation link is on its way')
    expect(linkIn(await app.smtp.next()).token).not.toBe(linkIn(welcome).token)
    await browser.submit('/verify-email', { token: linkIn(welcome).token })
    expect((await browser.get('/servers')).html).not.toContain('Confirm ada@')
  })

  it('is told why there is no second factor yet, and offered tokens for a day only', async () => {
    const app = await start()
    const { browser } = await newPerson(app)
    await browser.get('/account/security')
    const refused = await browser.submit('/account/second-factor', { password: PASSWORD })
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('Confirm your email before you turn on two-factor authentication.')
    const { html } = await browser.get('/account/tokens')
    expect(html).toContain('In a day')
    expect(html).not.toContain('In 90 days')
    const form = { name: 'Cron', scopes: 'read' }
    const long = await browser.submit('/account/tokens', { ...form, expiresInDays: '90' })
    expect(long.status).toBe(409)
    expect(long.html).toContain('must be 1 until your email is confirmed')
    expect((await browser.submit('/account/tokens', { ...form, expiresInDays: '1' })).html).toContain('pbk_')
  })

  it('sees no such request if the installation does not send mail', async () => {
    const app = await startWorld({})
    onTestFinished(app.close)
    const browser = createPageBrowser(app.origin)
    await browser.submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
    expect((await browser.get('/servers')).html).not.toContain('Confirm ada@')
    expect((await browser.get('/account/tokens')).html).toContain('In 90 days')
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

  it('asks to sign in before it changes the email, and only accepts the account itself', async () => {
    const app = await start()
    const { browser, email } = await newPerson(app)
    const { browser: stranger } = await newPerson(app, 'eve@example.com')
    await browser.submit('/account/email', { email: 'ada@other.example', password: PASSWORD })
    const link = linkIn(await app.smtp.next())
    const refused = await stranger.get(pathOf(link))
    expect(refused.status).toBe(403)
    expect(refused.html).toContain('another account')

    const elsewhere = createPageBrowser(app.origin)
    const asked = await elsewhere.get(pathOf(link))
    const signIn = `/sign-in?${new URLSearchParams({ return_to: pathOf(link) })}`
    expect(asked).toMatchObject({ status: 303, location: signIn })
    await elsewhere.get(signIn)
    expect((await elsewhere.submit('/sign-in', { email, password: PASSWORD })).location).toBe(pathOf(link))
    await elsewhere.get(pathOf(link))
    expect((await elsewhere.submit('/change-email', { token: link.token })).html).toContain('ada@other.example')
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
