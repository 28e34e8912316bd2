import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Not in git. */
const FOLDER = join(import.meta.dirname, '../../../test-output/pages')

/** Whether somebody wants to look at every page: drawing them all is a third of the work of checking them. */
export const isEachPictured = process.env.TEST_PICTURES !== undefined

export const takePicture = async (page: Page, name: string, scheme: string, width: number): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true })
  await page.screenshot({ path: join(FOLDER, `${name}_${scheme}_${width}.jpg`), fullPage: true, quality: 80 })
}
