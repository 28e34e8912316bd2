import { expect, it, vi } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const patchbay = runPatchbay()

it('pages that follow each other quickly report no errors', async () => {
  const { email } = await signUp(patchbay.origin)
  const { page, complaints } = await openPage(patchbay.origin, { email, reducedMotion: 'no-preference' })
  await page.goto('/servers')
  for (let turn = 0; turn < 4; turn++) {
    for (const name of ['Toolkits', 'Organization', 'Servers']) {
      // Follows the link without waiting for the page that the last one leads to.
      await page.getByRole('link', { name, exact: true }).evaluate((link: { click: () => void }) => link.click())
    }
  }
  await page.waitForURL('**/servers')
  await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor()
  expect(complaints.take()).toEqual([])
})
