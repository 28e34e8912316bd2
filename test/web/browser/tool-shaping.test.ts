import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runPatchbay } from '../../servers/patchbay.ts'
import { launchChromium } from '../../support/chromium.ts'
import { answerJson, type FakeApi, startFakeApi } from '../../support/fake-api.ts'
import { watchComplaints } from './check-page.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<script>alert(1)</script><b>bold</b>'
const ORDERS = Array.from({ length: 60 }, (_, index) => ({
  id: 7_000 + index,
  state: index % 3 === 0 ? 'open' : 'shipped',
  customer: { name: `Customer ${index}`, email: `customer${index}@example.com` },
  note: index === 0 ? HOSTILE : 'Leave it at the door, please, and ring twice before you go.',
  _links: { self: { href: `https://api.example.com/orders/${7_000 + index}` } },
}))

const patchbay = runPatchbay(undefined, { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128' })
let fake: FakeApi
let browser: Browser
beforeAll(async () => {
  fake = await startFakeApi((_request, response) => answerJson(response, { orders: ORDERS, total: 60 }))
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await fake.close()
})

const shoot = async (page: Page, name: string): Promise<void> => {
  const folder = join(import.meta.dirname, '../../../test-output/tool-shaping')
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

const newTool = async (javaScriptEnabled = true): Promise<Page> => {
  const context = await browser.newContext({ baseURL: patchbay.origin, reducedMotion: 'reduce', javaScriptEnabled })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill(`shaper${Math.random()}@example.com`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('Name', { exact: true }).fill('list_orders')
  await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/orders`)
  return page
}
const after = (page: Page) => page.getByRole('region', { name: 'After' })
const before = (page: Page) => page.getByRole('region', { name: 'Before' })
const transform = (page: Page) => page.getByLabel('Transform', { exact: true })

it('what is sent of an answer stands beside what came, and follows what is typed, until it is saved', async () => {
  const page = await newTool()
  const complaints = watchComplaints(page)
  await page.getByText('Send it once: then the answer stands here').waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('as many tokens as before').waitFor()
  await page.getByLabel('Leave out').fill('orders[]._links\ntotal')
  await page.getByText(/^\d+ % fewer tokens$/).waitFor()
  await after(page).getByText('https://api.example.com').waitFor({ state: 'detached' })
  expect(await before(page).textContent()).toContain('_links')
  expect(await page.locator('.side-text b').count()).toBe(0)

  await transform(page).fill('orders[state = "open"].{"id": id, "customer": customer.name')
  await page
    .locator('#note-transform .error')
    .getByText(/^Line 1, column \d+: this is no JSONata: /)
    .waitFor()
  await page.getByText('It stands here again once what is wrong with it is mended.').waitFor()
  await transform(page).fill('orders[state = "open"].{"id": id, "customer": customer.name, "note": note}')
  await after(page).getByText('"Customer 57"').waitFor()
  await page.getByLabel('HTML', { exact: true }).selectOption('As Markdown')
  await after(page).getByText('**bold**').waitFor()
  await page.getByLabel('Longest string, characters').fill('25')
  await after(page)
    .getByText(/more characters\)/)
    .waitFor()
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: 900 })
    await shoot(page, `${scheme}-${width}`)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created')
  expect(await transform(page).inputValue()).toContain('"customer": customer.name')
  expect(await page.getByLabel('Leave out').inputValue()).toBe('orders[]._links\ntotal')
  expect(await page.getByLabel('HTML', { exact: true }).inputValue()).toBe('yes')
  expect(complaints.take()).toEqual([])
})

it('a transform that never ends says so in the preview, and what is typed next is shown', async () => {
  const page = await newTool()
  await page.getByRole('button', { name: 'Send' }).click()
  await before(page).waitFor()
  await transform(page).fill('$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /(a+)+$/)')
  await page.getByText(/The transform of this tool \(JSONata\) took longer than/).waitFor()
  await transform(page).fill('total')
  await expect.poll(() => after(page).textContent()).toBe('60')
})

it('without scripts it is sent and looked at again with other rules', async () => {
  const page = await newTool(false)
  await page.getByRole('button', { name: 'Send' }).click()
  await before(page).waitFor()
  await page.getByLabel('Language', { exact: true }).selectOption('JMESPath')
  await transform(page).fill('orders[0].customer.name')
  await page.getByRole('button', { name: 'Look again' }).click()
  expect(await after(page).textContent()).toBe('Customer 0')
  expect(fake.seen.length).toBeGreaterThan(0)
})
