import packed from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/** Switches that the package sets, but that turn off what is tested or end the browser with its page. */
const UNWANTED: ReadonlySet<string> = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--single-process',
  '--no-zygote',
  // Chromium would otherwise emulate a GPU with SwiftShader. Its own software renderer needs only half the CPU time.
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
])

/** Pages are short-lived, so optimizing compilers and parallel garbage collection cost 10 % more CPU than they save. */
const V8_FLAGS = '--no-opt --no-maglev --single-threaded-gc'

/** On a busy machine the browser sometimes crashes at start. */
const MAX_STARTS = 3

const start = async (triesLeft: number): Promise<Browser> => {
  try {
    return await chromium.launch({
      executablePath: await packed.executablePath(),
      args: [
        ...packed.args.filter(argument => !UNWANTED.has(argument)),
        '--disable-background-networking',
        '--disable-gpu',
        `--js-flags=${V8_FLAGS}`,
      ],
      headless: true,
    })
  } catch (error) {
    if (triesLeft === 0) throw error
    return start(triesLeft - 1)
  }
}

/** Starts a real browser that enforces content security policies and makes no requests of its own. */
export const launchChromium = (): Promise<Browser> => start(MAX_STARTS - 1)
