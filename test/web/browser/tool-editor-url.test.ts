import type { Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const patchbay = runPatchbay()

const open = async () => {
  const { email } = await signUp(patchbay.origin)
  const opened = await openPage(patchbay.origin, { email })
  await opened.page.goto('/toolkits/new-tool')
  return { ...opened, url: opened.page.getByLabel('URL', { exact: true }) }
}

const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click()

it('placeholders of other tools become parameters when the field is left, and Undo brings them back for good', async () => {
  const { page, url, complaints } = await open()
  await url.fill('https://api.example.com/users/:id/posts?sort=<sort>&at=10:30')
  await page.getByText('This URL uses a different placeholder syntax.').waitFor()
  await openTab(page, 'Headers')
  await page.getByRole('textbox', { name: 'Headers' }).fill('X-Note: {note}')
  const converted = 'https://api.example.com/users/{{id}}/posts?sort={{sort}}&at=10:30'
  await expect.poll(() => url.inputValue()).toBe(converted)
  await page.getByText('Converted to {{id}}, {{sort}}.').waitFor()
  await page.getByText('2 parameters').waitFor({ state: 'attached' })
  expect(await page.getByRole('textbox', { name: 'Headers' }).inputValue()).toBe('X-Note: {note}')

  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await url.inputValue()).toBe('https://api.example.com/users/:id/posts?sort=<sort>&at=10:30')
  await page.getByText('This URL uses a different placeholder syntax.').waitFor()
  await openTab(page, 'Body')
  await page.getByRole('textbox', { name: 'Body' }).fill('{id}')
  await expect.poll(() => page.locator('[data-part="parameters"] tbody').count()).toBe(0)
  expect(await url.inputValue()).toBe('https://api.example.com/users/:id/posts?sort=<sort>&at=10:30')
  expect(complaints.take()).toEqual([])
})

it('the field is converted after it was left, too, if the preview arrives late', async () => {
  const { page, url } = await open()
  await url.fill('https://api.example.com/users/{id}')
  await openTab(page, 'Headers')
  await expect.poll(() => url.inputValue()).toBe('https://api.example.com/users/{{id}}')
})

it('a name with spaces is shown as it will be saved', async () => {
  const { page } = await open()
  await page.getByLabel('Name', { exact: true }).fill('Get order')
  await page.getByText('Saved as get_order.').waitFor()
})

it('a placeholder in the host is only converted when asked', async () => {
  const { page, url } = await open()
  await url.fill('https://{tenant}.example.com/users')
  await openTab(page, 'Headers')
  const convert = page.getByRole('button', { name: 'Convert to {{tenant}}' })
  await convert.waitFor()
  expect(await url.inputValue()).toBe('https://{tenant}.example.com/users')
  await convert.click()
  expect(await url.inputValue()).toBe('https://{{tenant}}.example.com/users')
})

it('a URL that is too long to be searched for secrets is in no draft', async () => {
  const { page, url } = await open()
  const note = page.getByLabel('Description for the model')
  const draft = async () => String(await page.evaluate('JSON.stringify({ ...localStorage })'))
  await url.fill(`https://api.example.com/?q=${'a'.repeat(4_000)}&password=tangerine`)
  await note.fill('Finds something.')
  await expect.poll(draft).toContain('Finds something.')
  expect(await draft()).not.toContain('tangerine')
  await url.fill('https://api.example.com/mandarin')
  await expect.poll(draft).toContain('mandarin')
})
