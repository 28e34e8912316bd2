import type { Locator, Page } from 'playwright-core'
import { z } from 'zod'

/** Screens are paths: the page that a form shows again counts once. The open page is the first screen. */
export const countSteps = (page: Page) => {
  const screens = new Set([new URL(page.url()).pathname])
  page.on('framenavigated', frame => {
    if (frame === page.mainFrame()) screens.add(new URL(frame.url()).pathname)
  })
  let clicks = 0
  let fields = 0
  return {
    counted: () => ({ screens: screens.size, fields, clicks }),
    click: async (locator: Locator): Promise<void> => {
      clicks++
      await locator.click()
    },
    type: async (locator: Locator, text: string): Promise<void> => {
      fields++
      await locator.fill(text)
    },
  }
}

/** Reports what the user does in a document. Events that scripts create do not count. */
const WATCH = `
  for (const type of ['click', 'input', 'keydown']) {
    addEventListener(type, ({ isTrusted, target }) => {
      if (isTrusted) reportStep(type, location.pathname, target.name ?? '')
    }, true)
  }
`
const Step = z.tuple([z.enum(['click', 'input', 'keydown']), z.string(), z.string()])

/** Counts fields, clicks and keys in the browser itself, from now on. Requires scripts. */
export const watchSteps = async (page: Page) => {
  const fields = new Set<string>()
  let clicks = 0
  let keys = 0
  await page.exposeFunction('reportStep', (...step: unknown[]) => {
    const [type, path, name] = Step.parse(step)
    if (type === 'click') clicks++
    else if (type === 'input') fields.add(`${path} ${name}`)
    else keys++
  })
  await page.addInitScript(WATCH)
  return () => ({ fields: fields.size, clicks, ...(keys > 0 ? { keys } : {}) })
}
