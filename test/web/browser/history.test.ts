import { randomUUID } from 'node:crypto'
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/lib/kernel/durations.ts'
import { buildExecution } from '../../history/execution.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

/** UTC+14 all year, where the day of a call in the evening (UTC) is the next one. */
const EAST = 'Pacific/Kiritimati'
const LATE = new Date('2025-11-24T12:30:05.250Z')
const EARLY = new Date('2025-11-24T02:10:00Z')

describe('the history of a server, in a real browser', () => {
  const patchbay = runPatchbay()

  /** Opens the history of a server with calls at these times. The tools are `call_0`, `call_1` and so on. */
  const open = async (times: readonly Date[], options: BrowserContextOptions = {}) => {
    const owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [], { server: { name: 'Desk' } })
    const calls = times.map((startedAt, index) => ({ id: randomUUID(), tool: `call_${index}`, startedAt }))
    await patchbay.services.db.execution.createMany({
      data: calls.map(call => ({
        ...call,
        serverId,
        durationMs: 1,
        outcome: 'ok' as const,
        status: 200,
        requestBytes: 0,
        responseBytes: 0,
      })),
    })
    const { page, complaints } = await openPage(patchbay.origin, { email: owner.email, ...options })
    await page.goto(`/servers/${serverId}/history`)
    return { page, complaints, serverId, calls }
  }
  /** Returns the rows of the table in order: days by name, calls by tool. */
  type Opened = Awaited<ReturnType<typeof open>>
  const rowsOf = ({ page }: Opened) =>
    page.locator('tbody tr > :is(th[scope="rowgroup"], td:first-of-type)').allTextContents()
  const focusedTool = ({ page }: Opened) => page.locator('tr:has(a:focus) td code').textContent()

  it('groups calls by the reader’s days, with seconds and the exact time', async () => {
    const opened = await open([LATE, EARLY], { timezoneId: EAST, locale: 'en-GB' })
    const { page, complaints } = opened
    await expect
      .poll(() => rowsOf(opened))
      .toEqual(['Tue 25 November 2025', 'call_0', 'Mon 24 November 2025', 'call_1'])
    const time = page.locator('tbody time').first()
    expect(await time.textContent()).toBe('02:30:05')
    expect(await time.getAttribute('title')).toBe('2025-11-24 12:30:05.250 UTC')
    expect(complaints.take()).toEqual([])
  })

  it('names today and yesterday', async () => {
    // At noon, all three are on the days that they are meant for.
    const now = new Date()
    const noon = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 12).getTime()
    const timezoneId = Intl.DateTimeFormat().resolvedOptions().timeZone
    const opened = await open([new Date(noon), new Date(noon - HOUR_MS), new Date(noon - DAY_MS)], { timezoneId })
    await expect.poll(() => rowsOf(opened)).toEqual(['Today', 'call_0', 'call_1', 'Yesterday', 'call_2'])
  })

  it('shows days and times in UTC without scripts, and says so', async () => {
    const opened = await open([LATE, EARLY], { timezoneId: EAST, javaScriptEnabled: false })
    expect(await rowsOf(opened)).toEqual(['Mon 24 November 2025, UTC', 'call_0', 'call_1'])
    expect(await opened.page.locator('tbody time').first().textContent()).toBe('12:30:05')
  })

  it('filters by times of the reader’s zone', async () => {
    const opened = await open([LATE, EARLY], { timezoneId: EAST, locale: 'en-GB' })
    const { page, complaints } = opened
    const filter = async (from: string, to: string) => {
      await page.locator('.filter > summary', { hasText: 'Time' }).click()
      await page.getByLabel('From').fill(from)
      await page.getByLabel('Until').fill(to)
      await page.getByRole('group', { name: 'Time' }).getByRole('button', { name: 'Apply' }).click()
    }
    await filter('2025-11-25T00:00', '2025-11-26T00:00')
    await page.waitForURL('**/history?**')
    await expect.poll(() => rowsOf(opened)).toEqual(['Tue 25 November 2025', 'call_0'])
    await filter('2025-11-24T16:10', '2025-11-24T16:11')
    await expect.poll(() => rowsOf(opened)).toEqual(['Mon 24 November 2025', 'call_1'])
    // An address with times in UTC shows them as the reader's.
    await page.goto(`${page.url().split('?')[0]}?from=2025-11-24T02:10:00Z&to=2025-11-24T12:00:00Z`)
    await page.locator('.filter > summary', { hasText: 'Time' }).click()
    expect(await page.getByLabel('From').inputValue()).toBe('2025-11-24T16:10')
    await page.getByRole('group', { name: 'Time' }).getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => rowsOf(opened)).toEqual(['Mon 24 November 2025', 'call_1'])
    expect(complaints.take()).toEqual([])
  })

  it('moves between calls with the arrow keys, opens one with Enter, and closes it with Escape', async () => {
    const opened = await open([LATE, EARLY, new Date(EARLY.getTime() - DAY_MS)])
    const { page, calls, complaints } = opened
    await page.keyboard.press('ArrowUp')
    expect(await page.locator('a:focus').count()).toBe(0)
    await page.keyboard.press('ArrowDown')
    expect(await focusedTool(opened)).toBe('call_0')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focusedTool(opened)).toBe('call_2')
    await page.keyboard.press('ArrowUp')
    expect(await focusedTool(opened)).toBe('call_1')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/history/${calls[1]?.id}`)
    await page.keyboard.press('ArrowDown')
    await page.waitForURL(`**/history/${calls[2]?.id}#moved`)
    await page.getByRole('heading', { name: 'call_2' }).waitFor()
    await expect.poll(() => focusedTool(opened)).toBe('call_2')
    await page.keyboard.press('Escape')
    await page.waitForURL('**/history#call-*')
    await expect.poll(() => focusedTool(opened)).toBe('call_2')
    expect(await page.getByRole('heading', { name: 'call_2' }).count()).toBe(0)
    expect(complaints.take()).toEqual([])
  })

  it('shows the open call beside the list, and above it on narrow screens', async () => {
    const { page, serverId, calls } = await open([LATE, EARLY])
    await page.goto(`/servers/${serverId}/history/${calls[0]?.id}`)
    const boxes = async () => {
      const call = await page.locator('#call').boundingBox()
      const list = await page.getByRole('region', { name: 'Table of calls' }).boundingBox()
      if (call === null || list === null) throw new Error('the call or the list is not shown')
      return { call, list }
    }
    await page.setViewportSize({ width: 1_280, height: 900 })
    const wide = await boxes()
    expect(wide.call.x).toBeGreaterThan(wide.list.x + wide.list.width)
    await page.setViewportSize({ width: 390, height: 800 })
    const narrow = await boxes()
    expect(narrow.call.y + narrow.call.height).toBeLessThan(narrow.list.y)
  })

  it('opens a call from anywhere in its row', async () => {
    const { page, calls } = await open([LATE, EARLY])
    await page.getByRole('row').filter({ hasText: 'call_1' }).getByText('1 ms').click({ force: true })
    await page.waitForURL(`**/history/${calls[1]?.id}`)
  })

  it('leaves the keys to a field that has the focus', async () => {
    const { page, serverId, calls } = await open([LATE, EARLY])
    await page.goto(`/servers/${serverId}/history/${calls[0]?.id}`)
    await page.getByLabel('Text in the error').focus()
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.id')).toBe('q')
    expect(page.url()).toContain(calls[0]?.id)
  })

  it('filters by what is checked in a menu, and removes a filter by its chip', async () => {
    const opened = await open([LATE, EARLY, new Date(EARLY.getTime() - DAY_MS)])
    const { page, complaints } = opened
    await page.locator('.filter > summary', { hasText: 'Tool' }).click()
    await page.getByRole('checkbox', { name: 'call_0' }).check()
    await page.getByRole('checkbox', { name: 'call_2' }).check()
    await page.getByRole('group', { name: 'Tool' }).getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL('**tool=call_0&tool=call_2**')
    const tools = () => page.locator('tbody td code').allTextContents()
    await expect.poll(tools).toEqual(['call_0', 'call_2'])
    await page.getByRole('link', { name: 'Remove the filter Tool call_0' }).click()
    await expect.poll(tools).toEqual(['call_2'])
    await page.getByRole('link', { name: 'Clear all' }).click()
    await expect.poll(tools).toHaveLength(3)
    expect(complaints.take()).toEqual([])
  })

  it('shows the tabs of a call, and keeps the open one in the address', async () => {
    const { page, serverId, calls, complaints } = await open([LATE, EARLY])
    await patchbay.services.db.execution.updateMany({
      where: { serverId },
      data: {
        request: JSON.stringify({ method: 'GET', url: 'https://api.example/x', headers: [] }),
        timing: JSON.stringify({ connectMs: 18, firstByteMs: 291 }),
      },
    })
    await page.goto(`/servers/${serverId}/history/${calls[0]?.id}`)
    const phases = page.locator('table[aria-labelledby="timing-title"] tr')
    expect((await phases.allTextContents()).map(text => text.replace(/\s+/g, ''))).toEqual([
      'PhaseBarDuration',
      'Connect,TLS18ms',
      'Waitfortheresponse291ms',
    ])
    await page.getByRole('tab', { name: 'Overview' }).press('ArrowRight')
    expect(await page.getByRole('region', { name: 'Request', exact: true }).isVisible()).toBe(true)
    await page.getByRole('tab', { name: 'cURL' }).click()
    await page.waitForURL('**detail=curl')
    await page.reload()
    expect(await page.getByRole('region', { name: 'cURL command' }).textContent()).toContain('curl')
    expect(await phases.first().isVisible()).toBe(false)
    expect(complaints.take()).toEqual([])
  })

  it('selects a time range by dragging in the chart', async () => {
    const { page, serverId, complaints } = await open([])
    const { recorder } = patchbay.services
    const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
    for (const [index, minute] of [10, 90].entries()) {
      const startedAt = new Date(start + minute * MINUTE_MS)
      recorder.record(buildExecution(serverId, { tool: `call_${index}`, startedAt }))
    }
    await recorder.flush()
    const at = (minutes: number) => new Date(start + minutes * MINUTE_MS).toISOString()
    await page.goto(`/servers/${serverId}/history?from=${at(0)}&to=${at(120)}`)
    const chart = page.getByRole('img', { name: /^Calls over time: 2/ })
    await chart.scrollIntoViewIfNeeded()
    const box = await chart.boundingBox()
    if (box === null) throw new Error('the chart is not shown')
    // The plot is from 56 to 960 of the drawing's width, in bars of one minute.
    const xOf = (minute: number) => box.x + ((56 + (904 * (minute + 0.5)) / 120) / 960) * box.width
    const y = box.y + box.height / 2
    await page.mouse.move(xOf(20), y)
    await page.mouse.down()
    await page.mouse.move(xOf(12), y)
    await page.mouse.move(xOf(5), y)
    expect(await page.locator('.chart .selected').count()).toBe(1)
    await page.mouse.up()
    await expect.poll(() => page.locator('tbody td code').allTextContents()).toEqual(['call_0'])
    await page.getByRole('img', { name: /^Calls over time: 1/ }).waitFor()
    expect(await page.locator('#from').getAttribute('data-local-time')).toBe(at(5))
    expect(await page.locator('#to').getAttribute('data-local-time')).toBe(at(21))
    expect(complaints.take()).toEqual([])
  })

  it('selects a time range by a form and by links without scripts', async () => {
    const { page, calls } = await open([LATE, EARLY], { javaScriptEnabled: false })
    await page.locator('.filter > summary', { hasText: 'Time' }).click()
    await page.getByLabel('From').fill('2025-11-24T02:00')
    await page.getByLabel('Until').fill('2025-11-24T03:00')
    await page.getByRole('group', { name: 'Time' }).getByRole('button', { name: 'Apply' }).click()
    expect(await page.locator('tbody td code').allTextContents()).toEqual(['call_1'])
    await page.getByRole('region', { name: 'Table of calls' }).getByRole('link').click()
    await page.waitForURL(`**/${calls[1]?.id}?**`)
    expect(await page.getByRole('heading', { name: 'Arguments' }).count()).toBe(0)
    await page.locator('.filter > summary', { hasText: 'Time' }).click()
    await page.getByRole('link', { name: 'Last hour' }).click()
    await page.getByText('No calls match').waitFor()
  })

  it('shows new calls that match as they arrive, until this is switched off', async () => {
    const { page, serverId, complaints } = await open([EARLY])
    const { organizationId } = await patchbay.services.db.server.findUniqueOrThrow({ where: { id: serverId } })
    const { recorder } = patchbay.services
    const record = (tool: string) => recorder.record(buildExecution(serverId, { tool, startedAt: new Date() }))
    for (const path of [`/servers/${serverId}/history`, `/organizations/${organizationId}/history`]) {
      const name = path.includes('servers') ? 'one' : 'other'
      await page.goto(`${path}?tool=new_${name}`)
      await page.getByText('No calls match').waitFor()
      await page.getByRole('switch', { name: 'Live' }).waitFor()
      // The stream tells about calls that come after it was opened.
      await expect
        .poll(
          () => {
            record(`new_${name}`)
            record('unlike')
            return page.locator('tbody td code').allTextContents()
          },
          { interval: 1_000, timeout: 20_000 },
        )
        .toContain(`new_${name}`)
      expect(await page.locator('tbody td code').allTextContents()).not.toContain('unlike')
      expect(await page.locator('tr.day').allTextContents()).toEqual(['Today'])
    }
    expect(complaints.take()).toEqual([])
  })

  it('downloads the calls that match, and deletes them after a question', async () => {
    const { page, serverId, complaints } = await open([LATE, EARLY])
    await page.goto(`/servers/${serverId}/history?tool=call_1`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'NDJSON' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('calls.ndjson')
    await page.getByRole('link', { name: 'Delete calls' }).click()
    await page.getByRole('heading', { name: 'Delete 1 call of Desk?' }).waitFor()
    await page.getByLabel('Type the name to confirm').fill('Desk')
    await page.getByRole('button', { name: 'Delete calls' }).click()
    await page.getByText('1 call deleted.').waitFor()
    expect(await page.locator('tbody td code').allTextContents()).toEqual(['call_0'])
    expect(complaints.take()).toEqual([])
  })
})
