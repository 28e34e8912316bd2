import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
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
  return server !== undefined && isAllowed(policyOf(server), actor) ? server : undefined
}
