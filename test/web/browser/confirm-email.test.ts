import { expect, it, onTestFinished } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { startWorld } from '../../support/world.ts'
import { checkPage } from './check-page.ts'

it('a page that asks for the confirmation of an email is correct, and its button sends another link', async () => {
  const world = await startWorld({ hasMail: true })
  onTestFinished(world.close)
  const { email } = await signUp(world.origin, `${'long-'.repeat(12)}@example.com`)
  const { page, complaints } = await openPage(world.origin, { email })
  await page.goto('/servers')
  await page.getByText(`Confirm ${email}`).waitFor()
  expect(await checkPage(page)).toEqual([])
  await page.getByRole('button', { name: 'Send another link' }).click()
  await page.getByText('A confirmation link is on its way').waitFor()
  expect(complaints.take()).toEqual([])
})
