import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from '../test/support/chromium.ts'
import { type DashboardWorld, startDashboardWorld } from '../test/web/browser/dashboard-world.ts'

// `npm run screenshots`: recreates the README's pictures from the current pages, with the data that the page tests use.

const IMAGES = join(import.meta.dirname, '../docs/img')
const SIZE = { width: 1_280, height: 1_060 }
/** WebP quality from 0 to 100: text stays sharp, and a picture stays under 100 kB. */
const QUALITY = 88

const PICTURES: readonly { name: string; path: (world: DashboardWorld) => string }[] = [
  { name: 'server', path: ({ serverId }) => `/servers/${serverId}` },
  { name: 'tool', path: ({ toolId }) => `/tools/${toolId}` },
  { name: 'bindings', path: ({ serverId }) => `/servers/${serverId}/bindings` },
]

const world = await startDashboardWorld({
  baseUrl: 'https://tools.kestrel.example',
  carrierUrl: 'https://api.carrier.example',
})
const browser = await launchChromium()
try {
  mkdirSync(IMAGES, { recursive: true })
  const context = await browser.newContext({ baseURL: world.origin, viewport: SIZE, colorScheme: 'light' })
  await context.addCookies(await world.signIn(world.owner.email))
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  for (const { name, path } of PICTURES) {
    const answer = await page.goto(path(world))
    if (answer?.status() !== 200) throw new Error(`${path(world)} is answered with ${answer?.status()}`)
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
    const image = Buffer.from(data, 'base64')
    writeFileSync(join(IMAGES, `${name}.webp`), image)
    console.log(`docs/img/${name}.webp  ${Math.round(image.length / 1_000)} kB`)
  }
} finally {
  await browser.close()
  await world.close()
}
