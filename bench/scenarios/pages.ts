/** The size of the dashboard's pages, and the time until they are usable in a real browser with an empty cache. */
import type { Browser, BrowserContext } from 'playwright-core'
import { z } from 'zod'
import { launchChromium } from '../../test/support/chromium.ts'
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { callTools, listPages } from '../pages-to-measure.ts'
import { createHostedServer, signInByApi, signUp, startPatchbay } from '../patchbay.ts'
import type { Usage } from '../process.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { TOOLS } from '../tools.ts'

/** Maximum number of tools on one server. */
const MANY_TOOLS = 2_000
const MAX_KILOBYTES = 100
const MAX_USABLE_MS = 200
/** Limit for the pages of the server with `MANY_TOOLS` tools. */
const MAX_LARGE_MS = 300
const KILOBYTE = 1_000
/** Times are judged only if other processes use less of the cores. */
const QUIET_PERCENT = 10

/** How long to wait for the first paint, which can come after the page has loaded. */
const MAX_PAINT_MS = 10_000

/** Runs in the browser. By the end of DOMContentLoaded, deferred scripts have run and the page is usable. */
const READ_TIMES = `(async () => {
  const paintMs = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('the page shows nothing')), ${MAX_PAINT_MS})
    new PerformanceObserver(list => {
      const [paint] = list.getEntriesByName('first-contentful-paint')
      if (paint !== undefined) resolve(paint.startTime)
    }).observe({ type: 'paint', buffered: true })
  })
  const [{ responseStart, domContentLoadedEventEnd }] = performance.getEntriesByType('navigation')
  return { firstByteMs: responseStart, paintMs, usableMs: domContentLoadedEventEnd }
})()`
const Times = z.object({ firstByteMs: z.number(), paintMs: z.number(), usableMs: z.number() })

/** `paintMs` is the time of the first contentful paint (Paint Timing, W3C). */
type Visit = z.infer<typeof Times> & { bytes: number; foreignPercent: number }

/** Opens a page with an empty browser cache. Times are since the start of the navigation. */
const visit = async (context: BrowserContext, url: string, readMeter: () => Usage): Promise<Visit> => {
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
  const times = Times.parse(await page.evaluate(READ_TIMES))
  const { foreignMs, elapsedMs } = readMeter()
  await page.close()
  return { bytes, ...times, foreignPercent: (foreignMs * 100) / elapsedMs }
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

/** Returns the half of the visits during which other processes used the cores the least. */
const quietOf = (visits: readonly Visit[]): Visit[] =>
  [...visits].sort((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(visits.length / 2))

const report = (bench: Bench, { checkout, pages, visits }: Measured): void => {
  const rows = pages.map(({ title, isLarge = false }, index) => {
    const all = visits[index] ?? []
    const of = (key: keyof Visit): number => median(quietOf(all).map(one => one[key]))
    return {
      title,
      isLarge,
      kilobytes: of('bytes') / KILOBYTE,
      firstByteMs: of('firstByteMs'),
      paintMs: of('paintMs'),
      usableMs: of('usableMs'),
      slowMs: quantile(
        all.map(({ usableMs }) => usableMs),
        0.95,
      ),
      foreignPercent: of('foreignPercent'),
    }
  })
  bench.addTable({
    title: `Pages of ${checkout.name} checkout in a browser with an empty cache: medians, and p95 of all rounds`,
    columns: [
      '',
      'kB on the wire',
      'first byte after, ms',
      'first paint after, ms',
      'usable after, ms',
      'p95, ms',
      'foreign CPU %',
    ],
    rows: rows
      .toSorted((one, other) => other.usableMs - one.usableMs)
      .map(row => [
        row.title,
        show(row.kilobytes),
        show(row.firstByteMs),
        show(row.paintMs),
        show(row.usableMs),
        show(row.slowMs),
        row.foreignPercent.toFixed(0),
      ]),
  })
  if (checkout.name === 'other') return
  const foreignPercent = median(rows.map(row => row.foreignPercent))
  const note =
    foreignPercent > QUIET_PERCENT ? `unsure: other processes used ${foreignPercent.toFixed(0)} % of a core` : ''
  const worst = (key: 'kilobytes' | 'paintMs' | 'usableMs', isWanted: (row: { isLarge: boolean }) => boolean): number =>
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
    note,
  })
  bench.addFigure({
    title: 'slowest page of the largest server, usable',
    required: { atMost: MAX_LARGE_MS },
    measured: worst('usableMs', ({ isLarge }) => isLarge),
    unit: 'ms',
    note,
  })
  for (const isLarge of [false, true]) {
    bench.addFigure({
      title: `slowest page${isLarge ? ' of the largest server' : ''}, first paint`,
      measured: worst('paintMs', row => row.isLarge === isLarge),
      unit: 'ms',
      note,
    })
  }
}

/** Starts a checkout with both servers and opens a browser context that is signed in to Patchbay. */
const prepare = async (bench: Bench, checkout: Checkout, apiUrl: string, browser: Browser) => {
  const { child, port } = await startPatchbay(bench, checkout, bench.createDirectory('pages'))
  const send = await signUp(port)
  const server = await createHostedServer(send, apiUrl, TOOLS)
  const count = bench.options.quick ? 100 : MANY_TOOLS
  bench.log(`creating a server with ${count} tools`)
  const large = await createHostedServer(send, apiUrl, manyTools(count))
  for (const one of [server, large]) await callTools(send, one)
  const origin = `http://localhost:${port}`
  const context = await signIn(browser, port, origin)
  const pages = listPages(server, large)
  return { checkout, child, origin, context, pages, visits: pages.map((): Visit[] => []) }
}
type Measured = Awaited<ReturnType<typeof prepare>>

const comparePages = (bench: Bench, all: readonly Measured[]): void => {
  for (const [index, { title }] of all[0]?.pages.entries() ?? []) {
    const valuesOf = (key: keyof Visit) => all.map(({ visits }) => (visits[index] ?? []).map(visit => visit[key]))
    bench.compareValues(`page ${title}: on the wire`, 'bytes', valuesOf('bytes'))
    bench.compareValues(`page ${title}: first paint`, 'ms', valuesOf('paintMs'))
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
        for (const { child, context, origin, pages, visits } of inTurn(all, round)) {
          const page = pages[index]
          if (page === undefined) continue
          const measured = await visit(context, origin + page.path, bench.rig.meter(child))
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
