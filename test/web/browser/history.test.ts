import { randomUUID } from 'node:crypto'
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../../src/lib/kernel/durations.ts'
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
})
