import type { Transaction } from '../platform/db/index.ts'
import type { User } from './account.ts'
import * as store from './accounts.store.ts'

/**
 * Owns what `patchbay demo` makes on an installation without accounts. Nobody signs in with it, it does not count as
 * an account, and the first account takes its organization over, so that the demo is there in its dashboard.
 */
export const DEMO_EMAIL = 'demo@patchbay.internal'
const DEMO_ORGANIZATION = 'Demo'
/** No hash at all: no password fits. */
export const UNUSABLE_PASSWORD_HASH = ''

/** Finds the demo's account; makes it, with an organization, if it is not there. */
export const ensureDemoAccount = async (tx: Transaction): Promise<User> => {
  const existing = await store.findUserByEmail(tx, DEMO_EMAIL)
  if (existing !== undefined) return existing
  const made = await store.createUser(tx, {
    email: DEMO_EMAIL,
    passwordHash: UNUSABLE_PASSWORD_HASH,
    isOperator: false,
  })
  await store.createOrganization(tx, DEMO_ORGANIZATION, made.id)
  return made
}

/** Hands the demo's organization to the first account under a name of its own. Answers its id; undefined: there is none. */
export const takeDemoOver = async (tx: Transaction, ownerId: string, name: string): Promise<string | undefined> => {
  const demo = await store.findUserByEmail(tx, DEMO_EMAIL)
  const [organization] = demo === undefined ? [] : await store.listOrganizationsOf(tx, demo.id)
  if (demo === undefined || organization === undefined) return undefined
  await store.renameOrganization(tx, organization.id, name)
  await store.removeMember(tx, organization.id, demo.id)
  await store.addMember(tx, { organizationId: organization.id, userId: ownerId, role: 'owner' })
  return organization.id
}
