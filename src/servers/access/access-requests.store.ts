import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { Server } from '../server.ts'

/** A member's request to be allowed on a private server. */
export type AccessRequest = { id: string; userId: string; email: string; createdAt: Date; updatedAt: Date }

const WITH_EMAIL = { user: { select: { email: true } } } as const

export const listRequests = async (tx: Transaction, serverId: string, page: IdPage): Promise<AccessRequest[]> => {
  const rows = await tx.accessRequest.findMany({ ...idPageQuery(page, { serverId }), include: WITH_EMAIL })
  return rows.map(({ user, ...row }) => ({ ...row, email: user.email }))
}

export const hasRequested = async (tx: Transaction, serverId: string, userId: string): Promise<boolean> =>
  (await tx.accessRequest.count({ where: { serverId, userId } })) > 0

export const putRequest = async (tx: Transaction, serverId: string, userId: string): Promise<void> => {
  const where = { serverId_userId: { serverId, userId } }
  await tx.accessRequest.upsert({ where, create: { serverId, userId }, update: {} })
}

/** Removes a user's request. Returns whether there was one. */
export const removeRequest = async (tx: Transaction, serverId: string, userId: string): Promise<boolean> =>
  (await tx.accessRequest.deleteMany({ where: { serverId, userId } })).count > 0

export const removeRequests = async (tx: Transaction, serverId: string): Promise<void> => {
  await tx.accessRequest.deleteMany({ where: { serverId } })
}

/** Removes the requests that a change of access has answered. */
export const removeAnswered = async (tx: Transaction, { id, access, allowedUserIds }: Server): Promise<void> => {
  if (access !== 'private') await removeRequests(tx, id)
  else await tx.accessRequest.deleteMany({ where: { serverId: id, userId: { in: [...allowedUserIds] } } })
}

/** Decisions that an owner is asked for: requests for access, and whether a server should stay private. */
export type OwnerNotices = {
  requests: readonly { serverId: string; serverName: string; userId: string; email: string }[]
  tiers: readonly { serverId: string; serverName: string }[]
}

/** Lists the oldest notices about the servers that a user owns in these organizations, at most `limit` of each kind. */
export const listOwnerNotices = async (
  tx: Transaction,
  ownerId: string,
  organizationIds: readonly string[],
  limit: number,
): Promise<OwnerNotices> => {
  const own: Rows.Prisma.ServerWhereInput = {
    ownerId,
    organizationId: { in: [...organizationIds] },
    access: 'private',
    removedAt: null,
  }
  const requests = await tx.accessRequest.findMany({
    where: { server: own },
    select: { serverId: true, userId: true, user: { select: { email: true } }, server: { select: { name: true } } },
    orderBy: { id: 'asc' },
    take: limit,
  })
  const tiers = await tx.server.findMany({
    where: { ...own, tierNoticeAt: { not: null } },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
    take: limit,
  })
  return {
    requests: requests.map(({ user, server, ...row }) => ({ ...row, email: user.email, serverName: server.name })),
    tiers: tiers.map(({ id, name }) => ({ serverId: id, serverName: name })),
  }
}

/** Records that somebody who may decide has answered whether the server should stay private. */
export const endTierNotice = async (tx: Transaction, serverId: string): Promise<void> => {
  await tx.server.updateMany({ where: { id: serverId, tierNoticeAt: { not: null } }, data: { tierNoticeAt: null } })
}

/** Finds the owner of a server, who answers requests for access, and the name of its organization. */
export const findOwnerAndOrganization = async (
  tx: Transaction,
  serverId: string,
): Promise<{ ownerEmail: string; isOwnerConfirmed: boolean; organizationName: string }> => {
  const { owner, organization } = await tx.server.findUniqueOrThrow({
    where: { id: serverId },
    select: { owner: { select: { email: true, emailVerifiedAt: true } }, organization: { select: { name: true } } },
  })
  return {
    ownerEmail: owner.email,
    isOwnerConfirmed: owner.emailVerifiedAt !== null,
    organizationName: organization.name,
  }
}
