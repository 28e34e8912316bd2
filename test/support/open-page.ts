import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { createBrowser } from './browser.ts'
import { launchChromium } from './chromium.ts'
import { atEndOfFile } from './end-of-file.ts'

const PASSWORD = 'correct horse battery staple'
const ACTION_TIMEOUT_MS = 20_000

let browser: Promise<Browser> | undefined

/** Opens a context in the browser that all test files of a worker share. It is closed after the file at the latest. */
export const openContext = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
  browser ??= launchChromium()
  return (await browser).newContext({ reducedMotion: 'reduce', ...options })
}

atEndOfFile(async () => {
  const contexts = (await browser)?.contexts() ?? []
  await Promise.all(contexts.map(context => context.close()))
})

/** Logged by htmx for aborted requests. Failed ones also log `htmx:sendError` or `htmx:responseError`. */
const ABORTED = /^htmx:(sendAbort|afterRequest), /

/** Records the browser's errors: violations of the security policy, script errors, and failed loads. */
export const watchComplaints = (page: Page) => {
  let complaints: string[] = []
  page.on('console', message => {
    if (message.type() !== 'error' || ABORTED.test(message.text())) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', ({ message }) => complaints.push(`script: ${message}`))
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

type Options = BrowserContextOptions & {
  /** The email of the user to sign in, created by `signUp` of the API client. */
  email?: string
}

/** Signs this user in and returns the cookies of the new session. */
export const cookiesOf = async (origin: string, email: string) => {
  const session = createBrowser(origin)
  await session.signIn(email, PASSWORD)
  return [...session.cookies].map(([name, value]) => ({ name, value, url: origin }))
}

/** Opens a page in its own context, which is closed after the test. */
export const openPage = async (origin: string, { email, ...options }: Options = {}) => {
  const context = await openContext({ baseURL: origin, ...options })
  onTestFinished(() => context.close())
  if (email !== undefined) await context.addCookies(await cookiesOf(origin, email))
  const page = await context.newPage()
  page.setDefaultTimeout(ACTION_TIMEOUT_MS)
  return { page, context, complaints: watchComplaints(page) }
}
