import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ApiClient, makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `<img src=x onerror="document.title='caught'"><b>bold</b>`
const SERVER = join(import.meta.dirname, '../../upstreams/servers/from-file.process.ts')
const NODE_ARGS = ['--disable-warning=ExperimentalWarning']

const inputSchema = { type: 'object', properties: { gate: { type: 'string' } } }
const READ = { name: 'read', description: 'Reads one.', inputSchema }
const OPEN = { name: 'open', description: HOSTILE, inputSchema }

describe('MCP servers behind a server, in a real browser', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const fake = runFakeApi()
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-upstreams-seen-'))
  let operator: ApiClient & { email: string }
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const opened = await openPage(patchbay.origin, { email: operator.email, ...options })
    await opened.page.goto(path)
    return opened
  }

  /** Waits for the page's live stream, because events before it is open would be missed. */
  const openLive = async (path: string) => {
    const opened = await openPage(patchbay.origin, { email: operator.email })
    await Promise.all([opened.page.waitForResponse(/\/live$/), opened.page.goto(path)])
    return opened
  }

  let made = 0
  const makeDesk = () =>
    makeServer(operator, [{ name: 'get_thing', method: 'GET', url: `${fake.origin}/things/{{id}}` }], {
      server: { name: `Desk ${made++}`, access: 'public' },
    })
  const attach = async (serverId: string, tools: readonly object[]) => {
    const file = join(folder, `${made++}.json`)
    const write = (now: readonly object[]): void => writeFileSync(file, JSON.stringify(now))
    write(tools)
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, {
      name: 'yard',
      transport: 'stdio',
      command: process.execPath,
      args: [...NODE_ARGS, SERVER, file],
    })
    return { id, write, path: `/servers/${serverId}/sources/upstreams/${id}` }
  }
  const refresh = (id: string) => operator.expectOk('POST', `/upstreams/${id}/refresh`)

  it('appear in the diagram with their health and tools, and follow changes', async () => {
    const { serverId } = await makeDesk()
    const { page, complaints } = await openLive(`/servers/${serverId}`)
    const texts = () => page.locator('#patch svg text').allTextContents()
    expect(await texts()).not.toContain('yard')
    await page.getByText('Show the wiring as a list').click()
    const { id } = await attach(serverId, [READ, OPEN])
    await refresh(id)
    const shown = ['connected', 'yard', 'yard_read', 'yard_open', 'MCP · not called']
    await expect.poll(texts, { timeout: 20_000 }).toEqual(expect.arrayContaining(shown))
    // Details that are open stay open.
    await page.getByRole('heading', { name: 'yard connected' }).waitFor()
    await operator.expectOk('PATCH', `/upstreams/${id}`, { command: '/nowhere/to-be-found', args: [] })
    await operator.send('POST', `/upstreams/${id}/refresh`)
    await expect.poll(async () => (await texts()).join('\n'), { timeout: 20_000 }).toMatch(/^failed, next try/m)
    await operator.expectOk('PATCH', `/upstreams/${id}`, { enabled: false })
    await expect.poll(texts, { timeout: 20_000 }).toContain('switched off')
    expect(complaints.take()).toEqual([])
  })

  it('show their state and offers on their own page, live and as escaped text', async () => {
    const { serverId } = await makeDesk()
    const { id, path } = await attach(serverId, [READ, OPEN])
    const { page, complaints } = await openLive(path)
    await page.locator('#connection .state', { hasText: 'idle' }).waitFor()
    await refresh(id)
    await page.locator('#connection .state', { hasText: /^connected$/ }).waitFor()
    await page.getByRole('cell', { name: HOSTILE }).waitFor()
    expect(await page.title()).not.toContain('caught')
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('MCP server disabled. Clients do not see it.').waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('MCP server enabled.').waitFor()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('The lists are up to date').waitFor()
    // Only then do its scripts run the search.
    await page.waitForLoadState()
    await page.getByRole('searchbox', { name: 'Search what it offers' }).fill('reads')
    await expect.poll(() => page.locator('#results tbody tr').count()).toBe(1)
    expect(complaints.take()).toEqual([])
  })

  it('keep search results if an earlier page arrives late', async () => {
    const { serverId } = await makeDesk()
    const { id, write, path } = await attach(serverId, [READ, OPEN])
    await refresh(id)
    const { page } = await openLive(path)
    const rows = page.locator('#results tbody tr')
    const late = Promise.withResolvers<void>()
    await page.route(
      url => url.pathname === path && url.search === '',
      async route => {
        const response = await route.fetch()
        await late.promise
        await route.fulfill({ response })
      },
    )
    const renewal = page.waitForRequest(request => request.url().endsWith(path))
    write([READ, { ...OPEN, description: 'Opens one, and more.' }])
    await refresh(id)
    await renewal
    await page.getByRole('searchbox', { name: 'Search what it offers' }).fill('reads')
    await expect.poll(() => rows.count()).toBe(1)
    const again = page.waitForResponse(
      response => response.url().includes('q=reads') && response.request().headers()['hx-request'] === undefined,
    )
    late.resolve()
    await again
    expect(await rows.count()).toBe(1)
  })

  it('hold back changes for approval, tool by tool, also without scripts', async () => {
    const { serverId, url } = await makeDesk()
    const { id, write, path } = await attach(serverId, [READ])
    await refresh(id)
    const { page } = await open(`/servers/${serverId}/settings`, { javaScriptEnabled: false })
    await page.getByLabel('Review changed and new tools before clients see them').check()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved. Changes apply from the next call.').waitFor()
    write([{ ...READ, description: 'Reads one, and more.' }, OPEN])
    await refresh(id)
    await page.goto(`/servers/${serverId}/sources`)
    await page.getByRole('link', { name: '2 changes to approve' }).click()
    await expect
      .poll(() => page.locator('#waiting ins').allTextContents())
      .toEqual(expect.arrayContaining([HOSTILE, ', and more']))
    await page.getByRole('button', { name: 'Approve number 2, read' }).click()
    await page.getByText('1 tool approved.').waitFor()
    const client = new Client({ name: 'official', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    onTestFinished(() => client.close())
    const list = async () => (await client.listTools()).tools.map(({ name, description }) => `${name}: ${description}`)
    expect(await list()).toEqual([expect.stringMatching(/^get_thing/), 'yard_read: Reads one, and more.'])
    await page.goto(path)
    await page.getByRole('button', { name: 'Approve number 1, open' }).click()
    await page.getByText('1 tool approved.').waitFor()
    expect(await list()).toContain(`yard_open: ${HOSTILE}`)
    expect(await page.locator('#waiting').count()).toBe(0)
    write([{ ...READ, inputSchema: { ...inputSchema, required: ['gate'] } }, OPEN])
    await refresh(id)
    await page.goto(path)
    await page.getByText('Now required: gate').waitFor()
    await page.getByRole('button', { name: 'Reject number 1, read' }).click()
    await page.getByText('1 change rejected.').waitFor()
    await page.getByText('Nothing at the moment').waitFor()
    expect(await list()).toContain('yard_read: Reads one, and more.')
  })

  it('are counted in the server list, callable in the inspector, and listed in the history', async () => {
    const { serverId } = await makeDesk()
    const { id } = await attach(serverId, [READ, OPEN])
    await refresh(id)
    const { page } = await open(`/servers?q=${serverId}`)
    await page.getByText('3 tools', { exact: true }).waitFor()
    await page.goto(`/servers/${serverId}/inspector?tool=yard_read`)
    await page.getByRole('button', { name: 'Call' }).first().click()
    await page.getByText('called read').first().waitFor()
    await page.goto(`/servers/${serverId}/history`)
    await page.getByRole('region', { name: 'Table of calls' }).getByRole('link').first().click()
    await page.getByText('mcp:yard/read').first().waitFor()
  })
})
