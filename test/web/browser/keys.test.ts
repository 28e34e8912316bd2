import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('single keys, in a real browser', () => {
  const patchbay = runPatchbay()
  let email: string
  let serverId: string
  beforeAll(async () => {
    const owner = await signUp(patchbay.origin)
    email = owner.email
    serverId = (await makeServer(owner, [], { server: { name: 'Desk' } })).serverId
  })

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const opened = await openPage(patchbay.origin, { email, ...options })
    await opened.page.goto(path)
    return opened
  }
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const focused = (page: Page) => page.evaluate('document.activeElement.id || document.activeElement.name || ""')

  it('/ goes to the search field of the page, and opens the palette where there is none', async () => {
    const { page, complaints } = await open('/toolkits')
    await press(page, '/')
    expect(await focused(page)).toBe('q')
    expect(await page.getByRole('searchbox').inputValue()).toBe('')
    await page.goto('/account')
    await press(page, '/')
    await page.getByRole('combobox', { name: 'Search and commands' }).waitFor()
    expect(complaints.take()).toEqual([])
  })

  it('G and a letter open the servers, the toolkits, and the history of the open server', async () => {
    const { page, complaints } = await open('/account')
    await press(page, 'g', 't')
    await page.waitForURL('**/toolkits')
    await press(page, 'g', 's')
    await page.waitForURL('**/servers')
    await page.goto(`/servers/${serverId}`)
    await press(page, 'g', 'h')
    await page.waitForURL(`**/servers/${serverId}/history`)
    expect(complaints.take()).toEqual([])
  })

  it('? pressed twice opens one dialog', async () => {
    const { page, complaints } = await open('/account')
    const held: (() => Promise<void>)[] = []
    await page.route('**/shortcuts', route => {
      held.push(() => route.continue())
    })
    const pressUntilAsked = async (): Promise<number> => {
      await press(page, '?')
      return held.length
    }
    await expect.poll(pressUntilAsked).toBeGreaterThan(0)
    await press(page, '?')
    // The page has handled the last key once it handles another one.
    await press(page, '/')
    const palette = page.getByRole('combobox', { name: 'Search and commands' })
    await palette.waitFor()
    await press(page, 'Escape')
    await palette.waitFor({ state: 'hidden' })
    for (const release of held) await release()
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).first().waitFor()
    expect(await page.locator('dialog.shortcuts').count()).toBe(1)
    expect(complaints.take()).toEqual([])
  })

  it('? lists the keys in a dialog, which Escape closes', async () => {
    const { page, complaints } = await open('/account')
    await press(page, '?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Search this page').waitFor()
    await press(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    await press(page, '?')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(complaints.take()).toEqual([])
  })

  it('do nothing while a field has the focus, with a modifier, or in a dialog', async () => {
    const { page } = await open('/toolkits')
    const field = page.getByRole('searchbox')
    await field.pressSequentially('?/gs')
    expect(await field.inputValue()).toBe('?/gs')
    await field.blur()
    await press(page, 'Control+/', 'Alt+?', 'Control+g', 's')
    expect(await focused(page)).toBe('')
    expect(new URL(page.url()).pathname).toBe('/toolkits')
    await press(page, '?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await press(page, 'g', 's', '/')
    await press(page, 'Escape')
    expect(new URL(page.url()).pathname).toBe('/toolkits')
  })

  it('can be turned off, which the browser remembers, and on again', async () => {
    const { page } = await open('/account')
    await press(page, '?')
    await page.getByRole('button', { name: 'Turn off single keys' }).click()
    await page.getByText('Single keys are turned off.').waitFor()
    await page.goto('/toolkits')
    await press(page, '/', 'g', 's')
    expect(await focused(page)).not.toBe('q')
    expect(new URL(page.url()).pathname).toBe('/toolkits')
    await press(page, 'ControlOrMeta+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).waitFor()
    await page.goto('/shortcuts')
    await page.getByRole('button', { name: 'Turn on single keys' }).click()
    await page.getByText('Single keys are turned on.').waitFor()
    // The text is there before the scripts.
    await page.waitForLoadState()
    await press(page, 'g', 't')
    await page.waitForURL('**/toolkits')
  })

  it('are listed on a page without scripts', async () => {
    const { page } = await open('/account', { javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Keyboard shortcuts' }).click()
    await page.getByText('Search this page').waitFor()
    await page.getByRole('button', { name: 'Turn off single keys' }).click()
    await page.getByText('Single keys are turned off.').waitFor()
  })
})
