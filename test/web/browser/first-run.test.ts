import type { Locator, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { ensureDemoServer } from '../../../src/cli/demo/demo-server.ts'
import { callText, connect } from '../../servers/mcp.ts'
import { startTestApp } from '../../support/app.ts'
import { createBrowser } from '../../support/browser.ts'
import { echo, startFakeApi } from '../../support/fake-api.ts'
import { openPage } from '../../support/open-page.ts'
import { checkPage } from './check-page.ts'
import { takeScreenshot, takesScreenshots } from './screenshots.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const Token = z.object({ token: z.string() })
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

/** Creates an access token for a client that cannot open a browser. */
const makeToken = async (origin: string): Promise<string> => {
  const session = createBrowser(origin)
  await session.signIn('ada@example.com', PASSWORD)
  await session.loadCsrfToken()
  return Token.parse((await session.send('POST', '/tokens', { name: 'client' })).json()).token
}

/** Counts clicks, filled-in fields and screens. */
const countSteps = (page: Page) => {
  const screens = new Set<string>()
  page.on('framenavigated', frame => {
    if (frame === page.mainFrame()) screens.add(new URL(frame.url()).pathname)
  })
  let clicks = 0
  let fields = 0
  return {
    counted: () => ({ screens: screens.size, fields, clicks }),
    click: async (locator: Locator): Promise<void> => {
      clicks++
      await locator.click()
    },
    type: async (locator: Locator, text: string): Promise<void> => {
      fields++
      await locator.fill(text)
    },
  }
}

describe('the first minute on an empty installation', () => {
  it('leads from the sign-up to a client’s call, which is shown at once', async () => {
    const { app, page, complaints, pathOf } = await begin()
    await signUp(page)
    await page.getByRole('heading', { name: 'Three steps to your first call' }).waitFor()
    expect(pathOf()).toBe('/first-run')
    expect(await check(page, 'first-run')).toEqual([])

    await page.getByRole('button', { name: 'Add sample API' }).click()
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
    await page.getByRole('button', { name: 'Add sample API' }).click()
    await page.getByLabel('amount').fill('a lot')
    await page.getByRole('button', { name: 'Call convert_currency' }).click()
    await page.getByText('The amount must be a number, such as 100.').waitFor()
    expect(await page.getByLabel('amount').inputValue()).toBe('a lot')
    await page.getByLabel('amount').fill('100')
    await page.getByRole('button', { name: 'Call convert_currency' }).click()
    await page.getByText('First call completed').waitFor()
    expect(await page.locator('pre').last().textContent()).toContain('16325')
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
    await page.getByRole('heading', { name: 'Three steps to your first call' }).waitFor()
    await page.getByText('Sample removed.').waitFor()
    expect(pathOf()).toBe('/first-run')
    expect(complaints.take()).toEqual([])
  })

  it('can be skipped, is not shown again, and starts later from the list', async () => {
    const { page, pathOf } = await begin()
    await signUp(page)
    await page.getByRole('button', { name: 'Skip this' }).click()
    await page.getByRole('heading', { name: 'Nothing is plugged in yet' }).waitFor()
    expect(pathOf()).toBe('/servers')
    expect(await check(page, 'servers_first')).toEqual([])
    await page.goto('/first-run')
    expect(pathOf()).toBe('/servers')
    await page.getByRole('button', { name: 'Start with the sample toolkit' }).click()
    await page.getByRole('heading', { name: 'Sample desk' }).waitFor()
    await page.getByText('Waiting for the first call…').waitFor()
  })

  it.each([true, false])(
    'takes 4 screens, 4 fields and 3 clicks to the result of a user’s own tool, scripts: %s',
    async hasScripts => {
      const fake = await startFakeApi(echo)
      onTestFinished(() => fake.close())
      const { app, page } = await begin({ hasScripts })
      await page.goto('/sign-up')
      const { click, type, counted } = countSteps(page)
      await type(page.getByLabel('Email'), 'ada@example.com')
      await type(page.getByLabel('Password'), PASSWORD)
      await click(page.getByRole('button', { name: 'Create account' }))
      await type(page.getByLabel('Tool name'), 'get_order')
      await type(page.getByLabel('URL'), `${fake.origin}/orders/{{id}}`)
      await click(page.getByRole('button', { name: 'Create tool' }))
      await click(page.getByRole('button', { name: 'Add to server' }))
      await page.getByText('Tool added.').waitFor()
      const address = await page.getByRole('button', { name: 'Copy the MCP address' }).getAttribute('value')

      const client = await connect(address ?? '', await makeToken(app.origin))
      expect((await callText(client, 'get_order', { id: 'KF-1' })).isError).toBe(false)
      expect(fake.seen.map(({ url }) => url)).toEqual(['/orders/KF-1'])
      if (hasScripts) await page.locator('#first-call[data-state="arrived"]').waitFor()
      // Adds the sign-up page, which was open before the counting began.
      const { screens, fields, clicks } = counted()
      expect({ screens: screens + 1, fields, clicks }).toEqual({ screens: 4, fields: 4, clicks: 3 })
    },
  )
})
