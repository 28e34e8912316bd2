import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { readRoutes } from '../../support/read-routes.ts'
import { checkPage, watchComplaints } from './check-page.ts'
import { type DashboardWorld, startDashboardWorld } from './dashboard-world.ts'
import type { PageRow } from './page-row.ts'
import { NO_PAGES_UNDER, NOT_PAGES, PAGES } from './pages.ts'
import { isEachPictured, takePicture } from './pictures.ts'

vi.setConfig({ testTimeout: 60_000 })

const nameOf = ({ route, state }: PageRow): string => {
  const path = route.replace('GET /', '').replaceAll(/[/:* ]+/g, '-')
  return [path === '' ? 'start' : path, state].filter(Boolean).join('_')
}

let world: DashboardWorld
let browser: Browser
const tabs = new Map<string, { page: Page; complaints: ReturnType<typeof watchComplaints> }>()

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startDashboardWorld(), launchChromium()])
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

/** The tab of one of the people, kept from page to page. */
const tabOf = async (who: PageRow['who'] = 'owner') => {
  const known = tabs.get(who)
  if (known !== undefined) return known
  const context: BrowserContext = await browser.newContext({ baseURL: world.origin, reducedMotion: 'reduce' })
  if (who !== 'stranger') await context.addCookies(await world.signIn(world[who].email))
  const page = await context.newPage()
  const tab = { page, complaints: watchComplaints(page) }
  tabs.set(who, tab)
  return tab
}

describe('every page of the dashboard', () => {
  it('is in the table of this test', () => {
    const printed = readRoutes(world.app.app.http.printRoutes({ commonPrefix: false }))
    const asked = printed.filter(route => route.startsWith('GET ') && !NO_PAGES_UNDER.test(route))
    const listed = new Set([...PAGES.map(({ route }) => route), ...Object.keys(NOT_PAGES)])
    expect(asked.length).toBeGreaterThan(10)
    expect(asked.filter(route => !listed.has(route))).toEqual([])
    expect([...listed].filter(route => !asked.includes(route))).toEqual([])
  })

  it.each(PAGES.map(row => [nameOf(row), row] as const))('%s looks and works as look.md says', async (name, row) => {
    const { page, complaints } = await tabOf(row.who)
    const answer = await page.goto(await row.path(world))
    if (row.act === undefined) expect(answer?.status()).toBe(row.status ?? 200)
    await row.act?.(page)
    const picture = (scheme: string, width: number) => takePicture(page, name, scheme, width)
    const found = await checkPage(page, isEachPictured ? picture : undefined)
    const faults = [...complaints.take(row.status), ...found]
    if (faults.length > 0 && !isEachPictured) await picture('light', 1_280)
    expect(faults).toEqual([])
  })
})
