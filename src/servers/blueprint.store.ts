import type { Transaction } from '../platform/db/index.ts'
import { listGlobals } from './globals.store.ts'
import { listAllInstances } from './instances.store.ts'
import type { ServerBlueprint } from './server.ts'
import { toServer } from './servers.store.ts'

/** Everything a server is made of; for the runtime, which is nobody's actor. Undefined: no such server. */
export const readBlueprint = async (tx: Transaction, serverId: string): Promise<ServerBlueprint | undefined> => {
  const row = await tx.server.findUnique({
    where: { id: serverId, removedAt: null },
    include: { allowedUsers: { select: { userId: true }, orderBy: { id: 'asc' } } },
  })
  if (row === null) return undefined
  const [globals, instances] = await Promise.all([listGlobals(tx, serverId), listAllInstances(tx, serverId)])
  return { server: toServer(row), globals, instances }
}
