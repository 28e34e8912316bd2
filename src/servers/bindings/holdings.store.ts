import type { Transaction } from '../../lib/db/client.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import type { HeldServer, Holdings } from '../../tenancy/holdings.ts'
import { countToolkits } from '../../tools/toolkits.store.ts'
import { auditServer } from '../server-audit.ts'
import { markAsRemoved } from '../servers.store.ts'

const HELD = { id: true, name: true, organizationId: true, ownerId: true } as const

const listServersOwnedBy = (tx: Transaction, ownerId: string, organizationId?: string): Promise<HeldServer[]> =>
  tx.server.findMany({
    where: { ownerId, ...(organizationId !== undefined && { organizationId }), removedAt: null },
    select: HELD,
    orderBy: { id: 'asc' },
  })

const listOrganizationIdsOfOwner = async (tx: Transaction, ownerId: string): Promise<string[]> => {
  const select = { organizationId: true } as const
  const rows = await tx.server.findMany({ where: { ownerId }, select, distinct: ['organizationId'] })
  return rows.map(({ organizationId }) => organizationId)
}

const findCommand: Holdings['findCommand'] = async (tx, organizationId) => {
  const where = { transport: 'stdio' as const, server: { organizationId, removedAt: null } }
  const select = { name: true, server: { select: { name: true } } } as const
  const row = await tx.upstream.findFirst({ where, select, orderBy: { id: 'asc' } })
  return mapFound(row, ({ name, server }) => ({ name, serverName: server.name }))
}

const giveServers: Holdings['giveServers'] = async (tx, { organizationId, from, to }) => {
  // Includes servers that are being removed, because their rows have an owner until they are deleted.
  const where = { organizationId, ownerId: from }
  const rows = await tx.server.findMany({ where, select: { id: true } })
  await tx.server.updateMany({ where, data: { ownerId: to } })
  return rows.map(({ id }) => id)
}

const withdrawUser = async (tx: Transaction, organizationId: string, userId: string): Promise<string[]> => {
  const where = { userId, server: { organizationId } }
  const named = await tx.serverUser.findMany({ where, select: { serverId: true } })
  await tx.serverUser.deleteMany({ where })
  await tx.accessRequest.deleteMany({ where })
  await tx.oAuthArtifact.deleteMany({ where })
  return named.map(({ serverId }) => serverId)
}

const stopServers: Holdings['stopServers'] = async (tx, actor, organizationId) => {
  const rows = await tx.server.findMany({ where: { organizationId }, select: { ...HELD, removedAt: true } })
  for (const server of rows.filter(({ removedAt }) => removedAt === null)) {
    await markAsRemoved(tx, server.id)
    await auditServer(tx, actor, 'server.removed', server)
  }
  return rows.map(({ id }) => id)
}

/** Gives the tenancy capability access to servers and toolkits. */
export const holdings: Holdings = {
  listServersOwnedBy,
  listOrganizationIdsOfOwner,
  findCommand,
  countServers: (tx, organizationId) => tx.server.count({ where: { organizationId, removedAt: null } }),
  countToolkits,
  giveServers,
  withdrawUser,
  stopServers,
}
