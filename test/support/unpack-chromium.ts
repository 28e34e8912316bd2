import packed from '@sparticuz/chromium'

/** Unpacks the browser before any test file starts: two that did so at once would each start half of it. */
export const setup = async (): Promise<void> => {
  await packed.executablePath()
}
