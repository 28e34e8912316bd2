import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'
import { containing } from '../lib/db/containing.ts'
import { decodeCursor, type Page, toPage } from '../lib/http/paging.ts'
import { withoutNulls } from '../lib/kernel/missing.ts'
import type { AccessTier } from './server.ts'

export type ServerCard = {
  id: string
  name: string
  description: string | undefined
  tier: AccessTier
  organizationId: string
  organizationName: string
  /** Whether this is a passthrough server, which has no tools of its own to count. */
  passesOn: boolean
  tools: number
}

export type CardQuery = {
  /** Part of a name or description, or a server's ID. An empty string matches all servers. */
  search: string
  limit: number
  cursor: string | undefined
}

const CURSOR = z.tuple([z.iso.datetime().transform(text => new Date(text)), z.uuid()])

type Position = readonly [createdAt: Date, id: string]

const after = (position: Position | undefined) => {
  if (position === undefined) return {}
  const [createdAt, id] = position
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] }
}

const matching = (db: Database, search: string) =>
  search === ''
    ? {}
    : { OR: [{ name: containing(db, search) }, { description: containing(db, search) }, { id: search.toLowerCase() }] }

/** Lists a page of the organizations' servers, newest first. Throws `invalid_request` if the cursor is invalid. */
export const listServerCards = async (
  db: Database,
  organizationIds: readonly string[],
  { search, limit, cursor }: CardQuery,
): Promise<Page<ServerCard>> => {
  const rows = await db.server.findMany({
    where: {
      organizationId: { in: [...organizationIds] },
      removedAt: null,
      AND: [after(decodeCursor(cursor, CURSOR)), matching(db, search)],
    },
    select: {
      id: true,
      name: true,
      description: true,
      access: true,
      presentation: true,
      createdAt: true,
      organization: { select: { id: true, name: true } },
      _count: { select: { instances: true } },
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  const { items, nextCursor } = toPage(rows, limit, last => [last.createdAt, last.id])
  return {
    items: items.map(({ access: tier, presentation, organization, _count, createdAt: _, ...row }) => ({
      ...withoutNulls(row),
      tier,
      organizationId: organization.id,
      organizationName: organization.name,
      passesOn: presentation === 'passthrough',
      tools: _count.instances,
    })),
    nextCursor,
  }
}
