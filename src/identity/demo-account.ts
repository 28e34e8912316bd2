import type { Transaction } from '../lib/db/client.ts'
import type { Announce } from '../lib/events/changes.ts'
import type { User } from './account.ts'
import * as store from './accounts.store.ts'
import { writeAudit } from './audit/audit.store.ts'
import { userActor, userTarget } from './audit/audit-entry.ts'

/**
 * Email of the account that owns the demo on an installation without accounts. Nobody can sign in to this account, and
 * it is not counted as an account. The first real account takes over what it has.
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

type Adoption = {
  organizationId: string
  demoId: string
  /** The first account. */
  owner: User
  /** Network address of the sign-up, or undefined on the command line. */
  address: string | undefined
}

/** Gives the demo's servers to the first account and makes them private. Supplied by `services.ts`. */
export type AdoptDemoServers = (tx: Transaction, announce: Announce, adoption: Adoption) => Promise<void>

type Takeover = Pick<Adoption, 'owner' | 'address'> & {
  /** The new name of the demo's organization. */
  name: string
  adoptServers: AdoptDemoServers
}

/** Deletes the demo account, unless it still belongs to an organization that a token of it created. */
const removeDemoAccount = async (
  tx: Transaction,
  announce: Announce,
  demo: User,
  { owner, address }: Takeover,
): Promise<void> => {
  if ((await store.listOrganizationsOf(tx, demo.id)).length > 0) return
  await store.removeUser(tx, demo.id)
  const actor = address === undefined ? undefined : userActor(owner, address)
  await writeAudit(tx, { action: 'user.removed', actor, target: userTarget(demo) })
  announce({ type: 'access_changed', userId: demo.id })
}

/**
 * Makes the first account the owner of the demo's organization, renames it, makes its servers private and deletes the
 * demo account. Returns the organization's ID, or undefined if there is no demo.
 */
export const takeDemoOver = async (
  tx: Transaction,
  announce: Announce,
  takeover: Takeover,
): Promise<string | undefined> => {
  const demo = await store.findUserByEmail(tx, DEMO_EMAIL)
  const [organization] = demo === undefined ? [] : await store.listOrganizationsOf(tx, demo.id)
  if (demo === undefined || organization === undefined) return undefined
  const { owner, address, name, adoptServers } = takeover
  const organizationId = organization.id
  await store.renameOrganization(tx, organizationId, name)
  await store.setCreator(tx, organizationId, owner.id)
  await store.removeMember(tx, organizationId, demo.id)
  await store.addMember(tx, { organizationId, userId: owner.id, role: 'owner' })
  await adoptServers(tx, announce, { organizationId, demoId: demo.id, owner, address })
  await removeDemoAccount(tx, announce, demo, takeover)
  return organizationId
}
