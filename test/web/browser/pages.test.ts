import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { casesOfRun, isRest } from '../../support/cases-of-run.ts'
import { openContext, watchComplaints } from '../../support/open-page.ts'
import { readRoutes } from '../../support/read-routes.ts'
import { checkAccessibility, checkPage } from './check-page.ts'
import { type DashboardWorld, startDashboardWorld } from './dashboard-world.ts'
import { type PageRow, pathIn } from './page-row.ts'
import { NO_PAGES_UNDER, NOT_PAGES, PAGES } from './pages.ts'
import { takeScreenshot, takesScreenshots } from './screenshots.ts'

vi.setConfig({ testTimeout: 60_000 })

const nameOf = ({ route, state }: (typeof PAGES)[number]): string => {
  const path = route.replace('GET /', '').replaceAll(/[/:* ]+/g, '-')
  return [path === '' ? 'start' : path, state].filter(Boolean).join('_')
}

const isFirst = ({ route }: { route: string }, index: number): boolean =>
  PAGES.findIndex(row => row.route === route) === index

/** Each page in one state. The other states are checked in CI. */
const rows = casesOfRun(PAGES, isFirst)

let world: DashboardWorld
const tabs = new Map<string, { page: Page; complaints: ReturnType<typeof watchComplaints> }>()

beforeAll(async () => {
  world = await startDashboardWorld()
})
afterAll(() => world?.close())

/** Returns the tab of a user, which is reused for all pages. */
const tabOf = async (who: PageRow['who'] = 'owner') => {
  const known = tabs.get(who)
  if (known !== undefined) return known
  const context = await openContext({ baseURL: world.origin })
  if (who !== 'stranger') await context.addCookies(await world.signIn(world[who].email))
  const page = await context.newPage()
  const tab = { page, complaints: watchComplaints(page) }
  tabs.set(who, tab)
  return tab
}

/** Opens a page and brings it into its state. */
const open = async ({ who, path, act, status = 200 }: PageRow) => {
  const tab = await tabOf(who)
  // A page that updates itself would ask for what the next row has removed.
  await tab.page.goto('about:blank')
  const response = await tab.page.goto(await pathIn(world, path))
  if (act === undefined) expect(response?.status()).toBe(status)
  await act?.(tab.page)
  return tab
}

describe('every page of the dashboard', () => {
  it('has a row in the table', () => {
    const printed = readRoutes(world.app.app.http.printRoutes({ commonPrefix: false }))
    const routes = printed.filter(route => route.startsWith('GET ') && !NO_PAGES_UNDER.test(route))
    const listed = new Set([...PAGES.map(({ route }) => route), ...Object.keys(NOT_PAGES)])
    expect(routes.length).toBeGreaterThan(10)
    expect(routes.filter(route => !listed.has(route))).toEqual([])
    expect([...listed].filter(route => !routes.includes(route))).toEqual([])
  })

  it.each(rows.map(row => [nameOf(row), row] as const))('%s passes all checks', async (name, row) => {
    const { page, complaints } = await open(row)
    const picture = (scheme: string, width: number) => takeScreenshot(page, name, scheme, width)
    const found = await checkPage(page, takesScreenshots ? picture : undefined, { isThorough: isRest })
    const faults = [...complaints.take(row.status), ...found]
    if (faults.length > 0 && !takesScreenshots) await picture('light', 1_280)
    expect(faults).toEqual([])
  })

  const others = isRest ? PAGES.filter(isFirst) : []
  it.each(others.map(row => [nameOf(row), row] as const))('%s passes all rules of axe-core', async (_, row) => {
    const { page } = await open(row)
    expect(await checkAccessibility(page)).toEqual([])
  })
})
