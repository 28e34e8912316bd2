import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openPage } from '../../support/open-page.ts'
import { startPatchbay } from '../../support/process.ts'
import { runFakeApi } from '../../support/world.ts'
import { runScriptedUpstreams } from '../../upstreams/scripted-upstream.ts'
import { checkPage } from './check-page.ts'
import { countSteps, watchSteps } from './count-steps.ts'
import { takeScreenshot, takesScreenshots } from './screenshots.ts'

vi.setConfig({ testTimeout: 90_000 })

const PASSWORD = 'correct horse battery staple'
const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const fake = runFakeApi()
const upstreams = runScriptedUpstreams({
  weather: {
    tools: () => [
      { name: 'list_alerts', description: 'Weather alerts.', inputSchema: { type: 'object' } },
      {
        name: 'forecast',
        description: 'The forecast for a depot.',
        inputSchema: { type: 'object', properties: { depot: { type: 'string' } }, required: ['depot'] },
      },
      { name: 'purge', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
    ],
    capabilities: { tools: {}, prompts: {} },
    result: ({ method }) =>
      method === 'prompts/list' ? '{"prompts":[{"name":"brief"}]}' : '{"content":[{"type":"text","text":"no alerts"}]}',
  },
})

const command = () => `$ curl '${fake.origin}/v2/shipments/4411/events?limit=20' \\
  -H 'Authorization: Bearer ${TOKEN}' \\
  -H 'Accept: application/json'
`

/** Opens the sign-up page of a new installation, and counts what the user does from there on; with scripts, in the browser. */
const begin = async ({ hasScripts = true, origin }: { hasScripts?: boolean; origin?: string } = {}) => {
  const start = async () => {
    const app = await startTestApp()
    onTestFinished(() => app.close())
    return app.origin
  }
  const { page, complaints } = await openPage(origin ?? (await start()), { javaScriptEnabled: hasScripts })
  const seen = hasScripts ? await watchSteps(page) : undefined
  await page.goto('/sign-up')
  const steps = countSteps(page)
  return { page, complaints, ...steps, counted: () => ({ ...steps.counted(), ...seen?.() }) }
}

type Begun = Awaited<ReturnType<typeof begin>>

const signUp = async ({ page, type, click }: Begun): Promise<void> => {
  await type(page.getByLabel('Email'), 'ada@example.com')
  await type(page.getByLabel('Password'), PASSWORD)
  await click(page.getByRole('button', { name: 'Create account' }))
  await page.getByRole('heading', { name: 'Create your first tool' }).waitFor()
}

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name })
const pasteField = (page: Page): Locator => page.getByLabel('URL or cURL command')
const mcpField = (page: Page): Locator => page.getByLabel('Server URL')

const check = (page: Page, name: string): Promise<string[]> =>
  checkPage(page, takesScreenshots ? (scheme, width) => takeScreenshot(page, name, scheme, width) : undefined)

describe.each([true, false])('from the sign-up page to the first answered call, scripts: %s', hasScripts => {
  it('the sample takes 2 screens, 2 fields and 3 clicks', async () => {
    const begun = await begin({ hasScripts })
    const { page, click, counted } = begun
    await signUp(begun)
    await click(button(page, 'Add the sample'))
    await click(button(page, 'Call convert_currency'))
    await page.getByRole('heading', { name: 'Your first tool works' }).waitFor()
    expect(await page.getByRole('region', { name: 'Block 1' }).textContent()).toContain('16325')
    expect(counted()).toEqual({ screens: 2, fields: 2, clicks: 3 })
  })

  it('a cURL command with its token takes 3 screens, 3 fields and 4 clicks', async () => {
    const begun = await begin({ hasScripts })
    const { page, type, click, counted, complaints } = begun
    await signUp(begun)
    await type(pasteField(page), command())
    await click(button(page, 'Continue'))
    await page.getByRole('heading', { name: 'Review the request' }).waitFor()
    const secret = page.getByLabel('access_token')
    expect([await secret.inputValue(), await secret.getAttribute('type')]).toEqual(['', 'password'])
    expect(await page.getByLabel('Tool name').inputValue()).toBe('get_shipment_events')
    await click(button(page, 'Create tool'))
    await click(button(page, 'Call get_shipment_events'))
    await page.getByRole('heading', { name: 'Your first tool works' }).waitFor()
    expect(counted()).toEqual({ screens: 3, fields: 3, clicks: 4 })

    expect(fake.seen.at(-1)).toMatchObject({
      method: 'GET',
      url: '/v2/shipments/4411/events?limit=20',
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/json' },
    })
    expect(await page.content()).not.toContain(TOKEN)
    await button(page, 'Copy the MCP address').waitFor()
    expect(complaints.take()).toEqual([])
  })

  it('an attached MCP server takes 3 screens, 3 fields and fewer than 5 clicks', async () => {
    const begun = await begin({ hasScripts })
    const { page, type, click, counted, complaints } = begun
    await signUp(begun)
    await type(mcpField(page), upstreams.urlOf('weather'))
    await click(button(page, 'Connect'))
    await page.getByText('3 tools, 1 prompt').waitFor()
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(2)
    await click(button(page, 'Offer these tools'))
    await click(button(page, 'Call mcp_list_alerts'))
    await page.getByText('no alerts').waitFor()
    expect(counted()).toEqual({ screens: 3, fields: 3, clicks: 4 })
    expect(await page.getByRole('link', { name: 'mcp_forecast' }).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'mcp_purge' }).count()).toBe(0)
    expect(complaints.take()).toEqual([])
  })
})

