import { describe, expect, it, vi } from 'vitest'
import { createPageBrowser, inputsOf, type PageResponse } from '../../support/page-browser.ts'
import { SETUP_TOKEN } from '../../support/setup-token.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const PASSWORD = 'correct horse battery staple'
let count = 0
const newEmail = () => `ada${++count}@example.com`

/** A URL like that of a client's authorization request: long, and containing other URLs. */
const AUTHORIZE = `/oauth/authorize?${new URLSearchParams({
  client_id: 'https://client.example/metadata.json',
  redirect_uri: 'http://127.0.0.1:4711/callback',
  state: 'x'.repeat(4_000),
  resource: 'https://patchbay.example/s/1',
})}`
const withReturnTo = (path: string, returnTo: string) => `${path}?${new URLSearchParams({ return_to: returnTo })}`
const hrefOf = (path: string) => `href="${path.replaceAll('&', '&amp;')}"`

const HOSTILE = `"><script>alert(1)</script>'<%= 1 %>{{7*7}}&amp;`

describe('the sign-in and sign-up pages', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128' } })
  let browsers = 0
  /** Creates a browser with its own network address. */
  const newBrowser = () => createPageBrowser(patchbay.origin, { address: `198.51.100.${++browsers}` })

  const withAccount = async () => {
    const email = newEmail()
    const browser = newBrowser()
    await browser.get('/sign-up')
    expect(await browser.submit('/sign-up', { email, password: PASSWORD, setup_token: SETUP_TOKEN })).toMatchObject({
      status: 303,
      location: '/',
    })
    return { email, browser }
  }

  it('let a user sign up, out and in again, and show who is signed in', async () => {
    const { email, browser } = await withAccount()
    expect((await browser.get('/account')).html).toContain(`Signed in as ${email}`)
    expect(await browser.submit('/sign-out', { return_to: '/' })).toMatchObject({ status: 303, location: '/' })
    expect(browser.cookies.size).toBe(0)
    expect((await browser.get('/')).html).toContain('href="/sign-in"')
    await browser.get('/sign-in')
    expect(await browser.submit('/sign-in', { email, password: PASSWORD })).toMatchObject({
      status: 303,
      location: '/',
    })
    expect((await browser.get('/account')).html).toContain(email)
  })

  it('keep a long return_to through a failed sign-in and a visit to the sign-up page', async () => {
    const { email } = await withAccount()
    const browser = newBrowser()
    const page = await browser.get(withReturnTo('/sign-in', AUTHORIZE))
    expect(page.html).toContain(hrefOf(withReturnTo('/sign-up', AUTHORIZE)))
    expect((await browser.get(withReturnTo('/sign-up', AUTHORIZE))).html).toContain(
      hrefOf(withReturnTo('/sign-in', AUTHORIZE)),
    )
    const failed = await browser.submit('/sign-in', { email, password: 'wrong password' })
    expect(failed.status).toBe(401)
    expect(failed.html).toContain(hrefOf(withReturnTo('/sign-up', AUTHORIZE)))
    const done = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect(done.status).toBe(200)
    expect(done.html).toContain(hrefOf(AUTHORIZE))
    expect(done.html).toContain(`content="0; url=${AUTHORIZE.replaceAll('&', '&amp;')}"`)
    const another = newBrowser()
    await another.get(withReturnTo('/sign-up', AUTHORIZE))
    const made = await another.submit('/sign-up', { email: newEmail(), password: PASSWORD, setup_token: SETUP_TOKEN })
    expect(made.html).toContain(hrefOf(AUTHORIZE))
  })

  it('redirect users who are already signed in', async () => {
    const { browser } = await withAccount()
    for (const path of ['/sign-in', '/sign-up']) {
      expect(await browser.get(withReturnTo(path, AUTHORIZE))).toMatchObject({ status: 303, location: AUTHORIZE })
      expect(await browser.get(withReturnTo(path, '//evil.example'))).toMatchObject({ status: 303, location: '/' })
    }
  })

  it('redirect only to Patchbay, whatever return_to says in the query or the form', async () => {
    const { email, browser } = await withAccount()
    await browser.get('/account')
    expect(await browser.submit('/sign-out', { return_to: 'https://evil.example' })).toMatchObject({ location: '/' })
    for (const returnTo of ['//evil.example', '/\\evil.example', 'javascript:alert(1)', '/%2F/evil.example']) {
      const page = await newBrowser().get(withReturnTo('/sign-in', returnTo))
      expect(inputsOf(page.html).get('return_to')).toBe('/')
      const done = await newBrowser().submit('/sign-in', { email, password: PASSWORD, return_to: returnTo })
      expect(done).toMatchObject({ status: 303, location: '/' })
    }
  })

  it('send visitors of a protected page to sign in, and back', async () => {
    const answer = await newBrowser().get('/account?done=email')
    expect(answer).toMatchObject({ status: 303, location: withReturnTo('/sign-in', '/account?done=email') })
  })

  it('fail the same way whether or not the account exists, and keep the email but not the password', async () => {
    const { email } = await withAccount()
    const shown = ({ status, html }: PageResponse, typed: string) => `${status} ${html.replaceAll(typed, 'TYPED')}`
    const typed = 'wrong password of mine'
    const wrong = await newBrowser().submit('/sign-in', { email, password: typed })
    const nobody = await newBrowser().submit('/sign-in', { email: 'nobody@example.com', password: typed })
    expect(shown(wrong, email)).toBe(shown(nobody, 'nobody@example.com'))
    expect(wrong.status).toBe(401)
    expect(wrong.html).toContain('The email or the password is wrong.')
    expect(inputsOf(wrong.html).get('email')).toBe(email)
    expect(wrong.html).not.toContain(typed)
  })

  it.each([
    [{ email: 'no address', password: PASSWORD }, 'email', 'The email must have the form name@example.com.'],
    [{ email: 'ada@example.com', password: 'short' }, 'password', 'The password must have 8 to 256 characters.'],
    [{ password: PASSWORD }, 'email', 'The email must have the form name@example.com.'],
  ])('show an error next to the field for %j', async (fields, field, sentence) => {
    const answer = await newBrowser().submit('/sign-up', fields)
    expect(answer.status).toBe(400)
    expect(answer.html).toContain(`aria-describedby="${field}-error"`)
    expect(answer.html).toMatch(new RegExp(`id="${field}-error">.*${sentence}`))
    expect(answer.html).not.toContain(fields.password)
  })

  it('respond with 409 if the email is taken', async () => {
    const { email } = await withAccount()
    const answer = await newBrowser().submit('/sign-up', { email, password: PASSWORD, setup_token: SETUP_TOKEN })
    expect(answer.status).toBe(409)
    expect(answer.html).toContain('The email is already taken.')
  })

  it('share the throttling of the API', async () => {
    const browser = newBrowser()
    const email = newEmail()
    const statuses: number[] = []
    for (let turn = 0; turn < 11; turn++) {
      statuses.push((await browser.submit('/sign-in', { email, password: 'wrong password' })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429])
    const blocked = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(blocked.html).toContain('Too many attempts')
    expect(inputsOf(blocked.html).get('email')).toBe(email)
  })

  it.each([
    [{ origin: 'https://evil.example' }, 'of another origin'],
    [{ origin: 'null' }, 'that hides where it comes from'],
    [{ 'sec-fetch-site': 'cross-site' }, 'of another site, by a browser that sends no Origin'],
    [{ 'sec-fetch-site': 'same-site' }, 'of a neighbour, by a browser that sends no Origin'],
  ])('reject a form with %j %s (login CSRF)', async (headers, _whose) => {
    const { email } = await withAccount()
    const browser = newBrowser()
    for (const path of ['/sign-in', '/sign-up', '/sign-in/code']) {
      const answer = await browser.submit(path, { email, password: PASSWORD }, headers)
      expect(answer.status).toBe(403)
    }
    expect(browser.cookies.size).toBe(0)
  })

  it('neither sign out nor change anything without the CSRF token of a form', async () => {
    const { browser } = await withAccount()
    const sid = browser.cookies.get('sid') ?? ''
    const forged = newBrowser()
    forged.cookies.set('sid', sid)
    for (const path of ['/sign-out', '/account/password', '/account/sessions/end']) {
      const answer = await forged.submit(path, { _csrf: 'forged', _user: '' })
      expect(answer.status).toBe(403)
      expect(answer.html).toContain('This form is out of date')
    }
    expect((await browser.get('/account')).status).toBe(200)
  })

  it('accept a form that was opened before another user signed in with the same browser', async () => {
    const first = await withAccount()
    const { email } = await withAccount()
    const stale = await first.browser.submit('/sign-in', { email, password: PASSWORD, _csrf: '' })
    expect(stale.status).toBe(303)
    expect((await first.browser.get('/account')).html).toContain(email)
  })

  it('start a session with a new ID, so that a planted one stays anonymous (session fixation)', async () => {
    const { email, browser } = await withAccount()
    const planted = browser.cookies.get('sid') ?? ''
    const victim = newBrowser()
    victim.cookies.set('sid', planted)
    await victim.submit('/sign-in', { email, password: PASSWORD })
    const fresh = victim.cookies.get('sid')
    expect(fresh).not.toBe(planted)
    const attacker = newBrowser()
    attacker.cookies.set('sid', planted)
    expect((await attacker.get('/account')).status).toBe(303)
    const madeUp = newBrowser()
    madeUp.cookies.set('sid', 'made-up.signature')
    await madeUp.submit('/sign-in', { email, password: PASSWORD })
    expect(madeUp.cookies.get('sid')).not.toContain('made-up')
  })

  it('cannot be framed, run no inline code, are never cached, and leak no URL to others', async () => {
    const { browser } = await withAccount()
    for (const [who, path] of [
      [newBrowser(), '/'],
      [newBrowser(), '/sign-in'],
      [newBrowser(), '/sign-up'],
      [newBrowser(), '/forgot-password'],
      [newBrowser(), '/verify-email?token=x'],
      [browser, '/account'],
    ] as const) {
      const { headers, html } = await who.get(path)
      const policy = headers.get('content-security-policy') ?? ''
      for (const rule of [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "script-src 'self'",
        "style-src 'self'",
      ]) {
        expect(policy.split('; ')).toContain(rule)
      }
      expect(policy).not.toContain('unsafe')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toMatch(/^(same-origin|strict-origin)$/)
      expect(html).not.toMatch(/ style=| on\w+=|<script(?! src=)/)
    }
  })

  it('escape hostile text in every field', async () => {
    const hostile = { email: HOSTILE, password: HOSTILE, return_to: HOSTILE, setup_token: HOSTILE, token: HOSTILE }
    for (const path of ['/sign-in', '/sign-up', '/forgot-password', '/reset-password', '/verify-email']) {
      const posted = await newBrowser().submit(path, hostile)
      const got = await newBrowser().get(`${path}?${new URLSearchParams({ return_to: HOSTILE, token: HOSTILE })}`)
      for (const { html, status } of [posted, got]) {
        expect([200, 400]).toContain(status)
        expect(html).not.toContain('<script>alert')
        expect(html).not.toContain(HOSTILE.slice(0, 10))
      }
      if (path === '/sign-in') expect(inputsOf(posted.html).get('email')).toBe(HOSTILE)
    }
  })

  it('respond to an invalid form with an error page', async () => {
    const send = (body: string | FormData, type: string) =>
      fetch(`${patchbay.origin}/sign-in`, { method: 'POST', body, headers: { 'content-type': type } })
    const form = 'application/x-www-form-urlencoded'
    expect((await send('{}', 'application/json')).status).toBe(415)
    expect((await send(new FormData(), 'text/plain')).status).toBe(415)
    expect((await send(`email=${'x'.repeat(300_000)}`, form)).status).toBe(413)
    expect((await send('email=a%00b&password=x', form)).status).toBe(400)
    expect((await send('email=a&email=b&password=x&__proto__=x&constructor=y', form)).status).toBe(400)
    expect((await send('email=%E0%A4%A&password=%', form)).status).toBe(400)
    const text = await (await send('{}', 'application/json')).text()
    expect(text).toContain('This address accepts only forms.')
  })
})

