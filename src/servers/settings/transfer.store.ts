import type { Transaction } from '../../lib/db/client.ts'
import type { Role } from '../../lib/kernel/roles.ts'

/** Lists the toolkits that a server uses directly rather than through a snapshot. */
export const listDirectlyUsedToolkitIds = async (tx: Transaction, serverId: string): Promise<string[]> => {
  const where = { serverId, toolkit: { snapshotOfId: null } }
  return (await tx.toolkitUse.findMany({ where, select: { toolkitId: true } })).map(({ toolkitId }) => toolkitId)
}

/** Points a server's instances to the copies of their tools in a snapshot. A single statement moves all instances. */
export const moveInstancesToCopies = async (
  tx: Transaction,
  serverId: string,
  { fromToolkitId, toSnapshotId }: { fromToolkitId: string; toSnapshotId: string },
): Promise<void> => {
  await tx.$executeRaw`
    UPDATE "Instance" SET "toolId" = (
      SELECT "copy"."id" FROM "Tool" AS "copy"
      WHERE "copy"."toolkitId" = ${toSnapshotId} AND "copy"."originId" = "Instance"."toolId"
    )
    WHERE "serverId" = ${serverId} AND "toolId" IN (SELECT "id" FROM "Tool" WHERE "toolkitId" = ${fromToolkitId})`
}

/**
 * Moves a server to another organization. Its snapshots move too, because they must belong to the same organization.
 * Upkeep gives its recorded calls the id of the organization.
 */
export const moveServer = async (
  tx: Transaction,
  id: string,
  { organizationId, ownerId }: { organizationId: string; ownerId: string },
): Promise<void> => {
  await tx.toolkit.updateMany({ where: { serverId: id }, data: { organizationId } })
  await tx.server.update({ where: { id }, data: { organizationId, ownerId, hasMovedCalls: true } })
}

export const listGrantingUserIds = async (tx: Transaction, serverId: string): Promise<string[]> => {
  const where = { serverId, userId: { not: null } }
  const rows = await tx.oAuthArtifact.findMany({ where, select: { userId: true }, distinct: ['userId'] })
  return rows.flatMap(({ userId }) => userId ?? [])
}

export const removeGrants = async (tx: Transaction, serverId: string, userIds: readonly string[]): Promise<void> => {
  await tx.oAuthArtifact.deleteMany({ where: { serverId, userId: { in: [...userIds] } } })
}

/** Returns the roles of those of these users who are members, by user. */
export const findRolesAmong = async (
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, Role>> => {
  const where = { organizationId, userId: { in: [...userIds] } }
  const rows = await tx.membership.findMany({ where, select: { userId: true, role: true } })
  return new Map(rows.map(({ userId, role }) => [userId, role]))
}
