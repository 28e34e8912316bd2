import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { type ContextInput, toContextColumns, toContextRules } from './context-rules.ts'
import type { AccessTier, Presentation, Server } from './server.ts'

/** Hides servers that are marked as removed. */
const NOT_REMOVED = { removedAt: null } as const
const WITH_USERS = { allowedUsers: { select: { userId: true }, orderBy: { id: 'asc' } } } as const

type ServerRow = Parameters<typeof toContextRules>[0] & {
  id: string
  organizationId: string
  ownerId: string
  name: string
  description: string | null
  access: AccessTier
  presentation: Presentation
  reviewUpstreamChanges: boolean
  allowedUsers: { userId: string }[]
  createdAt: Date
  updatedAt: Date
}

export const toServer = ({ description, allowedUsers, ...row }: ServerRow): Server => ({
  id: row.id,
  organizationId: row.organizationId,
  ownerId: row.ownerId,
  name: row.name,
  description: description ?? undefined,
  access: row.access,
  presentation: row.presentation,
  reviewUpstreamChanges: row.reviewUpstreamChanges,
  ...toContextRules(row),
  allowedUserIds: allowedUsers.map(({ userId }) => userId),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

export type NewServer = ContextInput & {
  id?: string | undefined
  organizationId: string
  ownerId: string
  name: string
  description: string | undefined
  access: AccessTier
  presentation: Presentation
  reviewUpstreamChanges: boolean
  allowedUserIds: readonly string[]
}

export const createServer = async (tx: Transaction, data: NewServer): Promise<Server> => {
  const { allowedUserIds, description, id, ...rest } = data
  const row = await tx.server.create({
    data: {
      organizationId: rest.organizationId,
      ownerId: rest.ownerId,
      name: rest.name,
      access: rest.access,
      presentation: rest.presentation,
      reviewUpstreamChanges: rest.reviewUpstreamChanges,
      ...toContextColumns(rest),
      ...(id !== undefined && { id }),
      description: description ?? null,
      allowedUsers: { create: allowedUserIds.map(userId => ({ userId })) },
    },
    include: WITH_USERS,
  })
  return toServer(row)
}

export const findServer = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Server | undefined> => {
  const where = { id, organizationId: { in: [...organizationIds] }, ...NOT_REMOVED }
  const row = await tx.server.findFirst({ where, include: WITH_USERS })
  return row === null ? undefined : toServer(row)
}

export const listServers = async (
  tx: Transaction,
  organizationIds: readonly string[],
  page: IdPage,
): Promise<Server[]> => {
  const { where, ...rest } = idPageQuery(page)
  const mine = { organizationId: { in: [...organizationIds] }, ...NOT_REMOVED }
  const rows = await tx.server.findMany({ where: { ...mine, ...where }, ...rest, include: WITH_USERS })
  return rows.map(toServer)
}

export type ServerPatch = ContextInput & {
  name?: string | undefined
  description?: string | null | undefined
  access?: AccessTier | undefined
  presentation?: Presentation | undefined
  reviewUpstreamChanges?: boolean | undefined
  allowedUserIds?: readonly string[] | undefined
}

export const updateServer = async (tx: Transaction, id: string, patch: ServerPatch): Promise<Server> => {
  const { allowedUserIds, name, description, access, presentation, reviewUpstreamChanges } = patch
  const row = await tx.server.update({
    where: { id },
    data: {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(access === undefined ? {} : { access }),
      ...(presentation === undefined ? {} : { presentation }),
      ...(reviewUpstreamChanges === undefined ? {} : { reviewUpstreamChanges }),
      ...toContextColumns(patch),
      ...(allowedUserIds === undefined
        ? {}
        : { allowedUsers: { deleteMany: {}, create: allowedUserIds.map(userId => ({ userId })) } }),
    },
    include: WITH_USERS,
  })
  return toServer(row)
}

/** Writes only the differences. */
export const updateAllowedUsers = async (
  tx: Transaction,
  { id, allowedUserIds: before }: Server,
  after: readonly string[],
): Promise<Server> => {
  const gone = before.filter(userId => !after.includes(userId))
  const added = after.filter(userId => !before.includes(userId))
  const row = await tx.server.update({
    where: { id },
    data: {
      allowedUsers: {
        deleteMany: { userId: { in: gone } },
        upsert: added.map(userId => ({
          where: { serverId_userId: { serverId: id, userId } },
          create: { userId },
          update: {},
        })),
      },
    },
    include: WITH_USERS,
  })
  return toServer(row)
}

/** Hides a server from everybody and deletes its secrets, instances and toolkit uses, but not its history. */
export const markAsRemoved = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.update({ where: { id }, data: { removedAt: new Date() } })
  const ofServer = { where: { serverId: id } }
  await tx.global.deleteMany(ofServer)
  await tx.instance.deleteMany(ofServer)
  await tx.toolkitUse.deleteMany(ofServer)
}

/** Does nothing if the server is not marked, or is already deleted. */
export const removeMarkedServer = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.deleteMany({ where: { id, removedAt: { not: null } } })
}

