import { randomUUID } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `<img src=x onerror="document.title='caught'"><b>bold</b>`

describe('the overview of a server, in a real browser', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()

  /** Opens the page of a new server as its owner. */
  const open = async (options: BrowserContextOptions = {}) => {
    const owner = await signUp(patchbay.origin)
    const tool = { name: 'get_thing', method: 'GET', url: `${fake.origin}/things/{{id}}` }
    const made = await makeServer(owner, [tool], { server: { name: 'Desk' } })
    const { page, complaints } = await openPage(patchbay.origin, { email: owner.email, ...options })
    await page.goto(`/servers/${made.serverId}`)
    return { owner, page, complaints, ...made }
  }

  const callAs = async (url: string, name: string): Promise<void> => {
    const client = new Client({ name, version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.callTool({ name: 'get_thing', arguments: { id: '1' } })
    await client.close()
  }

  it('shows a new call at once: the check mark, the row, the figures; with the client’s name as text', async () => {
    const { page, complaints, url } = await open()
    await page.getByText('Waiting for the first call…').waitFor()
    await page.getByText('No calls yet.').waitFor()
    expect(await page.locator('[data-figure="calls"] span').textContent()).toBe('0')
    await callAs(url, HOSTILE)
    await page.locator('#first-call[data-state="arrived"]').waitFor()
    const row = page.locator('#calls tr')
    await row.filter({ hasText: 'get_thing' }).waitFor()
    expect(await row.count()).toBe(1)
    expect(await row.locator('td').last().textContent()).toBe(`${HOSTILE}/1`)
    expect(await page.getByText('No calls yet.').isVisible()).toBe(false)
    await expect.poll(() => page.locator('[data-figure="calls"] span').textContent()).toBe('1')
    expect(await page.title()).not.toContain('caught')
    const href = await row.getByRole('link', { name: 'get_thing' }).getAttribute('href')
    expect(href).toMatch(/^\/servers\/[0-9a-f-]{36}\/history\/[0-9a-f-]{36}$/)
    expect((await page.request.get(href ?? '')).status()).toBe(200)
    await page.reload()
    expect(await row.locator('td').last().textContent()).toBe(`${HOSTILE}/1`)
    expect(await page.getByText('Waiting for the first call…').count()).toBe(0)
    expect(complaints.take()).toEqual([])
  })

  it('inserts a call that another process records late by its time', async () => {
    const { page, url, serverId } = await open()
    await callAs(url, 'claude-code')
    const names = page.locator('#calls tr code')
    await expect.poll(() => names.allTextContents()).toEqual(['get_thing'])
    await patchbay.services.db.execution.create({
      data: {
        id: randomUUID(),
        serverId,
        tool: 'called_before',
        startedAt: new Date(Date.now() - 60_000),
        durationMs: 1,
        outcome: 'ok',
        requestBytes: 0,
        responseBytes: 0,
      },
    })
    await expect.poll(() => names.allTextContents()).toEqual(['get_thing', 'called_before'])
  })

  it('shows that a change is live, and on how many connections', async () => {
    const { owner, page, serverId, url } = await open()
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    await fetch(`${url}/sse`, { headers: { accept: 'text/event-stream' }, signal: controller.signal })
    await page.getByText('Online · 1 connection', { exact: true }).waitFor()
    await owner.expectOk('PATCH', `/servers/${serverId}`, { description: 'Changed' })
    await page.getByText('Changed just now. Online · 1 connection').waitFor()
  })

  it('copies the address, and shows the instructions for each client', async () => {
    const { page, url } = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('button', { name: 'Copy the MCP address' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(url)
    await page.getByRole('link', { name: 'Command line' }).click()
    await page.getByText(`claude mcp add --transport http desk ${url}`).waitFor()
  })

  it('shows everything without scripts', async () => {
    const { page, url } = await open({ javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Command line' }).click()
    await page.getByText(`claude mcp add --transport http desk ${url}`).waitFor()
    await callAs(url, 'claude-code')
    await patchbay.services.recorder.flush()
    await page.reload()
    await page.getByText('Charts and table by hour').click()
    await page
      .getByRole('img', { name: /^Calls by hour: 1 in the last 24 hours, 0 rejected, 0 failed; busiest hour from/ })
      .waitFor()
    await page.getByRole('img', { name: /^Call duration by hour/ }).waitFor()
    await page.getByText('Show the wiring as a list').click()
    await page.getByRole('heading', { name: 'get_thing' }).waitFor()
  })
})
