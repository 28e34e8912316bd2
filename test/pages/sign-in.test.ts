import { describe, expect, it } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { createPageBrowser } from '../support/page-browser.ts'

const PASSWORD = 'correct horse battery staple'
let count = 0
const newEmail = () => `ada${++count}@example.com`

/** As a client's authorization request: long, with addresses in it. */
const AUTHORIZE = `/oauth/authorize?${new URLSearchParams({
  client_id: 'https://client.example/metadata.json',
  redirect_uri: 'http://127.0.0.1:4711/callback',
  state: 'x'.repeat(4_000),
  resource: 'https://patchbay.example/s/1',
})}`

describe('the sign-in page', () => {
  const patchbay = runPatchbay()

  const withAccount = async () => {
    const email = newEmail()
    const browser = createPageBrowser(patchbay.origin)
    await browser.get('/sign-up')
    expect(await browser.submit('/sign-up', { email, password: PASSWORD })).toMatchObject({
      status: 303,
      location: '/',
    })
    return { email, browser }
  }

  it('signs up, out and in again, and says who is signed in', async () => {
    const { email, browser } = await withAccount()
    expect((await browser.get('/')).html).toContain(`signed in as <b>${email}</b>`)
    expect(await browser.submit('/sign-out', {})).toMatchObject({ status: 303, location: '/' })
    expect(browser.cookies.size).toBe(0)
    expect((await browser.get('/')).html).toContain('href="/sign-in"')
    await browser.get('/sign-in')
    expect(await browser.submit('/sign-in', { email, password: PASSWORD })).toMatchObject({
      status: 303,
      location: '/',
    })
    expect((await browser.get('/')).html).toContain(email)
  })

  it('keeps a long return_to through a failed sign-in and over the sign-up page', async () => {
    const { email } = await withAccount()
    const browser = createPageBrowser(patchbay.origin)
    await browser.get(`/sign-in?${new URLSearchParams({ return_to: AUTHORIZE })}`)
    expect((await browser.submit('/sign-in', { email, password: 'wrong' })).status).toBe(401)
    const done = await browser.submit('/sign-in', { email, password: PASSWORD })
    expect(done.status).toBe(200)
    expect(done.html).toContain(`href="${AUTHORIZE.replaceAll('&', '&amp;')}"`)
  })
})
