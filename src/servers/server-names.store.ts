import type { Database } from '../lib/db/client.ts'

export const listServerNames = (db: Database, organizationId: string): Promise<{ id: string; name: string }[]> =>
  db.server.findMany({
    where: { organizationId, removedAt: null },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
  })

export const countAllServers = (db: Database): Promise<number> => db.server.count({ where: { removedAt: null } })

/** Returns the IDs of those servers that still exist. */
export const filterExistingServerIds = async (db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await db.server.findMany({ where: { id: { in: [...ids] }, removedAt: null }, select: { id: true } })
  return new Set(rows.map(({ id }) => id))
}
