import type { Transaction } from '../../lib/db/client.ts'

/** A server with an instance of a tool, and the name of the instance. */
export type ToolOffer = { serverId: string; serverName: string; ownerId: string; name: string }

/** Lists the instances of a tool on the servers of these organizations, by server name. */
export const listToolOffers = async (
  tx: Transaction,
  toolId: string,
  organizationIds: readonly string[],
): Promise<ToolOffer[]> => {
  const rows = await tx.instance.findMany({
    where: { toolId, server: { organizationId: { in: [...organizationIds] }, removedAt: null } },
    select: { name: true, server: { select: { id: true, name: true, ownerId: true } } },
    orderBy: [{ server: { name: 'asc' } }, { id: 'asc' }],
  })
  return rows.map(({ name, server }) => ({
    serverId: server.id,
    serverName: server.name,
    ownerId: server.ownerId,
    name,
  }))
}
