import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { z } from 'zod'

const HEIGHT = 900
/** Of a page with everything it loads, as it is encoded. */
const MAX_PAGE_BYTES = 100_000
/** A page that follows what it shows replaces parts of itself now and then, while the keyboard is tried. */
const MAX_ROUNDS = 3

/** Wrapped, so that it can be given to the same page twice. */
const PROBE = `(() => {${readFileSync(join(import.meta.dirname, 'page-probe.js'), 'utf8')}})()`
/** Without the few characters that are not ASCII: for them the browser would hold all of it at twice its size. */
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

/** The browser's own protocol, for this page: opened once, it is there as long as the page is. */
const sessionOf = (page: Page): Promise<CDPSession> => {
  const session = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, session)
  return session
}

/** By the protocol itself: as an argument of Page.evaluate the 0.6 MB take twice as long to arrive. */
const loadAxe = async (page: Page): Promise<void> => {
  const session = await sessionOf(page)
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `${AXE}; undefined` })
  if (exceptionDetails !== undefined) throw new Error(`axe-core was not loaded: ${exceptionDetails.text}`)
}

/** Nothing scrolls sideways, and whatever can be pressed is covered by nothing, at the width that the page has now. */
const listLayoutFaults = (page: Page): Promise<string[]> => probe(page, 'listLayoutFaults')

/** What axe-core finds, by all of its rules or by those named. Evaluating is not held to the page's policy. */
const listAxeFaults = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  if ((await page.evaluate('typeof axe')) === 'undefined') await loadAxe(page)
  // What is found is told by its markup: to find a selector for each element is a third of the work.
  const options = { preload: false, resultTypes: ['violations'], selectors: false, ...(rules && { runOnly: rules }) }
  const found = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  return Violations.parse(found).map(({ id, help, nodes }) => `axe ${id}: ${help}: ${nodes.slice(0, 3).join(' and ')}`)
}

/** Presses Tab until it has come round. */
const goRoundByKeyboard = async (page: Page): Promise<z.infer<typeof Round>> => {
  const presses = z.int().parse(await page.evaluate(`${PROBE}; pageProbe.beginKeyboard()`))
  const session = await sessionOf(page)
  const tab = { type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 } as const
  await Promise.all(Array.from({ length: presses }, () => session.send('Input.dispatchKeyEvent', tab)))
  return Round.parse(await page.evaluate('pageProbe.endKeyboard()'))
}

/** Tab reaches whatever can be pressed or typed into, and one sees where one is. */
export const listKeyboardFaults = async (page: Page): Promise<string[]> => {
  let round = await goRoundByKeyboard(page)
  for (let left = MAX_ROUNDS - 1; left > 0 && round.isReplaced && round.faults.length > 0; left -= 1) {
    round = await goRoundByKeyboard(page)
  }
  return round.faults
}

const listWeightFaults = async (page: Page): Promise<string[]> => {
  const bytes = z.int().parse(await page.evaluate(`${PROBE}; pageProbe.weigh()`))
  return bytes < MAX_PAGE_BYTES ? [] : [`weighs ${bytes} bytes`]
}

/** Colours depend on the scheme alone and places on the width alone: between them these see all of both. */
const LOOKS = [
  { scheme: 'dark', width: 360, rules: ['color-contrast', 'target-size'] },
  { scheme: 'light', width: 768, rules: [] },
  { scheme: 'light', width: 1_280, rules: undefined },
] as const

/**
 * What look.md asks of a page, of the one that is open: at three widths, in both schemes, by keyboard, for readers of
 * screens, and its weight. Answers what is wrong, as sentences; leaves the page 1280 px wide in the light scheme.
 * `seen` is called narrow in the dark scheme and wide in the light one, for screenshots.
 */
export const checkPage = async (
  page: Page,
  seen: (scheme: 'light' | 'dark', width: number) => Promise<void> = async () => {},
): Promise<string[]> => {
  // What a page says can be read before its stylesheet is there.
  await page.waitForLoadState('load')
  await page.evaluate('document.fonts.ready.then(() => undefined)')
  // What a page asks for by itself takes the place of what is looked at.
  await page.locator('[hx-trigger^="load"]').waitFor({ state: 'detached' })
  const faults = [...(await probe(page, 'listStructureFaults')), ...(await listWeightFaults(page))]
  const add = (where: string, found: readonly string[]) => faults.push(...found.map(fault => `${where}: ${fault}`))
  for (const { scheme, width, rules } of LOOKS) {
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

/**
 * What htmx says of a request that was given up: the page went, or the next request took its place. Of one that failed
 * it says `htmx:sendError` or `htmx:responseError` besides.
 */
const GIVEN_UP = /^htmx:(sendAbort|afterRequest), /

/** Notes what the browser complains of from now on: breaches of the security policy, errors of scripts, of loading. */
export const watchComplaints = (page: Page) => {
  let complaints: string[] = []
  page.on('console', message => {
    if (message.type() !== 'error' || GIVEN_UP.test(message.text())) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', ({ message }) => {
    // The browser gives up fading from page to page when the next comes too soon: no script of ours is in it.
    if (!message.startsWith('Transition was ')) complaints.push(`script: ${message}`)
  })
  return {
    /** What there was since the last time. `status` is the one that the page itself was to be answered with. */
    take: (status = 200): string[] => {
      const expected = `Failed to load resource: the server responded with a status of ${status}`
      const taken = complaints.filter(text => status < 400 || !text.startsWith(expected))
      complaints = []
      return taken
    },
  }
}
