import packed from '@sparticuz/chromium'

/** Vitest's globalSetup: unpacks the browser once, because two files that did so at once would start half of it. */
export const setup = async (): Promise<void> => {
  await packed.executablePath()
}
