import type { Transaction } from '../lib/db/client.ts'
import { type Actor, organizationIdsOf } from '../lib/kernel/actor.ts'
import { isAllowed, policyOf } from './access/access.ts'
import type { Server } from './server.ts'
import { findServerOfAnybody } from './servers.store.ts'

/** Returns the server, or undefined if its tier does not allow the actor to call it. */
export const findServerToCall = async (
  tx: Transaction,
  actor: Actor,
  serverId: string,
): Promise<Server | undefined> => {
  const server = await findServerOfAnybody(tx, serverId)
  if (server === undefined) return undefined
  const user = { userId: actor.userId, organizationIds: new Set(organizationIdsOf(actor)) }
  return isAllowed(policyOf(server), user) ? server : undefined
}
