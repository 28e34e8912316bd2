import { z } from 'zod'
import type { Database, Transaction } from '../lib/db/client.ts'
import { containing } from '../lib/db/containing.ts'
import { decodeCursor, type Page, toPage } from '../lib/http/paging.ts'
import { mapFound } from '../lib/kernel/missing.ts'
import { type AccessPolicy, policyOf, type User } from '../servers/access/access.ts'
import { openTo, privateTo } from '../servers/access/open-to.store.ts'
import type { AccessTier } from '../servers/server.ts'
import { toServer, WITH_USERS } from '../servers/servers.store.ts'

/** The parts of a server that the consent page and grants need. */
export type ResourceServer = { id: string; name: string; organizationName: string; policy: AccessPolicy }

/** Finds a server of any organization. The server's tier determines who may use it. */
export const findResourceServer = async (tx: Transaction, id: string): Promise<ResourceServer | undefined> => {
  const include = { organization: { select: { name: true } }, ...WITH_USERS } as const
  return mapFound(await tx.server.findFirst({ where: { id, removedAt: null }, include }), row => ({
    id: row.id,
    name: row.name,
    organizationName: row.organization.name,
    policy: policyOf(toServer(row)),
  }))
}

/** A server that a user may use. */
export type UsableServer = { id: string; name: string; organizationName: string; tier: AccessTier }

export type UsableQuery = {
  /** Part of a name or description. An empty string matches all servers. */
  search: string
  /** The only server to find, for a search by its address. Also finds a public server of another organization. */
  id?: string | undefined
  limit: number
  cursor: string | undefined
}

const CURSOR = z.tuple([z.string().refine(name => !name.includes('\0')), z.uuid()])

const after = (position: z.output<typeof CURSOR> | undefined) => {
  if (position === undefined) return {}
  const [name, id] = position
  return { OR: [{ name: { gt: name } }, { name, id: { gt: id } }] }
}

const matching = (db: Database, user: User, { search, id }: UsableQuery) => {
  // An allowed user need not be a member of the organization.
  const open = [openTo(user), privateTo(user)]
  if (id !== undefined) return { id, OR: [...open, { access: 'public' as const }] }
  if (search === '') return { OR: open }
  const found = containing(db, search)
  return { OR: open, AND: { OR: [{ name: found }, { description: found }] } }
}

/** Lists a page of the servers that a user may use, by name. Throws `invalid_request` if the cursor is invalid. */
export const listUsableServers = async (db: Database, user: User, query: UsableQuery): Promise<Page<UsableServer>> => {
  const { limit, cursor } = query
  const rows = await db.server.findMany({
    where: { removedAt: null, AND: [matching(db, user, query), after(decodeCursor(cursor, CURSOR))] },
    select: { id: true, name: true, access: true, organization: { select: { name: true } } },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: limit + 1,
  })
  const { items, nextCursor } = toPage(rows, limit, ({ name, id }) => [name, id])
  return {
    items: items.map(({ id, name, access, organization }) => ({
      id,
      name,
      organizationName: organization.name,
      tier: access,
    })),
    nextCursor,
  }
}

export const isServer = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.server.count({ where: { id, removedAt: null } })) > 0

export const isUser = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.user.count({ where: { id } })) > 0
