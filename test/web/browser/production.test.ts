import { expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const patchbay = runPatchbay({ env: { NODE_ENV: 'production' } })

// A script that another script imports by name would run twice there, and take a form for one that is sent twice.
it('the tool editor saves a tool in production, where the addresses of scripts have versions', async () => {
  const owner = await signUp(patchbay.origin)
  const { toolIds } = await makeServer(owner, [{ name: 'track', method: 'GET', url: 'https://api.example.com/' }])
  const { page, complaints } = await openPage(patchbay.origin, { email: owner.email })
  await page.goto(`/tools/${toolIds.track}`)
  await page.getByLabel('Description for the model').fill('Says where a shipment is.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').first().waitFor()
  expect((await owner.expectOk('GET', `/tools/${toolIds.track}`)).body).toMatchObject({
    description: 'Says where a shipment is.',
  })
  expect(complaints.take()).toEqual([])
})
