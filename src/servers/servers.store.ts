import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { definedFields, mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { User } from './access/access.ts'
import { privateTo } from './access/open-to.store.ts'
import { pinnedToolsIn } from './context-rules.ts'
import { maskingRulesIn } from './masking/masking-rules.ts'
import { forgetSample } from './samples/samples.store.ts'
import type { Server } from './server.ts'
import type { ServerChanges } from './servers.schema.ts'

/** Excludes servers that are marked as removed. */
const NOT_REMOVED = { removedAt: null } as const
export const WITH_USERS = { allowedUsers: { select: { userId: true }, orderBy: { id: 'asc' } } } as const

export type ServerRow = Rows.Server & { allowedUsers: { userId: string }[] }

export const toServer = ({ allowedUsers, removedAt: _, ...row }: ServerRow): Server => ({
  ...withoutNulls(row),
  pinnedTools: pinnedToolsIn(row.pinnedTools),
  masking: maskingRulesIn(row.masking),
  allowedUserIds: allowedUsers.map(({ userId }) => userId),
})

const allowed = (userIds: readonly string[]) => userIds.map(userId => ({ userId }))

/** Builds a database update that writes only the differences. */
const changeAllowed = (before: readonly string[], after: readonly string[]) => ({
  deleteMany: { userId: { in: before.filter(userId => !after.includes(userId)) } },
  create: allowed(after.filter(userId => !before.includes(userId))),
})

type ServerFields = Omit<ServerChanges, 'allowedUsers'>

/** Returns the columns that builders may set. An empty notice is stored as null. */
const toColumns = (fields: ServerFields) =>
  definedFields({
    name: fields.name,
    description: fields.description,
    access: fields.access,
    presentation: fields.presentation,
    allowAnyOrigin: fields.allowAnyOrigin,
    reviewUpstreamChanges: fields.reviewUpstreamChanges,
    maxResponseTokens: fields.maxResponseTokens,
    cutNotice: fields.cutNotice === '' ? null : fields.cutNotice,
    cutResultTools: fields.cutResultTools,
    compactTables: fields.compactTables,
    pinnedTools: fields.pinnedTools && [...new Set(fields.pinnedTools)],
    maxFlatTokens: fields.maxFlatTokens,
    storesBodies: fields.storesBodies,
    masking: fields.masking && [...fields.masking],
  })

export type NewServer = ServerFields & {
  id: string | undefined
  name: string
  organizationId: string
  ownerId: string
  allowedUserIds: readonly string[]
}

export const createServer = async (
  tx: Transaction,
  { name, organizationId, ownerId, allowedUserIds, id, ...fields }: NewServer,
): Promise<Server> =>
  toServer(
    await tx.server.create({
      data: {
        ...definedFields({ id }),
        ...toColumns(fields),
        name,
        organizationId,
        ownerId,
        allowedUsers: { create: allowed(allowedUserIds) },
      },
      include: WITH_USERS,
    }),
  )

export const findServer = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Server | undefined> => {
  const where = { id, organizationId: { in: [...organizationIds] }, ...NOT_REMOVED }
  return mapFound(await tx.server.findFirst({ where, include: WITH_USERS }), toServer)
}

export const listServers = async (
  tx: Transaction,
  where: Rows.Prisma.ServerWhereInput,
  page: IdPage,
): Promise<Server[]> => {
  const rows = await tx.server.findMany({ ...idPageQuery(page, { ...where, ...NOT_REMOVED }), include: WITH_USERS })
  return rows.map(toServer)
}

export const updateServer = async (
  tx: Transaction,
  server: Server,
  { allowedUserIds, ...fields }: ServerFields & { allowedUserIds?: readonly string[] | undefined },
): Promise<Server> =>
  toServer(
    await tx.server.update({
      where: { id: server.id },
      data: {
        ...toColumns(fields),
        ...(allowedUserIds && { allowedUsers: changeAllowed(server.allowedUserIds, allowedUserIds) }),
      },
      include: WITH_USERS,
    }),
  )

/** Hides a server from everyone and deletes its globals, instances, toolkit uses and sample note, but not its history. */
export const markAsRemoved = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.update({ where: { id }, data: { removedAt: new Date() } })
  const ofServer = { where: { serverId: id } }
  await tx.global.deleteMany(ofServer)
  await tx.instance.deleteMany(ofServer)
  await tx.toolkitUse.deleteMany(ofServer)
  await forgetSample(tx, id)
}

/** Deletes a server if it is marked as removed. Otherwise does nothing. */
export const removeMarkedServer = async (tx: Transaction, id: string): Promise<void> => {
  await tx.server.deleteMany({ where: { id, removedAt: { not: null } } })
}

export const listMarkedServerIds = async (tx: Transaction): Promise<string[]> =>
  (await tx.server.findMany({ where: { removedAt: { not: null } }, select: { id: true } })).map(({ id }) => id)

/** Which accounts an email address may match: any, or only confirmed ones and members of an organization. */
export type AddressMatch = 'anybody' | { confirmedOrMembersOf: string }

/** Finds users by ID or email address, in the given order. Users that are not found are undefined. */
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

/** Finds a server in any organization. */
export const findServerOfAnybody = async (tx: Transaction, id: string): Promise<Server | undefined> =>
  mapFound(await tx.server.findUnique({ where: { id, ...NOT_REMOVED }, include: WITH_USERS }), toServer)

/** The caller of a discovery request. `serverId` is set if the caller's token is valid for only one server. */
export type DiscoveryCaller = User & { serverId?: string | undefined }

const restrictedFor = (caller: DiscoveryCaller): Rows.Prisma.ServerWhereInput => ({
  ...definedFields({ id: caller.serverId }),
  OR: [{ access: 'organization', organizationId: { in: [...caller.memberships.keys()] } }, privateTo(caller)],
})

/** Lists servers for discovery, without those that are suspended. */
const listFirst = async (tx: Transaction, where: Rows.Prisma.ServerWhereInput, take: number): Promise<Server[]> => {
  const isOpen = { ...NOT_REMOVED, suspendedAt: null, organization: { suspendedAt: null } }
  const query = { where: { ...where, ...isOpen }, include: WITH_USERS, orderBy: { id: 'asc' }, take } as const
  return (await tx.server.findMany(query)).map(toServer)
}

/** Lists public servers: all, or only those that any website may call. */
export const listPublicServers = (tx: Transaction, isForAnyOrigin: boolean, limit: number): Promise<Server[]> =>
  listFirst(tx, { access: 'public', ...(isForAnyOrigin && { allowAnyOrigin: true }) }, limit)

/**
 * Lists servers for discovery. Servers with restricted access come first, so that public servers of other organizations
 * cannot push them out of the list.
 */
export const listUsableServers = async (tx: Transaction, caller: DiscoveryCaller, limit: number): Promise<Server[]> => {
  const restricted = await listFirst(tx, restrictedFor(caller), limit)
  return [...restricted, ...(await listPublicServers(tx, false, limit - restricted.length))]
}
