import type { Transaction } from '../lib/db/client.ts'
import type { AccessPolicy } from '../servers/access/access.ts'

/** A server as seen when granting access to it. */
export type ResourceServer = { id: string; name: string; organizationName: string; policy: AccessPolicy }

/** Finds a server in any organization: its access tier, not its organization, decides who may use it. */
export const findResourceServer = async (tx: Transaction, id: string): Promise<ResourceServer | undefined> => {
  const row = await tx.server.findFirst({
    where: { id, removedAt: null },
    include: { organization: { select: { name: true } }, allowedUsers: { select: { userId: true } } },
  })
  if (row === null) return undefined
  const policy = {
    serverId: row.id,
    tier: row.access,
    organizationId: row.organizationId,
    ownerId: row.ownerId,
    allowedUserIds: new Set(row.allowedUsers.map(({ userId }) => userId)),
  }
  return { id: row.id, name: row.name, organizationName: row.organization.name, policy }
}

export const isServer = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.server.count({ where: { id, removedAt: null } })) > 0

export const isUser = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.user.count({ where: { id } })) > 0
