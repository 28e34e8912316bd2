import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { z } from 'zod'

const HEIGHT = 900
/** Of a page with everything it loads, compressed. */
const MAX_PAGE_BYTES = 100_000
/** Live pages can replace elements during the keyboard check. */
const MAX_ROUNDS = 3

/** In a function, so that it can run twice on the same page. */
const PROBE = `(() => {${readFileSync(join(import.meta.dirname, 'page-probe.js'), 'utf8')}})()`
/** ASCII only: otherwise the browser stores it at twice the size. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8').replace(
  /[^\0-\x7f]/g,
  unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
)

const Faults = z.array(z.string())
const Round = z.object({ faults: Faults, isReplaced: z.boolean() })
const Violations = z.array(z.object({ id: z.string(), help: z.string(), nodes: z.array(z.string()) }))

const probe = async (page: Page, call: string): Promise<string[]> =>
  Faults.parse(await page.evaluate(`${PROBE}; pageProbe.${call}()`))

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** Returns the page's DevTools session, opened once per page. */
const sessionOf = (page: Page): Promise<CDPSession> => {
  const session = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, session)
  return session
}

/** Uses the DevTools protocol: `Page.evaluate` takes twice as long for 0.6 MB. */
const loadAxe = async (page: Page): Promise<void> => {
  const session = await sessionOf(page)
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `${AXE}; undefined` })
  if (exceptionDetails !== undefined) throw new Error(`axe-core was not loaded: ${exceptionDetails.text}`)
}

/** Checks at the current width that the page does not scroll sideways and no control is covered. */
const listLayoutFaults = (page: Page): Promise<string[]> => probe(page, 'listLayoutFaults')

/** Runs all rules of axe-core, or the given ones. The page's Content-Security-Policy does not apply to it. */
const listAxeFaults = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  if ((await page.evaluate('typeof axe')) === 'undefined') await loadAxe(page)
  // Reports markup instead of selectors, which take a third of the time.
  const options = { preload: false, resultTypes: ['violations'], selectors: false, ...(rules && { runOnly: rules }) }
  const found = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  return Violations.parse(found).map(({ id, help, nodes }) => `axe ${id}: ${help}: ${nodes.slice(0, 3).join(' and ')}`)
}

/** Presses Tab through the whole page. */
const tabThroughPage = async (page: Page): Promise<z.infer<typeof Round>> => {
  const presses = z.int().parse(await page.evaluate(`${PROBE}; pageProbe.beginKeyboard()`))
  const session = await sessionOf(page)
  const tab = { type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 } as const
  await Promise.all(Array.from({ length: presses }, () => session.send('Input.dispatchKeyEvent', tab)))
  return Round.parse(await page.evaluate('pageProbe.endKeyboard()'))
}

/** Checks that Tab reaches every control, with a visible focus. */
export const listKeyboardFaults = async (page: Page): Promise<string[]> => {
  let round = await tabThroughPage(page)
  for (let left = MAX_ROUNDS - 1; left > 0 && round.isReplaced && round.faults.length > 0; left -= 1) {
    round = await tabThroughPage(page)
  }
  return round.faults
}

const listWeightFaults = async (page: Page): Promise<string[]> => {
  const bytes = z.int().parse(await page.evaluate(`${PROBE}; pageProbe.weigh()`))
  return bytes < MAX_PAGE_BYTES ? [] : [`weighs ${bytes} bytes`]
}

/** Colours depend only on the theme and layout only on the width, so these combinations cover both. */
const VARIANTS = [
  { scheme: 'dark', width: 360, rules: ['color-contrast', 'target-size'] },
  { scheme: 'light', width: 768, rules: [] },
  { scheme: 'light', width: 1_280, rules: undefined },
] as const

/**
 * Checks the open page: layout at three widths, both themes, keyboard, screen readers, and its size. Returns the faults as
 * sentences, and leaves the page 1280 px wide in the light theme. `seen` is called for screenshots.
 */
export const checkPage = async (
  page: Page,
  seen: (scheme: 'light' | 'dark', width: number) => Promise<void> = async () => {},
): Promise<string[]> => {
  // The content may be visible before the stylesheet is loaded.
  await page.waitForLoadState('load')
  await page.evaluate('document.fonts.ready.then(() => undefined)')
  // Parts that load themselves would replace elements during the checks.
  await page.locator('[hx-trigger^="load"]').waitFor({ state: 'detached' })
  const faults = [...(await probe(page, 'listStructureFaults')), ...(await listWeightFaults(page))]
  const add = (where: string, found: readonly string[]) => faults.push(...found.map(fault => `${where}: ${fault}`))
  for (const { scheme, width, rules } of VARIANTS) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: HEIGHT })
    add(`${width} px`, await listLayoutFaults(page))
    if (rules?.length === 0) continue
    add(`${width} px, ${scheme}`, await listAxeFaults(page, rules))
    await seen(scheme, width)
  }
  add('1280 px', await listKeyboardFaults(page))
  return faults
}

/** Logged by htmx for aborted requests. Failed ones also log `htmx:sendError` or `htmx:responseError`. */
const ABORTED = /^htmx:(sendAbort|afterRequest), /

/** Records the browser's errors: violations of the security policy, script errors, failed loads. */
export const watchComplaints = (page: Page) => {
  let complaints: string[] = []
  page.on('console', message => {
    if (message.type() !== 'error' || ABORTED.test(message.text())) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', ({ message }) => {
    // The browser skips a view transition if the next page follows too soon.
    if (!message.startsWith('Transition was ')) complaints.push(`script: ${message}`)
  })
  return {
    /** Returns the errors since the last call. `status` is the expected status of the page itself. */
    take: (status = 200): string[] => {
      const expected = `Failed to load resource: the server responded with a status of ${status}`
      const taken = complaints.filter(text => status < 400 || !text.startsWith(expected))
      complaints = []
      return taken
    },
  }
}
