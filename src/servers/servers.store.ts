import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { type ContextWish, toContextColumns, toContextRules } from './context-rules.ts'
import type { AccessTier, Presentation, Server } from './server.ts'

/** A server that is marked as removed exists for nobody. */
const THERE = { removedAt: null } as const
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

export type NewServer = ContextWish & {
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
  const where = { id, organizationId: { in: [...organizationIds] }, ...THERE }
  const row = await tx.server.findFirst({ where, include: WITH_USERS })
  return row === null ? undefined : toServer(row)
}

export const listServers = async (
  tx: Transaction,
  organizationIds: readonly string[],
  page: IdPage,
): Promise<Server[]> => {
  const { where, ...rest } = idPageQuery(page)
  const mine = { organizationId: { in: [...organizationIds] }, ...THERE }
  const rows = await tx.server.findMany({ where: { ...mine, ...where }, ...rest, include: WITH_USERS })
  return rows.map(toServer)
}

export type ServerPatch = ContextWish & {
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

/** Only what differs is written. */
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

/** From here on nobody sees or calls the server; its secrets and all that makes it up are gone, but not its history. */
export const markAsRemoved = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.update({ where: { id }, data: { removedAt: new Date() } })
  const ofServer = { where: { serverId: id } }
  await tx.global.deleteMany(ofServer)
  await tx.instance.deleteMany(ofServer)
  await tx.toolkitUse.deleteMany(ofServer)
}

/** Nothing happens where it is not marked, or somebody else removed it. */
export const removeMarkedServer = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.deleteMany({ where: { id, removedAt: { not: null } } })
}

export const listMarkedServerIds = async (tx: Transaction): Promise<string[]> =>
  (await tx.server.findMany({ where: { removedAt: { not: null } }, select: { id: true } })).map(({ id }) => id)

/** Who an e-mail address stands for: whoever has an account with it, or those alone who are known to be at it. */
export type Addressees = 'anybody' | { confirmedOrMembersOf: string }

/** Ids of the users among `names`, which are ids or e-mail addresses; in the order given, unknown ones as undefined. */
export const findUserIds = async (
  tx: Transaction,
  names: readonly string[],
  addressees: Addressees,
): Promise<(string | undefined)[]> => {
  const wanted = names.map(name => name.trim().toLowerCase())
  const isKnown =
    addressees === 'anybody'
      ? {}
      : {
          OR: [
            { emailVerifiedAt: { not: null } },
            { memberships: { some: { organizationId: addressees.confirmedOrMembersOf } } },
          ],
        }
  const rows = await tx.user.findMany({
    where: { OR: [{ id: { in: wanted } }, { email: { in: wanted }, ...isKnown }] },
    select: { id: true, email: true },
  })
  return wanted.map(name => rows.find(row => row.id === name || row.email === name)?.id)
}

/** Whoever's it is. */
export const findServerOfAnybody = async (tx: Transaction, id: string): Promise<Server | undefined> => {
  const row = await tx.server.findUnique({ where: { id, ...THERE }, include: WITH_USERS })
  return row === null ? undefined : toServer(row)
}

/** `serverId`: the one server that what the caller shows is good for, if it is good for one only. */
export type DiscoveryCaller = {
  userId: string
  organizationIds: ReadonlySet<string>
  serverId?: string | undefined
}

const listClosedServersFor = async (tx: Transaction, caller: DiscoveryCaller, take: number): Promise<Server[]> => {
  const where = {
    ...THERE,
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
 * Servers that somebody may use, for discovery: first those that are not for everybody, which no number of strangers'
 * public ones may crowd out, then the public ones.
 */
export const listUsableServers = async (
  tx: Transaction,
  caller: DiscoveryCaller | undefined,
  limit: number,
): Promise<Server[]> => {
  const closed = caller === undefined ? [] : await listClosedServersFor(tx, caller, limit)
  const where = { access: 'public' as const, ...THERE }
  const rows = await tx.server.findMany({
    where,
    include: WITH_USERS,
    orderBy: { id: 'asc' },
    take: limit - closed.length,
  })
  return [...closed, ...rows.map(toServer)]
}
