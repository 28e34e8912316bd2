import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { CDPSession, Page } from 'playwright-core'
import { z } from 'zod'

const HEIGHT = 900
const BUILT_SCRIPTS = join(import.meta.dirname, '../../../dist/public/js')
/** Maximum compressed size of a page, including everything it loads. */
const MAX_PAGE_BYTES = 100_000
/** Maximum number of times the keyboard check runs. Live pages can replace elements during a run. */
const MAX_ROUNDS = 3

/** ASCII only, because the browser would store other text at twice the size. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8').replace(
  /[^\0-\x7f]/g,
  unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
)
const PROBE = readFileSync(join(import.meta.dirname, 'page-probe.js'), 'utf8')
const SCRIPTS = `${AXE};(() => {${PROBE}})()`

const Faults = z.array(z.string())
const Round = z.object({ faults: Faults, isReplaced: z.boolean() })
const Violations = z.array(z.object({ id: z.string(), help: z.string(), nodes: z.array(z.string()) }))

const openSession = async (page: Page): Promise<CDPSession> => {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.enable')
  await session.send('Page.addScriptToEvaluateOnNewDocument', { source: SCRIPTS, runImmediately: true })
  return session
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** Returns the page's DevTools session, which adds the scripts of the checks to every document. */
const sessionOf = (page: Page): Promise<CDPSession> => {
  const session = sessions.get(page) ?? openSession(page)
  sessions.set(page, session)
  return session
}

/** Evaluates an expression like `page.evaluate`, but without loading Playwright's own scripts into each page. */
const evaluate = async (page: Page, expression: string): Promise<unknown> => {
  const session = await sessionOf(page)
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails !== undefined) {
    throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
  }
  return result.value
}

const probe = async (page: Page, call: string): Promise<string[]> =>
  Faults.parse(await evaluate(page, `pageProbe.${call}()`))

/** Runs the given rules of axe-core. The page's Content-Security-Policy does not apply to axe-core. */
const listAxeFaults = async (page: Page, rules: object): Promise<string[]> => {
  // Reports markup, because computing selectors would take a third of the time.
  const options = { preload: false, resultTypes: ['violations'], selectors: false, ...rules }
  const found = await evaluate(
    page,
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  return Violations.parse(found).map(({ id, help, nodes }) => `axe ${id}: ${help}: ${nodes.slice(0, 3).join(' and ')}`)
}

/** Presses Tab until it has gone through the whole page. */
const tabThroughPage = async (page: Page): Promise<z.infer<typeof Round>> => {
  const presses = z.int().parse(await evaluate(page, 'pageProbe.beginKeyboard()'))
  const session = await sessionOf(page)
  const tab = { type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 } as const
  await Promise.all(Array.from({ length: presses }, () => session.send('Input.dispatchKeyEvent', tab)))
  return Round.parse(await evaluate(page, 'pageProbe.endKeyboard()'))
}

/** Checks that Tab reaches every control, and that the focus is visible. */
export const listKeyboardFaults = async (page: Page): Promise<string[]> => {
  let round = await tabThroughPage(page)
  for (let left = MAX_ROUNDS - 1; left > 0 && round.isReplaced && round.faults.length > 0; left -= 1) {
    round = await tabThroughPage(page)
  }
  return round.faults
}

const Weight = z.object({ bytes: z.int(), scripts: z.array(z.string()) })

const builtSizes = new Map<string, number>()

/** Returns the size of a script as browsers get it from the build, where it contains what it imports. */
const builtSizeOf = (name: string): number => {
  const known = builtSizes.get(name) ?? brotliCompressSync(readFileSync(join(BUILT_SCRIPTS, name))).length
  builtSizes.set(name, known)
  return known
}

const listWeightFaults = async (page: Page): Promise<string[]> => {
  const { bytes: others, scripts } = Weight.parse(await evaluate(page, 'pageProbe.weigh()'))
  const bytes = scripts.reduce((sum, name) => sum + builtSizeOf(name), others)
  return bytes < MAX_PAGE_BYTES ? [] : [`weighs ${bytes} bytes`]
}

/** Everything that axe-core checks by default, and the size of what can be clicked (WCAG 2.2). */
const ALL_RULES = { rules: { 'target-size': { enabled: true } } }

/**
 * Colors depend only on the theme, and layout only on the width. `rules` are those of every run, and a thorough one
 * checks all of them in these variants.
 */
const VARIANTS = [
  { scheme: 'dark', width: 1_440, rules: { runOnly: ['color-contrast', 'link-in-text-block'] } },
  { scheme: 'light', width: 360, rules: undefined },
  { scheme: 'light', width: 390, rules: { runOnly: ['target-size'] } },
  { scheme: 'light', width: 768, rules: undefined },
  { scheme: 'light', width: 900, rules: undefined },
  { scheme: 'light', width: 1_920, rules: undefined },
  { scheme: 'light', width: 1_440, rules: ALL_RULES },
  { scheme: 'light', width: 1_280, rules: undefined },
] as const
type Variant = (typeof VARIANTS)[number]

const changeTo = async (page: Page, { scheme, width }: Variant): Promise<void> => {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height: HEIGHT })
}

/** Checks the open page with all rules of axe-core, in both themes and on a narrow screen. */
export const checkAccessibility = async (page: Page): Promise<string[]> => {
  await evaluate(page, 'pageProbe.settle()')
  const faults: string[] = []
  for (const variant of VARIANTS) {
    if (variant.rules === undefined) continue
    await changeTo(page, variant)
    const found = await listAxeFaults(page, ALL_RULES)
    faults.push(...found.map(fault => `${variant.width} px, ${variant.scheme}: ${fault}`))
  }
  return faults
}

/**
 * Checks the open page: layout at seven widths, both themes, keyboard and screen reader access, and size. Returns the
 * faults as sentences, and leaves the page 1280 px wide in the light theme. Calls `seen` to take screenshots. If it is
 * thorough, it does what `checkAccessibility` does, too.
 */
export const checkPage = async (
  page: Page,
  seen: (scheme: 'light' | 'dark', width: number) => Promise<void> = async () => {},
  { isThorough = false } = {},
): Promise<string[]> => {
  await evaluate(page, 'pageProbe.settle()')
  const faults = await probe(page, 'listStructureFaults')
  faults.push(...(await listWeightFaults(page)))
  const add = (where: string, found: readonly string[]) => faults.push(...found.map(fault => `${where}: ${fault}`))
  for (const variant of VARIANTS) {
    const { scheme, width, rules } = variant
    await changeTo(page, variant)
    add(`${width} px`, await probe(page, 'listLayoutFaults'))
    if (rules === undefined) continue
    add(`${width} px, ${scheme}`, await listAxeFaults(page, isThorough ? ALL_RULES : rules))
    await seen(scheme, width)
  }
  add('1280 px', await listKeyboardFaults(page))
  return faults
}
