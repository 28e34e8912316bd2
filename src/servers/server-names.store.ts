import type { Database } from '../lib/db/client.ts'
import { isAllowed, onlyCallerShown, policyOf, type User } from './access/access.ts'

export type ServerName = {
  id: string
  name: string
  /** Whether the reader may use the server. */
  isOpen: boolean
  /** The only caller whose calls the reader may see. Undefined if they may see all calls. */
  onlyCaller: string | undefined
}

export const listServerNames = async (db: Database, organizationId: string, user: User): Promise<ServerName[]> => {
  const rows = await db.server.findMany({
    where: { organizationId, removedAt: null },
    select: {
      id: true,
      name: true,
      access: true,
      organizationId: true,
      ownerId: true,
      allowedUsers: { where: { userId: user.userId }, select: { userId: true } },
    },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id, name, allowedUsers, ...row }) => {
    const policy = policyOf({ id, ...row, allowedUserIds: allowedUsers.map(({ userId }) => userId) })
    return { id, name, isOpen: isAllowed(policy, user), onlyCaller: onlyCallerShown(policy, user) }
  })
}

export const countAllServers = (db: Database): Promise<number> => db.server.count({ where: { removedAt: null } })

/** Returns the IDs of those servers that still exist. */
export const filterExistingServerIds = async (db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await db.server.findMany({ where: { id: { in: [...ids] }, removedAt: null }, select: { id: true } })
  return new Set(rows.map(({ id }) => id))
}
