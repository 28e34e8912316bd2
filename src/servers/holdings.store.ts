import type { HeldServer, Holdings } from '../organizations/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { countToolkits } from '../toolkits/index.ts'

const HELD = { id: true, name: true, organizationId: true, ownerId: true } as const

/** Those that are on their way out too: their rows still name their owner. */
const listServersOwnedBy = (tx: Transaction, ownerId: string, organizationId?: string): Promise<HeldServer[]> =>
  tx.server.findMany({
    where: { ownerId, ...(organizationId !== undefined && { organizationId }) },
    select: HELD,
    orderBy: { id: 'asc' },
  })

const giveServers = async (tx: Transaction, servers: readonly HeldServer[], ownerId: string): Promise<string[]> => {
  const ids = servers.map(({ id }) => id)
  await tx.server.updateMany({ where: { id: { in: ids } }, data: { ownerId } })
  return ids
}

const withdrawUser = async (tx: Transaction, organizationId: string, userId: string): Promise<string[]> => {
  const where = { userId, server: { organizationId } }
  const named = await tx.serverUser.findMany({ where, select: { serverId: true } })
  await tx.serverUser.deleteMany({ where })
  await tx.oAuthArtifact.deleteMany({ where })
  return named.map(({ serverId }) => serverId)
}

const stopServers = async (tx: Transaction, organizationId: string): Promise<string[]> => {
  await tx.server.updateMany({ where: { organizationId, removedAt: null }, data: { removedAt: new Date() } })
  return (await tx.server.findMany({ where: { organizationId }, select: { id: true } })).map(({ id }) => id)
}

/** What organizations ask of those that keep servers and toolkits. */
export const holdings: Holdings = {
  listServersOwnedBy,
  countServers: (tx, organizationId) => tx.server.count({ where: { organizationId, removedAt: null } }),
  countToolkits,
  giveServers,
  withdrawUser,
  stopServers,
}
