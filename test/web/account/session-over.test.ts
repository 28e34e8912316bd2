import { describe, expect, it, vi } from 'vitest'
import { turnOn } from '../../identity/second-factor.ts'
import { createBrowser } from '../../support/browser.ts'
import { inputsOf } from '../../support/page-browser.ts'
import { runPatchbay } from '../../support/world.ts'
import { PASSWORD, runPeople } from './people.ts'

vi.setConfig({ testTimeout: 30_000 })

const HOSTILE = `"><script>alert(1)</script>\r\nمكتب 🚚`
const NEW_TOKEN = { name: HOSTILE, scopes: 'read', expiresInDays: '30' }
const PATH = '/account/tokens'

describe('a form submitted after the session has ended', () => {
  const { patchbay, person } = runPeople()
  const endSessions = (userId: string) => patchbay.services.db.session.deleteMany({ where: { userId } })
  const tokensOf = (userId: string) => patchbay.services.db.accessToken.findMany({ where: { userId } })
  /** Returns a user whose session ended while the tokens page was open. */
  const withPageOpen = async () => {
    const somebody = await person()
    await somebody.browser.get(PATH)
    await endSessions(somebody.userId)
    return somebody
  }
  /** Returns what the form on the recovery page would submit. */
  const fieldsIn = (html: string) => Object.fromEntries([...inputsOf(html)].filter(([name]) => name !== 'theme'))

  it('is kept during the sign-in, and submitted only by the user’s click', async () => {
    const { browser, email, userId } = await withPageOpen()
    const over = await browser.submit(PATH, NEW_TOKEN)
    expect(over.status).toBe(401)
    expect(over.html).toContain('Your session has ended')
    expect(over.html).not.toContain('<script>alert')
    const wrong = await browser.submit('/sign-in', { email, password: 'wrong password' })
    expect([wrong.status, wrong.html]).toEqual([401, expect.stringContaining('Sign in again')])
    const back = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect([back.status, back.location]).toEqual([200, undefined])
    expect(back.html).toContain(`<form class="consent" method="post" action="${PATH}">`)
    expect(back.html).toContain('Submit your entries')
    expect(back.html).toContain(`This submits the form at <code>${PATH}</code>`)
    expect(back.html).not.toContain('<script>alert')
    expect(await tokensOf(userId)).toEqual([])

    const { _csrf, ...kept } = fieldsIn(back.html)
    expect((await browser.submit(PATH, { ...kept, name: 'kept', _csrf: 'forged' })).status).toBe(403)
    const made = await browser.submit(PATH, { ...kept, name: kept.name?.split('\r')[0] ?? '', _csrf: _csrf ?? '' })
    expect([made.status, made.html]).toEqual([200, expect.stringContaining('Your new token')])
    expect(await tokensOf(userId)).toMatchObject([{ name: '"><script>alert(1)</script>', scopes: ['read'] }])
    expect(kept.name).toBe(HOSTILE)
  })

  it('is kept through the second factor, even after a wrong or late code', async () => {
    const { browser, email, userId } = await person()
    const api = createBrowser(patchbay.origin)
    await api.signIn(email, PASSWORD)
    const { recoveryCodes } = await turnOn(api, PASSWORD)
    await browser.submit('/sign-in', { email, password: PASSWORD })
    await browser.submit('/sign-in/code', { code: recoveryCodes[0] ?? '' })
    await browser.get(PATH)
    await endSessions(userId)
    await browser.submit(PATH, NEW_TOKEN)
    const first = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect([first.status, first.html]).toEqual([200, expect.stringContaining('Enter your code')])
    expect((await browser.submit('/sign-in/code', { code: '000000' })).status).toBe(401)
    const waiting = browser.cookies.get('sid') ?? ''
    browser.cookies.delete('sid')
    const late = await browser.submit('/sign-in/code', { code: '000000' })
    expect([late.status, late.html]).toEqual([200, expect.stringContaining('Sign in again')])
    browser.cookies.set('sid', waiting)
    const back = await browser.submit('/sign-in/code', { code: recoveryCodes[1] ?? '' })
    expect([back.status, back.html]).toEqual([200, expect.stringContaining('Submit your entries')])
    expect(await tokensOf(userId)).toEqual([])
    const made = await browser.submit(PATH, { ...fieldsIn(back.html), name: 'kept' })
    expect(made.html).toContain('Your new token')
  })

  it('is discarded when another user signs in', async () => {
    const [{ browser }, other] = [await withPageOpen(), await person()]
    await browser.submit(PATH, NEW_TOKEN)
    const answer = await browser.submit('/sign-in', { email: other.email, password: PASSWORD })
    expect([answer.status, answer.html]).toEqual([200, expect.stringContaining('belong to another account')])
    expect(answer.html).not.toContain('alert(1)')
    expect(await tokensOf(other.userId)).toEqual([])
  })

  it('does not keep passwords or fields marked as secret, and says so', async () => {
    const { browser, email } = await withPageOpen()
    const marks = { _secret: 'pin', '_secret:sealed': 'key', '_secret:unticked': 'email' }
    const typed = { email: 'ada@new.example', password: PASSWORD, pin: '4711', key: '4711', sealed: 'on', ...marks }
    const over = await browser.submit('/account/email', typed)
    const back = await browser.submit('/sign-in', { email, password: PASSWORD })
    for (const { html } of [over, back]) {
      expect(html).toContain('ada@new.example')
      expect(html).not.toContain(PASSWORD)
      expect(html).not.toContain('4711')
    }
    expect(back.html).toContain('<code>password, pin, key</code>')
  })

  it('does not keep a secret entered for a tool of a server', async () => {
    const { browser, email, userId } = await person()
    await browser.get('/account')
    await browser.submit('/servers/sample', {})
    const { db } = patchbay.services
    const instance = await db.instance.findFirstOrThrow({
      where: { name: 'convert_currency', server: { ownerId: userId } },
    })
    const path = `/servers/${instance.serverId}/tools/${instance.id}`
    const inputs = inputsOf((await browser.get(path)).html)
    await endSessions(userId)
    const choice = { 'source:from': 'global', 'global:from': '+', 'key:from': 'from' }
    const typed = { name: 'convert_currency', ...choice, 'value:from': 'sk-4711', 'secret:from': 'on' }
    const marks = Object.fromEntries([...inputs].filter(([name]) => name.startsWith('_secret:')))
    const over = await browser.submit(path, { ...marks, ...typed, 'value:to': 'plain-0815' })
    const back = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect([over.status, back.status]).toEqual([401, 200])
    for (const { html } of [over, back]) {
      expect(html).toContain('plain-0815')
      expect(html).not.toContain('sk-4711')
    }
    expect(back.html).toContain('<code>value:from</code>')
  })

  it.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{}, 303],
  ] as const)('is not kept if it comes from elsewhere: %j', async (headers, status) => {
    const { browser } = await withPageOpen()
    const answer = await browser.submit(PATH, NEW_TOKEN, headers)
    expect(answer.status).toBe(status)
    expect(answer.html).not.toContain('alert(1)')
  })

  it('is not kept if its user is unknown', async () => {
    const { browser } = await withPageOpen()
    const answer = await browser.submit(PATH, { ...NEW_TOKEN, _user: '' })
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
  })

  it.each([['//evil.example/x'], ['https://evil.example/x'], ['/\\evil.example'], ['javascript:alert(1)'], ['/']])(
    'is never offered to be sent to %s',
    async path => {
      const { browser, email, userId } = await person()
      await browser.submit('/sign-out', {})
      const typed = JSON.stringify({ path, userId, fields: [['a', 'b']], left: [] })
      const answer = await browser.submit('/sign-in', { email, password: PASSWORD, typed })
      expect([answer.status, answer.location]).toEqual([303, '/'])
    },
  )

  it('does not restore a token or password that was injected into it', async () => {
    const { browser, email, userId } = await person()
    await browser.submit('/sign-out', {})
    const fields = ['_csrf', '_user', 'newPassword', 'name'].map(name => [name, `forged ${name}`])
    const typed = JSON.stringify({ path: PATH, userId, fields, left: [] })
    const { html } = await browser.submit('/sign-in', { email, password: PASSWORD, typed })
    expect(html.match(/forged \w+/g)).toEqual(['forged name', 'forged name'])
  })

  it.each(['{', '[]', 'null', '{"path":1}', 'x'.repeat(220_000)])(
    'is nothing where it is no form: %.20s',
    async typed => {
      const { email, browser } = await person()
      await browser.submit('/sign-out', {})
      expect((await browser.submit('/sign-in', { email, password: PASSWORD, typed })).status).toBe(303)
    },
  )

  it('is reported as too long to keep if it is', async () => {
    const { browser } = await withPageOpen()
    const over = await browser.submit(PATH, { ...NEW_TOKEN, name: 'x'.repeat(230_000) })
    expect([over.status, over.html]).toEqual([401, expect.stringContaining('too long to keep')])
  })

  it('is not parsed if it has more fields than any real form', async () => {
    const { browser } = await withPageOpen()
    const fields = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, '']))
    const over = await browser.submit(PATH, { ...NEW_TOKEN, ...fields })
    expect([over.status, over.location]).toEqual([303, '/sign-in'])
    const { browser: signedIn } = await person()
    await signedIn.get(PATH)
    const refused = await signedIn.submit(PATH, { ...NEW_TOKEN, ...fields })
    expect([refused.status, refused.html]).toEqual([413, expect.stringContaining('more than 10000 fields')])
  })

  it('is offered again if its user has signed in in another tab meanwhile', async () => {
    const { browser, email, userId } = await withPageOpen()
    const stale = { ...NEW_TOKEN, _csrf: 'of-the-session-before', _user: userId }
    await browser.submit('/sign-in', { email, password: PASSWORD })
    const again = await browser.submit(PATH, stale)
    expect([again.status, again.html]).toEqual([403, expect.stringContaining('Submit your entries')])
    expect(await tokensOf(userId)).toEqual([])
    const other = await person()
    const foreign = await other.browser.submit(PATH, stale)
    expect([foreign.status, foreign.html]).toEqual([403, expect.stringContaining('This form is out of date')])
  })
})

describe('an unknown URL', () => {
  const patchbay = runPatchbay()
  it.each(['none.css?v=0123456789', '.env', 'htmx/htmx.js', '..%2f..%2fpackage.json', 'css/', ''])(
    'among the files of pages is not found, and is not kept: %s',
    async file => {
      const answer = await fetch(`${patchbay.origin}/assets/${file}`, { headers: { accept: 'text/html' } })
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store'])
    },
  )

  it('below the path of an asset is not found either', async () => {
    const range = { range: 'bytes=99999999-' }
    expect((await fetch(`${patchbay.origin}/assets/img/mark.svg`, { headers: range })).status).toBe(416)
  })
})
