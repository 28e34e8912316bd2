import type { Transaction } from '../lib/db/client.ts'
import { type Actor, organizationIdsOf } from '../lib/kernel/actor.ts'
import { isLetIn, policyOf } from './access/access.ts'
import type { Server } from './server.ts'
import { findServerOfAnybody } from './servers.store.ts'

/** The server, where its tier lets the actor call it; undefined where it does not, or there is none. */
export const findServerToCall = async (
  tx: Transaction,
  actor: Actor,
  serverId: string,
): Promise<Server | undefined> => {
  const server = await findServerOfAnybody(tx, serverId)
  if (server === undefined) return undefined
  const user = { userId: actor.userId, organizationIds: new Set(organizationIdsOf(actor)) }
  return isLetIn(policyOf(server), user) ? server : undefined
}
