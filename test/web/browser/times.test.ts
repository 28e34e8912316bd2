import { randomUUID } from 'node:crypto'
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/lib/kernel/durations.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

/** UTC+14 all year, where an evening in UTC is the next day. */
const EAST = { timezoneId: 'Pacific/Kiritimati', locale: 'en-GB' }
const UPDATED = new Date('2026-03-24T12:30:05Z')

describe('times on pages, in a real browser', () => {
  const patchbay = runPatchbay()

  /** Opens the globals of a server, one of which was changed at `UPDATED`, as if it were `laterMs` later. */
  const open = async (laterMs: number, options: BrowserContextOptions = EAST) => {
    const owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [])
    await owner.expectOk('PUT', `/servers/${serverId}/globals/depot`, { value: 'LEJ' })
    await patchbay.services.db.global.updateMany({ where: { serverId }, data: { updatedAt: UPDATED } })
    const { page, complaints } = await openPage(patchbay.origin, { email: owner.email, ...options })
    await page.clock.install({ time: UPDATED.getTime() + laterMs })
    await page.goto(`/servers/${serverId}/globals`)
    return { page, complaints, time: page.locator('tbody time') }
  }

  it.each([
    [5_000, 'just now'],
    [5 * MINUTE_MS, '5 minutes ago'],
    [HOUR_MS + MINUTE_MS, '1 hour ago'],
    [3 * DAY_MS, '3 days ago'],
    [30 * DAY_MS, '25 Mar 2026'],
    [-3 * HOUR_MS - MINUTE_MS, 'in 3 hours'],
  ])('show how long ago they were, %i ms later', async (laterMs, text) => {
    const { time, complaints } = await open(laterMs)
    await expect.poll(() => time.textContent()).toBe(text)
    expect(complaints.take()).toEqual([])
  })

  it('have the exact time in the reader’s time zone as their title', async () => {
    const { time } = await open(MINUTE_MS)
    await expect.poll(() => time.getAttribute('title')).toMatch(/^25 Mar 2026, 02:30:05 (GMT|UTC)\+14$/)
  })

  it('change while the page is open', async () => {
    const { page, time } = await open(2 * MINUTE_MS)
    await expect.poll(() => time.textContent()).toBe('2 minutes ago')
    await page.clock.fastForward('03:00')
    await expect.poll(() => time.textContent()).toBe('5 minutes ago')
  })

  it('include the hours of charts and their tables', async () => {
    const owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [])
    await patchbay.services.db.execution.create({
      data: {
        id: randomUUID(),
        serverId,
        tool: 'called',
        startedAt: new Date(),
        durationMs: 1,
        outcome: 'ok',
        status: 200,
        requestBytes: 0,
        responseBytes: 0,
      },
    })
    const { page, complaints } = await openPage(patchbay.origin, { email: owner.email, ...EAST })
    await page.goto(`/servers/${serverId}`)
    await page.getByText('Charts and table by hour').click()
    const times = page.getByRole('region', { name: 'Calls by hour, in numbers' }).locator('tbody time')
    const hours = await times.evaluateAll(all => all.map(({ dateTime, textContent }) => ({ dateTime, textContent })))
    const localOf = (at: string) => new Date(Date.parse(at) + 14 * HOUR_MS).toISOString().slice(11, 16)
    expect(hours.map(({ textContent }) => textContent)).toEqual(hours.map(({ dateTime }) => localOf(dateTime)))
    const chart = page.getByRole('img', { name: /busiest hour from \d\d:\d\d with 1 call/ })
    expect(await chart.textContent()).toMatch(/(GMT|UTC)\+14/)
    const labels = await chart.locator('text[data-time]').allTextContents()
    expect(labels).toEqual(hours.filter((_, index) => index % 4 === 0).map(({ dateTime }) => localOf(dateTime)))
    expect(complaints.take()).toEqual([])
  })

  it('are in UTC without scripts', async () => {
    const { time } = await open(MINUTE_MS, { ...EAST, javaScriptEnabled: false })
    expect(await time.textContent()).toBe('2026-03-24 12:30 UTC')
  })
})