describe('the doors of the first run', () => {
  it('look right in every state', async () => {
    const begun = await begin()
    const { page } = begun
    await signUp(begun)
    await pasteField(page).fill('get my orders')
    await button(page, 'Continue').click()
    await page.getByText('No URL was found.').waitFor()
    expect(await check(page, 'first-run_paste-refused')).toEqual([])
    await mcpField(page).fill(fake.origin)
    await button(page, 'Connect').click()
    await page.getByText('Could not connect.').waitFor()
    expect(await mcpField(page).inputValue()).toBe(fake.origin)
    expect(await check(page, 'first-run_url-refused')).toEqual([])
    await pasteField(page).fill(command())
    await button(page, 'Continue').click()
    await page.getByText('1 secret found.').waitFor()
    expect(await check(page, 'first-run_request')).toEqual([])
    await page.getByLabel('Tool name').fill('订单')
    await button(page, 'Create tool').click()
    await page.getByText('The name must be 1 to 64 characters').waitFor()
    expect(await check(page, 'first-run_request-refused')).toEqual([])
    await page.getByLabel('Tool name').fill('Get events')
    await button(page, 'Create tool').click()
    await button(page, 'Call get_events').waitFor()
    expect(await check(page, 'first-run_call')).toEqual([])
    await button(page, 'Call get_events').click()
    await page.getByRole('heading', { name: 'Your first tool works' }).waitFor()
    expect(await check(page, 'first-run_answered')).toEqual([])
  })

  it('the tools of an attached MCP server are chosen on a page that looks right', async () => {
    const begun = await begin()
    const { page } = begun
    await signUp(begun)
    await mcpField(page).fill(upstreams.urlOf('weather'))
    await button(page, 'Connect').click()
    await page.getByRole('heading', { name: 'mcp is connected' }).waitFor()
    expect(await check(page, 'first-run_attached')).toEqual([])
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck()
    await button(page, 'Offer these tools').click()
    await page.getByText('Select at least one tool.').waitFor()
  })
})

/** What the browser has stored, the state of the history, the values of all fields, and the page. */
const EVERYTHING = `JSON.stringify([
  { ...localStorage },
  { ...sessionStorage },
  history.state,
  [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value),
  document.documentElement.outerHTML,
])`

it('a pasted token is nowhere but in the request: not in the browser, the page, the database or the log', async () => {
  const patchbay = await startPatchbay({
    env: { PATCHBAY_LOG_LEVEL: 'trace', PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128' },
  })
  const begun = await begin({ origin: patchbay.origin })
  const { page } = begun
  const sent: string[] = []
  page.on('request', request => {
    if (request.postData()?.includes(TOKEN)) sent.push(new URL(request.url()).pathname)
  })
  const expectNowhere = async () => expect(String(await page.evaluate(EVERYTHING))).not.toContain(TOKEN)
  await signUp(begun)
  await pasteField(page).fill(command().replace("curl '", "curl -H 'X-Header"))
  await button(page, 'Continue').click()
  await page.getByText('This cURL command cannot be read').waitFor()
  await expectNowhere()
  await pasteField(page).fill(command())
  await button(page, 'Continue').click()
  await page.getByText('1 secret found.').waitFor()
  await expectNowhere()
  await page.getByLabel('Tool name').fill('订单')
  await button(page, 'Create tool').click()
  await page.getByText('The name must be 1 to 64 characters').waitFor()
  await expectNowhere()
  await page.getByLabel('Tool name').fill('get_events')
  await button(page, 'Create tool').click()
  await button(page, 'Call get_events').click()
  await page.getByRole('heading', { name: 'Your first tool works' }).waitFor()
  await expectNowhere()
  expect(fake.seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  expect(sent).toEqual(['/first-run/request', '/first-run/request'])

  const { stdout, stderr } = await patchbay.stop()
  expect(stdout).toContain('"level":')
  expect(stdout + stderr).not.toContain(TOKEN)
  const folder = dirname(patchbay.databaseFile)
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  const contents = await Promise.all(files.map(file => readFile(join(file.parentPath, file.name), 'latin1')))
  expect(contents.some(text => text.includes('get_events'))).toBe(true)
  expect(contents.filter(text => text.includes(TOKEN))).toEqual([])
})
