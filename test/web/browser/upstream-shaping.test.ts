import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'
import { type Asked, runScriptedUpstreams } from '../../upstreams/scripted-upstream.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = '<script>alert(1)</script><b>bold</b>'
const SAMPLE = JSON.stringify({
  orders: Array.from({ length: 20 }, (_, id) => ({
    id,
    note: HOSTILE,
    links: { self: `https://api.example.com/${id}` },
  })),
})
const SCHEMA = { type: 'object', properties: { orders: { type: 'array' } }, required: ['orders'] }
const TOOLS = [
  { name: 'list_orders', description: HOSTILE, inputSchema: { type: 'object' } },
  {
    name: 'odd/name & more?',
    inputSchema: { type: 'object' },
    outputSchema: SCHEMA,
    annotations: { readOnlyHint: true },
  },
]

const patchbay = runPatchbay()
const resultOf = ({ params }: Asked): string => {
  const { fail } = z.record(z.string(), z.unknown()).parse(params?.arguments ?? {})
  const text = fail === undefined ? SAMPLE : `${HOSTILE} is not there`
  return JSON.stringify({ content: [{ type: 'text', text }], isError: fail !== undefined })
}
const upstreams = runScriptedUpstreams({ orders: { tools: () => TOOLS, result: resultOf } })
let builder: ApiClient & { email: string }
let path: string
let upstreamId: string
beforeAll(async () => {
  builder = await signUp(patchbay.origin)
  const { id: serverId } = await builder.create('/servers', { name: 'Orders', access: 'public' })
  const upstream = { name: 'shop', transport: 'http', url: upstreams.urlOf('orders') }
  upstreamId = (await builder.create(`/servers/${serverId}/upstreams`, upstream)).id
  await builder.expectOk('POST', `/upstreams/${upstreamId}/refresh`)
  path = `/servers/${serverId}/sources/upstreams/${upstreamId}`
})

const open = async (options: BrowserContextOptions = {}) => {
  const opened = await openPage(patchbay.origin, { email: builder.email, ...options })
  await opened.page.goto(path)
  return opened
}
const readAnswers = async () => {
  const { body } = await builder.expectOk('GET', `/upstreams/${upstreamId}`)
  return z.looseObject({ toolAnswers: z.unknown(), responseTokens: z.unknown() }).parse(body)
}
const after = (page: Page) => page.getByRole('region', { name: 'After' })

it('a pasted response is shown before and after shaping while the rules are edited', async () => {
  const { page, complaints } = await open()
  await page.getByRole('link', { name: 'Results of shop_list_orders: server default' }).click()
  // The scripts of the page run before its load event.
  await page.waitForLoadState()
  await page.getByText('Enter a result above').waitFor()
  await page.getByLabel('Text of a result').fill(SAMPLE)
  await page.getByText('same number of tokens').waitFor()
  await page.getByLabel('Drop fields').fill('orders[].links')
  await page.getByText(/^\d+ % fewer tokens$/).waitFor()
  expect(await after(page).textContent()).not.toContain('api.example.com')
  expect(await page.locator('.side-text b').count()).toBe(0)
  await page.getByLabel('Transform', { exact: true }).fill('orders[')
  await page.getByText(/Line 1, column \d+: .*JSONata/).waitFor()
  await page.getByLabel('Transform', { exact: true }).fill('$count(orders)')
  await after(page).getByText('20', { exact: true }).waitFor()
  await page.getByLabel('Max response tokens').fill('2,000')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await readAnswers()).toMatchObject({
    responseTokens: { list_orders: 2_000 },
    toolAnswers: {
      list_orders: {
        response: { dropFields: ['orders[].links'], transform: { language: 'jsonata', expression: '$count(orders)' } },
      },
    },
  })
  await page.goto(path)
  await page.getByRole('link', { name: 'Results of shop_list_orders: 2,000 tokens, shaped' }).waitFor()
  expect(complaints.take()).toEqual([])
})

it('calls the tool for a sample response, and keeps all input', async () => {
  const { page, complaints } = await open()
  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByLabel('Drop fields').fill('orders[].note')
  const args = page.getByLabel('Arguments')
  const callIt = page.getByRole('button', { name: 'Call tool' })
  await args.fill('{"fail": ')
  await callIt.click()
  await page.getByText(/line 1, column \d+/).waitFor()
  await args.fill('{"fail": 1}')
  await callIt.click()
  await page.getByText(`${HOSTILE} is not there`).waitFor()
  await args.fill('{"page": 2}')
  await callIt.click()
  await page.getByText(/^\d+ % fewer tokens$/).waitFor()
  expect(await page.getByLabel('Text of a result').inputValue()).toBe(SAMPLE)
  expect([await args.inputValue(), await page.getByLabel('Drop fields').inputValue()]).toEqual([
    '{"page": 2}',
    'orders[].note',
  ])
  expect(await after(page).textContent()).not.toContain('bold')
  expect(complaints.take(400)).toEqual([])
})

