/** The size of the dashboard's pages, and the time until they are usable in a real browser with an empty cache. */
import type { Browser, BrowserContext } from 'playwright-core'
import { z } from 'zod'
import { launchChromium } from '../../test/support/chromium.ts'
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { createHostedServer, type HostedServer, instanceOf, signInByApi, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { TOOLS } from '../tools.ts'

/** Maximum number of tools on one server. */
const MANY_TOOLS = 2_000
const MAX_KILOBYTES = 100
const MAX_USABLE_MS = 200
/** Limit for the pages of the server with `MANY_TOOLS` tools. */
const MAX_LARGE_MS = 300
const KILOBYTE = 1_000

/** Runs in the browser. By the end of DOMContentLoaded, deferred scripts have run and the page is usable. */
const READ_TIMES = `(() => {
  const [{ responseStart, domContentLoadedEventEnd }] = performance.getEntriesByType('navigation')
  return { firstByteMs: responseStart, usableMs: domContentLoadedEventEnd }
})()`
const Times = z.object({ firstByteMs: z.number(), usableMs: z.number() })

type PageToMeasure = { title: string; path: string; isLarge?: boolean }
type Visit = { bytes: number; firstByteMs: number; usableMs: number }

const TABS = ['', '/tools', '/sources', '/bindings', '/globals', '/inspector', '/access', '/history', '/settings']

const pagesOf = (server: HostedServer, large: HostedServer): PageToMeasure[] => [
  { title: 'servers', path: '/servers' },
  ...TABS.map(tab => ({ title: `server${tab}`, path: `/servers/${server.uuid}${tab}` })),
  { title: 'toolkits', path: '/toolkits' },
  { title: 'tool', path: `/tools/${instanceOf(server, 'get_user').toolId}` },
  { title: 'organizations', path: '/organizations' },
  { title: 'account', path: '/account' },
  { title: 'operator', path: '/operator' },
  ...TABS.map(tab => ({
    title: `server${tab}, ${large.instances.size} tools`,
    path: `/servers/${large.uuid}${tab}`,
    isLarge: true,
  })),
]

/** Opens a page with an empty browser cache. Times are since the start of the navigation. */
const visit = async (context: BrowserContext, url: string): Promise<Visit> => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const response = await page.goto(url, { waitUntil: 'load' })
  if (response?.status() !== 200) throw new Error(`${url} returned HTTP ${response?.status()}`)
  const { firstByteMs, usableMs } = Times.parse(await page.evaluate(READ_TIMES))
  await page.close()
  return { bytes, firstByteMs, usableMs }
}

const signIn = async (browser: Browser, port: number, origin: string): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } })
  const cookies = await signInByApi(port)
  await context.addCookies(cookies.map(cookie => ({ ...cookie, url: origin })))
  return context
}

const manyTools = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const tool = TOOLS[index % TOOLS.length]
    if (tool === undefined) throw new Error('there are no tools to copy')
    return { ...tool, name: `${tool.name}_${index}` }
  })

const report = (bench: Bench, { checkout, pages, visits }: Measured): void => {
  const rows = pages.map(({ title, isLarge = false }, index) => {
    const seen = visits[index] ?? []
    const of = (key: keyof Visit): number => median(seen.map(one => one[key]))
    return {
      title,
      isLarge,
      kilobytes: of('bytes') / KILOBYTE,
      firstByteMs: of('firstByteMs'),
      usableMs: of('usableMs'),
    }
  })
  bench.addTable({
    title: `Pages of ${checkout.name} checkout in a browser with an empty cache: medians`,
    columns: ['', 'kB on the wire', 'first byte after, ms', 'usable after, ms'],
    rows: rows.map(row => [row.title, show(row.kilobytes), show(row.firstByteMs), show(row.usableMs)]),
  })
  if (checkout.name === 'other') return
  const worst = (key: 'kilobytes' | 'usableMs', isWanted: (row: { isLarge: boolean }) => boolean): number =>
    Math.max(...rows.filter(isWanted).map(row => row[key]))
  bench.addFigure({
    title: 'heaviest page',
    required: { atMost: MAX_KILOBYTES },
    measured: worst('kilobytes', () => true),
    unit: 'kB',
  })
  bench.addFigure({
    title: 'slowest page, usable',
    required: { atMost: MAX_USABLE_MS },
    measured: worst('usableMs', ({ isLarge }) => !isLarge),
    unit: 'ms',
  })
  bench.addFigure({
    title: 'slowest page of the largest server, usable',
    required: { atMost: MAX_LARGE_MS },
    measured: worst('usableMs', ({ isLarge }) => isLarge),
    unit: 'ms',
  })
}

/** Starts a checkout with both servers and opens a browser context that is signed in to Patchbay. */
const prepare = async (bench: Bench, checkout: Checkout, apiUrl: string, browser: Browser) => {
  const { port } = await startPatchbay(bench, checkout, bench.createDirectory('pages'))
  const send = await signUp(port)
  const server = await createHostedServer(send, apiUrl, TOOLS)
  const count = bench.options.quick ? 100 : MANY_TOOLS
  bench.log(`creating a server with ${count} tools`)
  const large = await createHostedServer(send, apiUrl, manyTools(count))
  const origin = `http://localhost:${port}`
  const context = await signIn(browser, port, origin)
  const pages = pagesOf(server, large)
  return { checkout, origin, context, pages, visits: pages.map((): Visit[] => []) }
}
type Measured = Awaited<ReturnType<typeof prepare>>

const comparePages = (bench: Bench, all: readonly Measured[]): void => {
  for (const [index, { title }] of all[0]?.pages.entries() ?? []) {
    const valuesOf = (key: keyof Visit) => all.map(({ visits }) => (visits[index] ?? []).map(visit => visit[key]))
    bench.compareValues(`page ${title}: on the wire`, 'bytes', valuesOf('bytes'))
    bench.compareValues(`page ${title}: usable`, 'ms', valuesOf('usableMs'))
  }
}

export const runPages = async (bench: Bench): Promise<void> => {
  const { rounds } = bench.options
  const api = await bench.startOwn('fake-api', 'load')
  const browser = await launchChromium()
  try {
    const all: Measured[] = []
    for (const checkout of bench.checkouts) all.push(await prepare(bench, checkout, api.url, browser))
    const count = all[0]?.pages.length ?? 0
    for (let round = 0; round <= rounds; round++) {
      bench.log(`pages, round ${round} of ${rounds}`)
      for (let index = 0; index < count; index++) {
        for (const { context, origin, pages, visits } of inTurn(all, round)) {
          const page = pages[index]
          if (page === undefined) continue
          const measured = await visit(context, origin + page.path)
          // The first round is not measured: it compiles templates and reads the large server for the first time.
          if (round > 0) visits[index]?.push(measured)
        }
      }
    }
    for (const measured of all) report(bench, measured)
    comparePages(bench, all)
  } finally {
    await browser.close()
  }
}
