import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const WIDTHS = [360, 768, 1_280]

/** Returns by how many pixels the page is wider than the window. */
const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

describe('in a real browser without scripts', () => {
  const patchbay = runPatchbay()
  const open = async (options: BrowserContextOptions = {}) =>
    (await openPage(patchbay.origin, { javaScriptEnabled: false, ...options })).page
  const fill = async (page: Page, email: string, password: string): Promise<void> => {
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
  }

  it('a user signs up, out and in again, and reaches the page they had requested', async () => {
    const page = await open()
    await page.goto('/account')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await page.getByRole('link', { name: 'Sign up' }).click()
    await fill(page, 'ada@example.com', PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/account')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await fill(page, 'ada@example.com', 'wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'The email or the password is wrong.' }).waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.com')
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByText('Signed in as ada@example.com').waitFor()
  })

  it('a sign-in continues automatically to the authorization request', async () => {
    const page = await open()
    await page.goto(`/sign-up?${new URLSearchParams({ return_to: '/oauth/authorize?client_id=none' })}`)
    await fill(page, 'eve@example.com', PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL('**/oauth/authorize?client_id=none')
  })

  it('another origin cannot embed a page in a frame', async () => {
    const page = await open({ javaScriptEnabled: true })
    const answer = (body: string) => ({ contentType: 'text/html', body })
    const frames = ['http://evil.example/open', `${patchbay.origin}/sign-in`].map(
      src => `<iframe src="${src}"></iframe>`,
    )
    await page.route('http://evil.example/', route => route.fulfill(answer(frames.join(''))))
    await page.route('http://evil.example/open', route => route.fulfill(answer('<label>Email <input></label>')))
    await page.goto('http://evil.example/')
    const counts = ['open', 'sign-in'].map(end =>
      page.frameLocator(`iframe[src$="${end}"]`).getByLabel('Email').count(),
    )
    expect(await Promise.all(counts)).toEqual([1, 0])
  })

  it('the account page fits every width with a long email', async () => {
    const page = await open()
    await page.goto('/sign-up')
    await fill(page, `${'long'.repeat(12)}-${'er'.repeat(3)}@example.com`, PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Signed in as long').waitFor()
    for (const path of ['/', '/servers', '/account', '/account?done=email']) {
      await page.goto(path)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        expect([width, path, await overflowOf(page)]).toEqual([width, path, 0])
      }
    }
  })
})