it('works without scripts on a narrow screen, and warns of results that violate the schema', async () => {
  const { page } = await open({ javaScriptEnabled: false, viewport: { width: 360, height: 740 }, colorScheme: 'dark' })
  await page.goto(`${path}/tool?${new URLSearchParams({ name: 'odd/name & more?' })}`)
  await page.getByLabel('Text of a result').fill(SAMPLE)
  await page.getByLabel('Drop fields').fill('orders')
  await page.getByRole('button', { name: 'Preview without saving' }).click()
  await page.getByText(/does not match the tool's output schema/).waitFor()
  await page.getByLabel('Drop fields').fill('orders[].note')
  await page.getByLabel('Cache responses for (s)').fill('30')
  await page.getByLabel('Cache scope').selectOption('yes')
  await page.getByRole('button', { name: 'Preview without saving' }).click()
  await page.getByText(/% fewer tokens/).waitFor()
  expect(await page.getByLabel('Text of a result').inputValue()).toBe(SAMPLE)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await readAnswers()).toMatchObject({
    toolAnswers: {
      'odd/name & more?': { response: { dropFields: ['orders[].note'] }, cacheSeconds: 30, cacheShared: true },
    },
  })
})

it('keeps the input if it cannot be saved or someone else saved first', async () => {
  const { page } = await open()
  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByLabel('Cache responses for (s)').fill('30')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/is only for read-only tools/).waitFor()
  await builder.expectOk('PATCH', `/upstreams/${upstreamId}`, { description: 'Changed meanwhile.' })
  await page.getByLabel('Read-only').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Somebody else has changed the MCP server').waitFor()
  expect(await page.getByLabel('Cache responses for (s)').inputValue()).toBe('30')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await readAnswers()).toMatchObject({ toolAnswers: { list_orders: { cacheSeconds: 30, readOnly: true } } })
  expect((await page.goto(`${path}/tool?name=nowhere`))?.status()).toBe(404)
})

it('restores unsaved changes of this tool only, also after a call', async () => {
  const { page } = await open()
  const cookies = await page.context().cookies()
  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByLabel('Drop fields').fill('orders[].id')
  await page.getByLabel('Arguments').fill('{"page": 2}')
  await page.getByRole('button', { name: 'Call tool' }).click()
  await page.getByText(/^\d+ % fewer tokens$/).waitFor()
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Password').waitFor()
  await page.context().addCookies(cookies)

  await page.goto(`${path}/tool?${new URLSearchParams({ name: 'odd/name & more?' })}`)
  await page.getByLabel('Drop fields').waitFor()
  expect(await page.getByText('You have unsaved changes').count()).toBe(0)
  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => page.getByLabel('Drop fields').inputValue()).toBe('orders[].id')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByLabel('Drop fields').waitFor()
  expect(await page.getByText('You have unsaved changes').count()).toBe(0)
})

it('reports the end of a session, and continues after the next sign-in', async () => {
  const { page } = await open()
  const cookies = await page.context().cookies()
  const isOver = page.getByRole('alert').getByText('Your session has ended. Sign in again in another tab')
  const search = page.getByRole('searchbox')
  await search.waitFor()
  await page.context().clearCookies()
  await search.fill('list')
  await isOver.waitFor()
  await page.context().addCookies(cookies)
  await search.fill('list_orders')
  await page.getByRole('link', { name: 'Results of shop_list_orders' }).waitFor()

  await page.goto(`${path}/tool?name=list_orders`)
  await page.getByText('Enter a result above').waitFor()
  await page.context().clearCookies()
  await page.getByLabel('Text of a result').fill('{')
  await isOver.waitFor()
  await page.context().addCookies(cookies)
  await page.getByLabel('Text of a result').fill(SAMPLE)
  await after(page).waitFor()
  expect(await isOver.count()).toBe(0)
})

// This test must be last, because it removes the tool.
it('says what to do if the called tool is no longer listed', async () => {
  await builder.expectOk('PATCH', `/upstreams/${upstreamId}`, { toolAnswers: { list_orders: { cacheSeconds: 60 } } })
  const { page } = await open()
  await page.goto(`${path}/tool?name=list_orders`)
  TOOLS.shift()
  await builder.expectOk('POST', `/upstreams/${upstreamId}/refresh`)
  await page.getByRole('button', { name: 'Call tool' }).click()
  await page.getByText('Refresh the MCP server on its page to check again.').waitFor()
  expect(await page.getByRole('button', { name: 'Call tool' }).count()).toBe(0)
})
