import packed from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/** Of the package's own switches those that take away what is to be tested, or that end the browser with a page. */
const UNWANTED: ReadonlySet<string> = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--single-process',
  '--no-zygote',
  // Drawn by a graphics card that is not there, which SwiftShader plays: Chromium draws pages itself, at half the work.
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
])

/**
 * No page lives long enough to earn what V8 takes, in threads of its own, to compile its scripts a second and a third
 * time, and to collect by several at once: without those the browser takes a tenth less CPU.
 */
const V8_FLAGS = '--no-opt --no-maglev --single-threaded-gc'

/** On a busy machine the browser was seen to crash as it starts, which says nothing of our pages. */
const STARTS = 3

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

/** A real browser that holds pages to their content security policy, and calls nobody by itself. */
export const launchChromium = (): Promise<Browser> => start(STARTS - 1)
