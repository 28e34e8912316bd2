import type { Transaction } from '../lib/db/client.ts'
import { withoutNulls } from '../lib/kernel/missing.ts'
import { listGlobals } from './globals/globals.store.ts'
import type { Presentation, ServerBlueprint } from './server.ts'
import { findServerOfAnybody } from './servers.store.ts'
import { listAllInstances } from './tools/instances.store.ts'

const listToolkitsOfInstances = async (tx: Transaction, serverId: string): Promise<ServerBlueprint['toolkits']> => {
  const rows = await tx.toolkit.findMany({
    where: { tools: { some: { instances: { some: { serverId } } } } },
    select: { id: true, title: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(withoutNulls)
}

/**
 * Reads everything the runtime needs to compile a server. Does not check access. Returns undefined if the server does
 * not exist. `presentation` replaces the server's own.
 */
export const readBlueprint = async (
  tx: Transaction,
  serverId: string,
  presentation?: Presentation,
): Promise<ServerBlueprint | undefined> => {
  const server = await findServerOfAnybody(tx, serverId)
  if (server === undefined) return undefined
  const shown = { ...server, presentation: presentation ?? server.presentation }
  const [globals, instances, toolkits] = await Promise.all([
    listGlobals(tx, serverId),
    listAllInstances(tx, serverId),
    shown.presentation === 'grouped' ? listToolkitsOfInstances(tx, serverId) : [],
  ])
  return { server: shown, globals, instances, toolkits }
}
