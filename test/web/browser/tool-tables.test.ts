import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const TOOLS = ['first', 'second', 'third'].map(name => ({ name, method: 'GET', url: 'https://api.example.com/{{id}}' }))

/** The suggestions below it have tables of their own. */
const tableOf = (page: Page) => page.getByRole('region', { name: 'Tools and their bindings' })

describe('the tables of tools, in a real browser', () => {
  const patchbay = runPatchbay()

  const open = async (javaScriptEnabled = true) => {
    const owner = await signUp(patchbay.origin)
    const made = await makeServer(owner, TOOLS, { server: { name: 'Desk' } })
    const { page, complaints } = await openPage(patchbay.origin, { email: owner.email, javaScriptEnabled })
    return { ...made, page, complaints }
  }

  it('count the selection, and select all tools of the page', async () => {
    const { page, toolkitId, complaints } = await open()
    await page.goto(`/toolkits/${toolkitId}`)
    const status = page.locator('[data-selection]')
    const all = page.getByRole('checkbox', { name: 'Select all tools on this page' })
    await page.getByRole('checkbox', { name: 'Select second' }).check()
    expect(await status.textContent()).toBe('1 selected')
    await all.check()
    expect(await status.textContent()).toBe('3 selected')
    await page.getByRole('checkbox', { name: 'Select first' }).uncheck()
    expect(await all.isChecked()).toBe(false)
    await all.check()
    await all.uncheck()
    expect(await status.textContent()).toBe('Select tools to move or delete them.')
    expect(complaints.take()).toEqual([])
  })

  it('open a tool from anywhere in its row, but not from its checkbox', async () => {
    const { page, serverId, instanceIds } = await open()
    await page.goto(`/servers/${serverId}/tools`)
    const row = tableOf(page).getByRole('row').filter({ hasText: 'second' })
    await row.getByRole('checkbox').check()
    expect(page.url()).toMatch(/\/tools$/)
    const box = await row.boundingBox()
    if (box === null) throw new Error('the row is not shown')
    await page.mouse.click(box.x + box.width - 8, box.y + 4)
    await page.waitForURL(`**/tools/${instanceIds.second}`)
  })

  it('sort, and remove the selected tools, without scripts', async () => {
    const { page, serverId } = await open(false)
    await page.goto(`/servers/${serverId}/tools`)
    await page.getByRole('link', { name: 'Tool', exact: true }).click()
    await page.waitForURL('**/tools?sort=-tool')
    expect(await tableOf(page).locator('tbody th code').allTextContents()).toEqual(['third', 'second', 'first'])
    await page.getByRole('checkbox', { name: 'Select first' }).check()
    await page.getByRole('checkbox', { name: 'Select third' }).check()
    await page.getByRole('button', { name: 'Remove from this server…' }).click()
    await page.getByRole('heading', { name: 'Remove 2 tools?' }).waitFor()
    await page.getByLabel('Type the name to confirm').fill('Desk')
    await page.getByRole('button', { name: 'Remove tools' }).click()
    await page.getByText('2 tools removed from this server').waitFor()
    expect(await tableOf(page).locator('tbody th code').allTextContents()).toEqual(['second'])
  })

  it.each([true, false])('disable and enable the selected tools (with scripts: %s)', async hasScripts => {
    const { page, serverId, complaints } = await open(hasScripts)
    await page.goto(`/servers/${serverId}/tools?sort=-tool`)
    const disabled = () => tableOf(page).getByRole('row').filter({ hasText: 'Disabled' }).locator('th code')
    for (const name of ['first', 'third']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await page.getByText('2 tools disabled').waitFor()
    expect(page.url()).not.toContain('_csrf')
    expect(await disabled().allTextContents()).toEqual(['third', 'first'])
    await page.getByRole('checkbox', { name: 'Select third' }).check()
    await page.getByRole('button', { name: 'Enable', exact: true }).click()
    await page.getByText('Tool enabled').waitFor()
    expect(await disabled().allTextContents()).toEqual(['first'])
    await page.getByRole('checkbox', { name: 'Select third' }).check()
    await page.getByRole('button', { name: 'Remove from this server…' }).click()
    await page.getByRole('heading', { name: 'Remove third?' }).waitFor()
    expect(page.url()).not.toContain('_csrf')
    expect(complaints.take()).toEqual([])
  })

  it('move the selected tools, without scripts', async () => {
    const { page, toolkitId } = await open(false)
    await page.goto('/toolkits/new')
    await page.getByLabel('Title', { exact: true }).fill('Elsewhere')
    await page.getByRole('button', { name: 'Create toolkit' }).click()
    await page.goto(`/toolkits/${toolkitId}`)
    await page.getByRole('checkbox', { name: 'Select second' }).check()
    await page.getByRole('button', { name: 'Move to another toolkit…' }).click()
    await page.getByLabel('Move to').selectOption({ label: 'Elsewhere' })
    await page.getByRole('button', { name: 'Move tools' }).click()
    await page.getByText('1 tool moved to this toolkit.').waitFor()
    await page.getByRole('heading', { name: 'Elsewhere', level: 1 }).waitFor()
  })
})
