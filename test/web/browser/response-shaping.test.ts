import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { answerJson, type FakeApi, startFakeApi } from '../../support/fake-api.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = '<script>alert(1)</script><b>bold</b>'
const ORDERS = Array.from({ length: 60 }, (_, index) => ({
  id: 7_000 + index,
  state: index % 3 === 0 ? 'open' : 'shipped',
  customer: { name: `Customer ${index}`, email: `customer${index}@example.com` },
  note: index === 0 ? HOSTILE : 'Leave it at the door, please, and ring twice before you go.',
  _links: { self: { href: `https://api.example.com/orders/${7_000 + index}` } },
}))

const patchbay = runPatchbay()
let fake: FakeApi
beforeAll(async () => {
  fake = await startFakeApi((_request, response) => answerJson(response, { orders: ORDERS, total: 60 }))
})
afterAll(() => fake.close())

const newTool = async (javaScriptEnabled = true) => {
  const { email } = await signUp(patchbay.origin)
  const { page, complaints } = await openPage(patchbay.origin, { email, javaScriptEnabled })
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('Name', { exact: true }).fill('list_orders')
  await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/orders`)
  return { page, complaints }
}
const after = (page: Page) => page.getByRole('region', { name: 'After' })
const before = (page: Page) => page.getByRole('region', { name: 'Before' })
const send = (page: Page) => page.getByRole('button', { name: 'Send' }).first().click()
const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click()
const transform = (page: Page) => page.getByLabel('Transform', { exact: true })

it('the shaped response is shown beside the original, and follows the input', async () => {
  const { page, complaints } = await newTool()
  await page.getByText('Send a request to preview the response').waitFor()
  await send(page)
  await page.getByText('same number of tokens').waitFor()
  await openTab(page, 'Response')
  await page.getByLabel('Drop fields').fill('orders[]._links\ntotal')
  await page.getByText(/^\d+ % fewer tokens$/).waitFor()
  await after(page).getByText('https://api.example.com').waitFor({ state: 'detached' })
  expect(await before(page).textContent()).toContain('_links')
  expect(await page.locator('.side-text b').count()).toBe(0)

  await transform(page).fill('orders[state = "open"].{"id": id, "customer": customer.name')
  await page
    .locator('#note-transform .error')
    .getByText(/^Line 1, column \d+: not valid JSONata: /)
    .waitFor()
  await page.getByText('Fix the errors to preview the response.').waitFor()
  await transform(page).fill('orders[state = "open"].{"id": id, "customer": customer.name, "note": note}')
  await after(page).getByText('"Customer 57"').waitFor()
  await page.getByLabel('HTML', { exact: true }).selectOption('Convert to Markdown')
  await after(page).getByText('**bold**').waitFor()
  await page.getByLabel('Max string length').fill('25')
  await after(page)
    .getByText(/more characters\)/)
    .waitFor()
  for (const width of [1_280, 360]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created*')
  expect(await transform(page).inputValue()).toContain('"customer": customer.name')
  expect(await page.getByLabel('Drop fields').inputValue()).toBe('orders[]._links\ntotal')
  expect(await page.getByLabel('HTML', { exact: true }).inputValue()).toBe('yes')
  expect(complaints.take()).toEqual([])
})

it('an endless transform is reported in the preview, and the next input is previewed again', async () => {
  const { page } = await newTool()
  await send(page)
  await before(page).waitFor()
  await openTab(page, 'Response')
  await transform(page).fill('$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /(a+)+$/)')
  await page.getByText(/The transform of this tool \(JSONata\) took longer than/).waitFor()
  await transform(page).fill('total')
  await expect.poll(() => after(page).textContent()).toBe('60')
})

it('the preview works without scripts', async () => {
  const { page } = await newTool(false)
  await send(page)
  await before(page).waitFor()
  await page.getByLabel('Language', { exact: true }).selectOption('JMESPath')
  await transform(page).fill('orders[0].customer.name')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await expect.poll(() => after(page).textContent()).toBe('Customer 0')
  expect(fake.seen.length).toBeGreaterThan(0)
})