export const listMarkedServerIds = async (tx: Transaction): Promise<string[]> =>
  (await tx.server.findMany({ where: { removedAt: { not: null } }, select: { id: true } })).map(({ id }) => id)

/** Which accounts an email address may match: any, or only confirmed ones and members of an organization. */
export type AddressMatch = 'anybody' | { confirmedOrMembersOf: string }

/** Finds users by id or email address, in the order given; unknown ones are undefined. */
export const findUserIds = async (
  tx: Transaction,
  names: readonly string[],
  addressMatch: AddressMatch,
): Promise<(string | undefined)[]> => {
  const wanted = names.map(name => name.trim().toLowerCase())
  const isKnown =
    addressMatch === 'anybody'
      ? {}
      : {
          OR: [
            { emailVerifiedAt: { not: null } },
            { memberships: { some: { organizationId: addressMatch.confirmedOrMembersOf } } },
          ],
        }
  const rows = await tx.user.findMany({
    where: { OR: [{ id: { in: wanted } }, { email: { in: wanted }, ...isKnown }] },
    select: { id: true, email: true },
  })
  return wanted.map(name => rows.find(row => row.id === name || row.email === name)?.id)
}

/** Finds a server of any organization. */
export const findServerOfAnybody = async (tx: Transaction, id: string): Promise<Server | undefined> => {
  const row = await tx.server.findUnique({ where: { id, ...NOT_REMOVED }, include: WITH_USERS })
  return row === null ? undefined : toServer(row)
}

/** `serverId` is set if the caller's token is valid for one server only. */
export type DiscoveryCaller = {
  userId: string
  organizationIds: ReadonlySet<string>
  serverId?: string | undefined
}

const listClosedServersFor = async (tx: Transaction, caller: DiscoveryCaller, take: number): Promise<Server[]> => {
  const where = {
    ...NOT_REMOVED,
    ...(caller.serverId === undefined ? {} : { id: caller.serverId }),
    OR: [
      { access: 'organization' as const, organizationId: { in: [...caller.organizationIds] } },
      { access: 'private' as const, ownerId: caller.userId },
      { access: 'private' as const, allowedUsers: { some: { userId: caller.userId } } },
    ],
  }
  return (await tx.server.findMany({ where, include: WITH_USERS, orderBy: { id: 'asc' }, take })).map(toServer)
}

/**
 * Lists servers for discovery: first those with restricted access, so that strangers' public servers cannot crowd
 * them out, then the public ones.
 */
export const listUsableServers = async (
  tx: Transaction,
  caller: DiscoveryCaller | undefined,
  limit: number,
): Promise<Server[]> => {
  const closed = caller === undefined ? [] : await listClosedServersFor(tx, caller, limit)
  const where = { access: 'public' as const, ...NOT_REMOVED }
  const rows = await tx.server.findMany({
    where,
    include: WITH_USERS,
    orderBy: { id: 'asc' },
    take: limit - closed.length,
  })
  return [...closed, ...rows.map(toServer)]
}
