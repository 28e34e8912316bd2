import packed from '@sparticuz/chromium'

/**
 * Vitest's globalSetup: unpacks the browser once. If two files did this at the same time, they would start an
 * incomplete browser.
 */
export const setup = async (): Promise<void> => {
  await packed.executablePath()
}
