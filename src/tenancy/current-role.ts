import type { Transaction } from '../lib/db/client.ts'
import { type Actor, assertMay } from '../lib/kernel/actor.ts'
import type { Permission } from '../lib/kernel/roles.ts'
import { findRole } from './members.store.ts'

/**
 * Same as `assertMay`, but reads the actor's role in this transaction, because the role may have changed since the
 * request arrived.
 */
export const assertStillMay = async (
  tx: Transaction,
  actor: Actor,
  organizationId: string,
  permission: Permission,
): Promise<void> => {
  const role = await findRole(tx, organizationId, actor.userId)
  assertMay({ ...actor, memberships: new Map(role && [[organizationId, role]]) }, organizationId, permission)
}
