import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'
import { containing } from '../lib/db/containing.ts'
import { decodeCursor, type Page, toPage } from '../lib/http/paging.ts'
import { isAllowed, onlyCallerShown, policyOf, type User } from './access/access.ts'
import { openTo } from './access/open-to.store.ts'
import type { AccessTier } from './server.ts'

export type ServerCard = {
  id: string
  name: string
  tier: AccessTier
  organizationId: string
  organizationName: string
  ownerEmail: string
  /** Whether the reader has asked for access. */
  isRequested: boolean
  /** What only those who may use the server see. Undefined for all others. */
  inside:
    | {
        description: string | undefined
        /** Whether this is a passthrough server, which has no tools of its own to count. */
        passesOn: boolean
        /** The tools that are enabled. */
        tools: number
        /** The only caller whose calls the reader may see. Undefined if they may see all calls. */
        onlyCaller: string | undefined
      }
    | undefined
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

/** A description is found only by those who may see it. */
const matching = (db: Database, user: User, search: string) => {
  if (search === '') return {}
  const found = containing(db, search)
  return { OR: [{ name: found }, { AND: [openTo(user), { description: found }] }, { id: search.toLowerCase() }] }
}

/**
 * Lists a page of the servers of the user's organizations, newest first. Throws `invalid_request` if the cursor is
 * invalid.
 */
export const listServerCards = async (
  db: Database,
  user: User,
  { search, limit, cursor }: CardQuery,
): Promise<Page<ServerCard>> => {
  const { userId } = user
  const rows = await db.server.findMany({
    where: {
      organizationId: { in: [...user.memberships.keys()] },
      removedAt: null,
      AND: [after(decodeCursor(cursor, CURSOR)), matching(db, user, search)],
    },
    select: {
      id: true,
      name: true,
      description: true,
      access: true,
      presentation: true,
      createdAt: true,
      organizationId: true,
      organization: { select: { name: true } },
      ownerId: true,
      owner: { select: { email: true } },
      allowedUsers: { where: { userId }, select: { userId: true } },
      requests: { where: { userId }, select: { id: true } },
      _count: { select: { instances: { where: { isEnabled: true } } } },
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  const { items, nextCursor } = toPage(rows, limit, last => [last.createdAt, last.id])
  return {
    items: items.map(row => {
      const policy = policyOf({ ...row, allowedUserIds: row.allowedUsers.map(allowed => allowed.userId) })
      return {
        id: row.id,
        name: row.name,
        tier: row.access,
        organizationId: row.organizationId,
        organizationName: row.organization.name,
        ownerEmail: row.owner.email,
        isRequested: row.requests.length > 0,
        inside: isAllowed(policy, user)
          ? {
              description: row.description ?? undefined,
              passesOn: row.presentation === 'passthrough',
              tools: row._count.instances,
              onlyCaller: onlyCallerShown(policy, user),
            }
          : undefined,
      }
    }),
    nextCursor,
  }
}
