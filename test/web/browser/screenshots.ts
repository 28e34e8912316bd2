import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const FOLDER = join(import.meta.dirname, '../../../test-output/pages')

/** Screenshots are opt-in, because they add a third to the run time. */
export const takesScreenshots = process.env.TEST_PICTURES !== undefined

export const takeScreenshot = async (page: Page, name: string, scheme: string, width: number): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true })
  await page.screenshot({ path: join(FOLDER, `${name}_${scheme}_${width}.jpg`), fullPage: true, quality: 80 })
}