describe('the sign-up page', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_HOST: '0.0.0.0', PATCHBAY_SIGNUP: 'closed' } })
  it('asks for the setup token for the first account, and is closed afterwards', async () => {
    const browser = createPageBrowser(patchbay.origin)
    expect((await browser.get('/sign-up')).html).toContain('name="setup_token"')
    const form = { email: 'ada@example.com', password: PASSWORD }
    for (const [token, sentence] of [
      ['', 'The setup token is missing.'],
      ['wrong', 'The setup token is not the one that Patchbay printed.'],
    ] as const) {
      const refused = await browser.submit('/sign-up', { ...form, setup_token: token })
      expect(refused.status).toBe(403)
      expect(refused.html).toContain(sentence)
      expect(inputsOf(refused.html).get('email')).toBe(form.email)
    }
    expect((await browser.submit('/sign-up', { ...form, setup_token: SETUP_TOKEN })).status).toBe(303)

    const later = createPageBrowser(patchbay.origin)
    const page = await later.get('/sign-up')
    expect(page.html).toContain('Sign-up on this installation is closed')
    expect(page.html).not.toContain('name="password"')
    expect((await later.submit('/sign-up', { ...form, email: 'eve@example.com' })).status).toBe(403)
  })

  it('asks only for email and password if nothing else is needed', async () => {
    const html = (await createPageBrowser(patchbay.origin).get('/sign-in')).html
    const typed = [...inputsOf(html).keys()].filter(name => !name.startsWith('_'))
    expect(typed.sort()).toEqual(['email', 'password', 'return_to'])
  })
})
