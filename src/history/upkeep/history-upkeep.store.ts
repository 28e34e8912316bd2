import type { Database } from '../../lib/db/client.ts'

/** Lists the servers whose calls may still carry the id of an earlier organization. */
export const listMovedServerIds = async (db: Database): Promise<string[]> =>
  (await db.server.findMany({ where: { hasMovedCalls: true }, select: { id: true } })).map(({ id }) => id)

export const listServerIds = async (db: Database): Promise<string[]> =>
  (await db.server.findMany({ select: { id: true } })).map(({ id }) => id)

export const findOrganizationOf = async (db: Database, serverId: string): Promise<string | undefined> =>
  (await db.server.findUnique({ where: { id: serverId }, select: { organizationId: true } }))?.organizationId

/** Notes that the calls of a server carry the id of this organization, unless it has moved again. */
export const noteCallsMoved = async (db: Database, id: string, organizationId: string): Promise<void> => {
  await db.server.updateMany({ where: { id, organizationId }, data: { hasMovedCalls: false } })
}

/** Lists the organizations that limit their history. */
export const listLimits = (db: Database) =>
  db.organization.findMany({
    where: { OR: [{ keepCallsDays: { not: null } }, { keepCalls: { not: null } }] },
    select: { id: true, keepCallsDays: true, keepCalls: true },
  })
