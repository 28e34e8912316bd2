import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ensureDemoServer } from '../../../src/cli/demo/demo-server.ts'
import { callText, connect } from '../../servers/mcp.ts'
import { startTestApp } from '../../support/app.ts'
import { openPage } from '../../support/open-page.ts'
import { checkPage } from './check-page.ts'
import { takeScreenshot, takesScreenshots } from './screenshots.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const AMOUNT = { from: 'EUR', to: 'JPY', amount: 100 }

/** Opens a browser on a new installation. */
const begin = async ({ hasScripts = true }: { hasScripts?: boolean } = {}) => {
  const app = await startTestApp()
  onTestFinished(() => app.close())
  const { page, complaints } = await openPage(app.origin, { javaScriptEnabled: hasScripts })
  const pathOf = () => new URL(page.url()).pathname
  return { app, page, complaints, pathOf }
}

const signUp = async (page: Page): Promise<void> => {
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
}

const check = (page: Page, name: string): Promise<string[]> =>
  checkPage(page, takesScreenshots ? (scheme, width) => takeScreenshot(page, name, scheme, width) : undefined)

describe('the first minute on an empty installation', () => {
  it('leads from the sign-up to a client’s call, which is shown at once', async () => {
    const { app, page, complaints, pathOf } = await begin()
    await signUp(page)
    await page.getByRole('heading', { name: 'Create your first tool' }).waitFor()
    expect(pathOf()).toBe('/first-run')
    expect(await check(page, 'first-run')).toEqual([])

    await page.getByRole('button', { name: 'Add the sample' }).click()
    await page.getByText('Waiting for the first call…').waitFor()
    const address = await page.getByRole('button', { name: 'Copy the MCP address' }).getAttribute('value')
    expect(address).toMatch(`${app.origin}/s/`)
    expect(await check(page, 'first-run_plugged')).toEqual([])

    const client = await connect(address ?? '')
    expect((await callText(client, 'convert_currency', AMOUNT)).text).toContain('16325')
    await page.getByText(/First call received: convert_currency, 200 OK in .*, from test\/1.0.0/).waitFor()
    expect(await page.locator('#first-call').getAttribute('data-state')).toBe('arrived')

    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Sample desk' }).waitFor()
    for (const path of ['/', '/first-run']) {
      await page.goto(path)
      expect(pathOf()).toBe('/servers')
    }
    expect(complaints.take()).toEqual([])
  })

  it('takes four clicks to a result without a client, and needs no scripts', async () => {
    const { page, pathOf } = await begin({ hasScripts: false })
    await signUp(page)
    await page.getByRole('button', { name: 'Add the sample' }).click()
    await page.getByLabel('amount').fill('a lot')
    await page.getByRole('button', { name: 'Call convert_currency' }).click()
    await page.getByText('amount must be a number, such as 1.5.').waitFor()
    expect(await page.getByLabel('amount').inputValue()).toBe('a lot')
    await page.getByLabel('amount').fill('100')
    await page.getByRole('button', { name: 'Call convert_currency' }).click()
    await page.getByText('First call completed').waitFor()
    expect(await page.getByRole('region', { name: 'Block 1' }).textContent()).toContain('16325')
    await page.goto('/')
    expect(pathOf()).toBe('/servers')
    await page.getByRole('link', { name: 'Sample desk', exact: true }).waitFor()
  })

  it.each([true, false])('starts where the demo was run once its sample is removed, scripts: %s', async hasScripts => {
    const { app, page, complaints, pathOf } = await begin({ hasScripts })
    await ensureDemoServer(app.services)
    await signUp(page)
    await page.getByRole('link', { name: 'Patchbay demo', exact: true }).click()
    await page.getByRole('heading', { name: 'Patchbay demo' }).waitFor()
    await page.getByRole('link', { name: 'Remove sample' }).click()
    await page.getByRole('button', { name: 'Remove sample' }).click()
    await page.getByRole('heading', { name: 'Create your first tool' }).waitFor()
    await page.getByText('Sample removed.').waitFor()
    expect(pathOf()).toBe('/first-run')
    expect(complaints.take()).toEqual([])
  })

  it('can be skipped, is not shown again, and starts later from the list', async () => {
    const { page, pathOf } = await begin()
    await signUp(page)
    await page.getByRole('button', { name: 'Skip for now' }).click()
    await page.getByRole('heading', { name: 'Nothing is plugged in yet' }).waitFor()
    expect(pathOf()).toBe('/servers')
    expect(await check(page, 'servers_first')).toEqual([])
    await page.goto('/first-run')
    expect(pathOf()).toBe('/servers')
    await page.getByRole('button', { name: 'Start with the sample toolkit' }).click()
    await page.getByRole('heading', { name: 'Sample desk' }).waitFor()
    await page.getByText('Waiting for the first call…').waitFor()
  })
})
