import { type Actor, assertMay, type Permission } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { findRole } from './members.store.ts'

/**
 * As `assertMay`, by the role that the actor has in this very transaction: one that was taken away since the request
 * came in decides nothing about others.
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
