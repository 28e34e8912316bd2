import packed from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/** Of the package's own switches those that take away what is to be tested, or that end the browser with a page. */
const UNWANTED: ReadonlySet<string> = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--single-process',
  '--no-zygote',
])

/** A real browser that holds pages to their content security policy, and calls nobody by itself. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await packed.executablePath(),
    args: [...packed.args.filter(argument => !UNWANTED.has(argument)), '--disable-background-networking'],
    headless: true,
  })
