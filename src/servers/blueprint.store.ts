import type { Transaction } from '../lib/db/client.ts'
import { listGlobals } from './globals/globals.store.ts'
import type { Presentation, ServerBlueprint } from './server.ts'
import { toServer } from './servers.store.ts'
import { listAllInstances } from './tools/instances.store.ts'

const listToolkitsAtWork = async (tx: Transaction, serverId: string): Promise<ServerBlueprint['toolkits']> => {
  const rows = await tx.toolkit.findMany({
    where: { tools: { some: { instances: { some: { serverId } } } } },
    select: { id: true, title: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ description, ...toolkit }) => ({ ...toolkit, description: description ?? undefined }))
}

/**
 * Everything a server is made of; for the runtime, which is nobody's actor. Undefined: no such server. `presentation`:
 * in place of the one that it has.
 */
export const readBlueprint = async (
  tx: Transaction,
  serverId: string,
  presentation?: Presentation,
): Promise<ServerBlueprint | undefined> => {
  const row = await tx.server.findUnique({
    where: { id: serverId, removedAt: null },
    include: { allowedUsers: { select: { userId: true }, orderBy: { id: 'asc' } } },
  })
  if (row === null) return undefined
  const server = toServer(row)
  const shown = { ...server, presentation: presentation ?? server.presentation }
  const [globals, instances, toolkits] = await Promise.all([
    listGlobals(tx, serverId),
    listAllInstances(tx, serverId),
    shown.presentation === 'grouped' ? listToolkitsAtWork(tx, serverId) : [],
  ])
  return { server: shown, globals, instances, toolkits }
}
