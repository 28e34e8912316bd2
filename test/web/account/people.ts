import { createPageBrowser } from '../../support/page-browser.ts'
import { SETUP_TOKEN } from '../../support/setup-token.ts'
import { runPatchbay } from '../../support/world.ts'

export const PASSWORD = 'correct horse battery staple'

/** Runs Patchbay for the tests of a block. `person` signs up a new user with their own network address. */
export const runPeople = () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128' } })
  let userCount = 0
  const person = async () => {
    const email = `person${++userCount}@example.com`
    const browser = createPageBrowser(patchbay.origin, { address: `198.51.100.${userCount}` })
    await browser.submit('/sign-up', { email, password: PASSWORD, setup_token: SETUP_TOKEN })
    const { db } = patchbay.services
    const { id: userId } = await db.user.findUniqueOrThrow({ where: { email } })
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId } })
    return { email, browser, userId, organizationId }
  }
  return { patchbay, person }
}
