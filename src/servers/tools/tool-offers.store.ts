import type { Transaction } from '../../lib/db/client.ts'

/** A server that offers a tool to its callers, and under which name. */
export type ToolOffer = { serverId: string; serverName: string; ownerId: string; name: string }

/** Where a tool is put to work, among the servers of these organizations; by the servers' names. */
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
