import type { Transaction } from '../lib/db/client.ts'
import type { User } from './account.ts'
import * as store from './accounts.store.ts'

/**
 * Email of the account that owns the demo on an installation without accounts. Nobody can sign in to this account, and
 * it is not counted as an account. The first real account takes over its organization, so that the demo appears in the
 * new account's dashboard.
 */
export const DEMO_EMAIL = 'demo@patchbay.internal'
const DEMO_ORGANIZATION = 'Demo'

/** Returns the demo account. Creates the account and its organization if needed. */
export const ensureDemoAccount = async (tx: Transaction): Promise<User> => {
  const existing = await store.findUserByEmail(tx, DEMO_EMAIL)
  if (existing !== undefined) return existing
  const made = await store.createUser(tx, {
    email: DEMO_EMAIL,
    emailVerifiedAt: undefined,
    passwordHash: undefined,
    isOperator: false,
  })
  await store.createOrganization(tx, DEMO_ORGANIZATION, made.id)
  return made
}

/**
 * Transfers the demo organization to the first account and renames it. Returns its ID, or undefined if there is none.
 */
export const takeDemoOver = async (tx: Transaction, ownerId: string, name: string): Promise<string | undefined> => {
  const demo = await store.findUserByEmail(tx, DEMO_EMAIL)
  const [organization] = demo === undefined ? [] : await store.listOrganizationsOf(tx, demo.id)
  if (demo === undefined || organization === undefined) return undefined
  await store.renameOrganization(tx, organization.id, name)
  await store.setCreator(tx, organization.id, ownerId)
  await store.removeMember(tx, organization.id, demo.id)
  await store.addMember(tx, { organizationId: organization.id, userId: ownerId, role: 'owner' })
  return organization.id
}
