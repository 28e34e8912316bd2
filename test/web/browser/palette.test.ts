import type { BrowserContextOptions } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `<img src=x onerror="document.title='caught'">`

describe('the palette, in a real browser', () => {
  const patchbay = runPatchbay()
  let email: string
  let serverId: string
  beforeAll(async () => {
    const owner = await signUp(patchbay.origin)
    email = owner.email
    const tools = ['pick_up', 'drop_off'].map(name => ({ name, method: 'GET', url: 'https://api.example.com/' }))
    serverId = (await makeServer(owner, tools, { server: { name: 'Pick desk' } })).serverId
    await owner.create('/servers', { name: HOSTILE })
  })

  const open = async (options: BrowserContextOptions = {}) => {
    const opened = await openPage(patchbay.origin, { email, ...options })
    await opened.page.goto('/toolkits')
    const field = opened.page.getByRole('combobox', { name: 'Search and commands' })
    const selected = opened.page.locator('#found [aria-selected="true"]')
    return { ...opened, field, selected }
  }

  it('opens with the keyboard, also while a field has the focus, and closes with Escape', async () => {
    const { page, field, complaints } = await open()
    const search = page.getByRole('searchbox')
    await search.focus()
    await page.keyboard.press('ControlOrMeta+k')
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox')
    await page.getByRole('option', { name: 'New server' }).waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.name')).toBe('q')
    expect(await search.inputValue()).toBe('')
    expect(complaints.take()).toEqual([])
  })

  it('moves between results with the arrow keys, and opens the selected one with Enter', async () => {
    const { page, field, selected, complaints } = await open()
    await page.getByRole('link', { name: 'Search' }).click()
    await field.pressSequentially('pick')
    await selected.filter({ hasText: 'Pick desk' }).waitFor()
    expect(await field.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'))
    await page.keyboard.press('ArrowUp')
    const last = page.getByRole('option').last()
    expect(await selected.getAttribute('id')).toBe(await last.getAttribute('id'))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await selected.textContent()).toContain('pick_up')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/servers/${serverId}`)
    expect(complaints.take()).toEqual([])
  })

  it('shows names as text, and says when nothing matches', async () => {
    const { page, field, complaints } = await open()
    await page.keyboard.press('ControlOrMeta+k')
    await field.fill('img src')
    await page.getByRole('option', { name: '<img src=x' }).waitFor()
    await field.fill('nothing has this')
    await page.getByText('Nothing matches your search.').waitFor()
    expect(await page.title()).not.toContain('caught')
    expect(complaints.take()).toEqual([])
  })

  it('asks the user to sign in again if the session has ended', async () => {
    const { page, field, context } = await open()
    await context.clearCookies()
    await page.keyboard.press('ControlOrMeta+k')
    await page.waitForURL('**/sign-in?return_to=*')
    expect(await field.count()).toBe(0)
  })

  it('is a page without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('pick')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'Pick desk' }).first().click()
    await page.waitForURL(`**/servers/${serverId}`)
  })
})
