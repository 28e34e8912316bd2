import { beforeAll, describe, expect, it, vi } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { openPage } from '../support/open-page.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('searching for a toolkit in a real browser', () => {
  const patchbay = runPatchbay()
  let email: string
  beforeAll(async () => {
    const ada = await signUp(patchbay.origin)
    email = ada.email
    for (const title of ['Carrier API', 'Weather', `<img src=x onerror="document.title='hacked'">`]) {
      await ada.create('/toolkits', { title })
    }
  })

  const open = async (javaScriptEnabled: boolean) => {
    const opened = await openPage(patchbay.origin, { email, javaScriptEnabled })
    await opened.page.goto('/toolkits')
    return opened
  }

  it('filters while the user types, keeps the focus, and puts the search into the address', async () => {
    const { page, complaints } = await open(true)
    await page.getByRole('searchbox').pressSequentially('carr')
    await page.getByRole('heading', { name: 'Weather' }).waitFor({ state: 'detached' })
    expect(
      await page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading') })
        .count(),
    ).toBe(1)
    expect(await page.evaluate('document.activeElement.name')).toBe('q')
    await page.waitForURL('**/toolkits?q=carr')
    await page.reload()
    expect(await page.getByRole('searchbox').inputValue()).toBe('carr')
    await page.getByRole('searchbox').fill('img')
    await page.getByRole('heading', { name: '<img src=x' }).waitFor()
    expect(await page.title()).toBe('Toolkits · Patchbay')
    expect(complaints.take()).toEqual([])
  })

  it('can be searched, created and deleted without scripts', async () => {
    const { page } = await open(false)
    await page.getByRole('searchbox').fill('weather')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL('**/toolkits?q=weather')
    expect(await page.getByRole('heading', { name: 'Carrier API' }).count()).toBe(0)
    await page.getByRole('link', { name: 'New toolkit' }).click()
    await page.getByLabel('Title', { exact: true }).fill('For a day')
    await page.getByRole('button', { name: 'Create toolkit' }).click()
    await page.getByRole('heading', { name: 'For a day', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Title', { exact: true }).fill('For two days')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'For two days', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('link', { name: 'Delete toolkit…' }).click()
    await page.getByLabel('Type the name to confirm').fill('For two days')
    await page.getByRole('button', { name: 'Delete toolkit' }).click()
    await page.getByText('Toolkit deleted.').waitFor()
  })
})
