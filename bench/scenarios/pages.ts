/** What the pages of the dashboard weigh, and how long a real browser that has never been there takes to use them. */
import type { Browser, BrowserContext } from 'playwright-core'
import { z } from 'zod'
import { launchChromium } from '../../test/support/chromium.ts'
import type { Bench } from '../bench.ts'
import {
  createHostedServer,
  EMAIL,
  type HostedServer,
  instanceOf,
  PASSWORD,
  signUp,
  startPatchbay,
} from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { TOOLS } from '../tools.ts'

/** As many as a server may have. */
const MANY_TOOLS = 2_000
const MAX_KILOBYTES = 100
const MAX_USABLE_MS = 200
/** Of the server with as many tools as it may have. */
const MAX_LARGE_MS = 300
const KILOBYTE = 1_000

/** In the browser. What is deferred has run when the content is loaded: everything on the page can be used. */
const READ_TIMES = `(() => {
  const [{ responseStart, domContentLoadedEventEnd }] = performance.getEntriesByType('navigation')
  return { answeredMs: responseStart, usableMs: domContentLoadedEventEnd }
})()`
const Times = z.object({ answeredMs: z.number(), usableMs: z.number() })

type PageToMeasure = { title: string; path: string; isLarge?: boolean }
type Visit = { bytes: number; answeredMs: number; usableMs: number }

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

/** One visit with nothing in the browser's cache; times since the navigation began. */
const visit = async (context: BrowserContext, url: string): Promise<Visit> => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const answer = await page.goto(url, { waitUntil: 'load' })
  if (answer?.status() !== 200) throw new Error(`${url} is answered with ${answer?.status()}`)
  const { answeredMs, usableMs } = Times.parse(await page.evaluate(READ_TIMES))
  await page.close()
  return { bytes, answeredMs, usableMs }
}

const signIn = async (browser: Browser, origin: string): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } })
  const page = await context.newPage()
  await page.goto(`${origin}/sign-in`)
  await page.getByLabel('E-mail address').fill(EMAIL)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(url => url.pathname !== '/sign-in')
  await page.close()
  return context
}

const manyTools = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const tool = TOOLS[index % TOOLS.length]
    if (tool === undefined) throw new Error('there are no tools to copy')
    return { ...tool, name: `${tool.name}_${index}` }
  })

export const runPages = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const api = await bench.startOwn('fake-api', 'load')
  const { port } = await startPatchbay(bench.rig, bench.options, bench.createDirectory('pages'))
  const send = await signUp(port)
  const server = await createHostedServer(send, api.url, TOOLS)
  const count = quick ? 100 : MANY_TOOLS
  bench.say(`making a server of ${count} tools`)
  const large = await createHostedServer(send, api.url, manyTools(count))

  const browser = await launchChromium()
  try {
    const origin = `http://localhost:${port}`
    const context = await signIn(browser, origin)
    const pages = pagesOf(server, large)
    const visits = pages.map((): Visit[] => [])
    for (let round = 0; round <= rounds; round++) {
      bench.say(`pages, round ${round} of ${rounds}`)
      for (const [index, { path }] of pages.entries()) {
        const seen = await visit(context, origin + path)
        // The first time templates are compiled, and the large server is read for the first time.
        if (round > 0) visits[index]?.push(seen)
      }
    }
    report(bench, pages, visits)
  } finally {
    await browser.close()
  }
}

const report = (bench: Bench, pages: readonly PageToMeasure[], visits: readonly Visit[][]): void => {
  const rows = pages.map(({ title, isLarge = false }, index) => {
    const seen = visits[index] ?? []
    const of = (key: keyof Visit): number => median(seen.map(one => one[key]))
    return { title, isLarge, kilobytes: of('bytes') / KILOBYTE, answeredMs: of('answeredMs'), usableMs: of('usableMs') }
  })
  bench.addTable({
    title: 'Pages, to a browser that has none of it yet: medians',
    columns: ['', 'kB on the wire', 'answered after, ms', 'usable after, ms'],
    rows: rows.map(row => [row.title, show(row.kilobytes), show(row.answeredMs), show(row.usableMs)]),
  })
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
