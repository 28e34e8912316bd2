import { beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { SETUP_TOKEN } from '../support/setup-token.ts'
import { prepareOpenIdProvider, visitProvider } from './openid-provider.ts'
import { codeOf } from './second-factor.ts'

const PASSWORD = 'correct horse battery staple'
const PAGE = '/account/security'
const FACTOR = '/account/second-factor'

describe('the pages of the sign-in methods', () => {
  let app: TestApp
  let issuer: string
  beforeAll(async () => {
    const provider = await prepareOpenIdProvider()
    issuer = provider.issuer
    app = await startTestApp({ env: provider.settings })
    const stop = await provider.listen(app.origin)
    provider.people.set('ada', { sub: 'ada' })
    return async () => {
      await app.close()
      await stop()
    }
  })

  let accounts = 0
  const signUp = async () => {
    const email = `somebody${++accounts}@example.com`
    const page = createPageBrowser(app.origin)
    await page.submit('/sign-up', { email, password: PASSWORD, setup_token: SETUP_TOKEN })
    return { page, email }
  }

  it('set up a second factor, create new recovery codes, and remove it', async () => {
    const { page, email } = await signUp()
    expect((await page.get(PAGE)).html).toContain('Set up')
    const wrong = await page.submit(FACTOR, { password: 'wrong password' })
    expect([wrong.status, wrong.html]).toEqual([403, expect.stringContaining('The password is wrong.')])
    const begun = await page.submit(FACTOR, { password: PASSWORD })
    const secret = inputsOf(begun.html).get('secret') ?? ''
    expect(begun.html).toContain(`<b>${secret}</b>`)
    expect(begun.html).toMatch(/<svg class="qr"[^>]*><path d="M[\dMhvHz -]+"/)
    expect(begun.html).toContain('href="otpauth://totp/')
    // After a mistyped code, the page still shows the key.
    const mistyped = await page.submit(`${FACTOR}/confirmation`, { code: '000000', secret })
    expect([mistyped.status, mistyped.html]).toEqual([403, expect.stringContaining(secret)])
    const codesIn = (html: string): string[] => html.match(/(?<![\w-])[a-z2-7]{4}(?:-[a-z2-7]{4}){3}(?![\w-])/g) ?? []
    const confirmed = await page.submit(`${FACTOR}/confirmation`, { code: codeOf(secret), secret })
    const codes = codesIn(confirmed.html)
    expect(codes).toHaveLength(10)
    expect((await page.get(PAGE)).html).toContain('Recovery codes left: 10')

    const renewed = await page.submit(`${FACTOR}/recovery-codes`, { password: PASSWORD, code: codes[0] ?? '' })
    const [fresh = ''] = codesIn(renewed.html)
    expect(codes).not.toContain(fresh)
    await page.get(PAGE)
    const old = await page.submit(`${FACTOR}/removal`, { password: PASSWORD, code: codes[1] ?? '' })
    expect([old.status, old.html]).toEqual([
      403,
      expect.stringContaining('The code is wrong or has already been used.'),
    ])
    const removed = await page.submit(`${FACTOR}/removal`, { password: PASSWORD, code: fresh })
    expect(removed.location).toBe(`${PAGE}?done=removed`)
    expect((await page.get(PAGE)).html).toContain('Set up')
    const again = createPageBrowser(app.origin)
    expect((await again.submit('/sign-in', { email, password: PASSWORD })).location).toBe('/')
  })

  it('escape everything that a form sends back', async () => {
    const { page } = await signUp()
    await page.get(PAGE)
    const answer = await page.submit(`${FACTOR}/confirmation`, {
      code: '000000',
      secret: '"><script>alert(1)</script>',
    })
    expect(answer.html).toContain('&gt;&lt;script')
    expect(answer.html).not.toContain('<script>')
  })

  it('link the account to the external provider through an intermediate page, and unlink it', async () => {
    const { page, email } = await signUp()
    await app.services.db.user.updateMany({ where: { email }, data: { emailVerifiedAt: new Date() } })
    expect((await page.get('/account/identities')).html).toContain('Link Example Login')
    const missing = await page.submit('/account/identities', { password: '' })
    expect([missing.status, missing.html]).toEqual([400, expect.stringContaining('The password is missing.')])
    const begun = await page.submit('/account/identities', { password: PASSWORD })
    expect([begun.status, begun.location]).toEqual([200, undefined])
    const url = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(begun.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const back = await page.get(await visitProvider(issuer, url, 'ada'))
    expect([back.status, back.location]).toEqual([303, '/account/identities'])
    const { html } = await page.get('/account/identities')
    const removal = /action="(\/account\/identities\/[^"]*\/removal)"/.exec(html)?.[1] ?? ''
    expect((await page.submit(removal, {})).location).toBe('/account/identities')
    expect(await app.services.db.externalIdentity.count()).toBe(0)
  })

  it.each([FACTOR, `${FACTOR}/confirmation`, `${FACTOR}/removal`, `${FACTOR}/recovery-codes`, '/account/identities'])(
    'take at %s no form without its token',
    async path => {
      const { page } = await signUp()
      expect((await page.submit(path, { _csrf: 'x', password: PASSWORD, code: '000000' })).status).toBe(403)
    },
  )
})
