import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound } from '../lib/kernel/missing.ts'
import type { Role } from '../lib/kernel/roles.ts'
import type { Member } from './organization.ts'

const WITH_EMAIL = { user: { select: { email: true } } } as const

const toMember = ({ user, ...row }: Rows.Membership & { user: { email: string } }): Member => ({
  ...row,
  email: user.email,
})

const keyOf = (organizationId: string, userId: string) => ({ organizationId_userId: { organizationId, userId } })

export const findMember = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Member | undefined> =>
  mapFound(await tx.membership.findUnique({ where: keyOf(organizationId, userId), include: WITH_EMAIL }), toMember)

export const findMemberByEmail = async (
  tx: Transaction,
  organizationId: string,
  email: string,
): Promise<Member | undefined> =>
  mapFound(await tx.membership.findFirst({ where: { organizationId, user: { email } }, include: WITH_EMAIL }), toMember)

/** Returns a user's role in an organization; undefined if they are not a member. */
export const findRole = async (tx: Transaction, organizationId: string, userId: string): Promise<Role | undefined> => {
  const row = await tx.membership.findUnique({ where: keyOf(organizationId, userId), select: { role: true } })
  return row?.role
}

export const listMembers = async (tx: Transaction, organizationId: string, page: IdPage): Promise<Member[]> =>
  (await tx.membership.findMany({ ...idPageQuery(page, { organizationId }), include: WITH_EMAIL })).map(toMember)

/** Maximum number of members offered as recipients of another member's servers. */
const MAX_OTHERS = 200

/** Lists the other members, longest membership first, up to `MAX_OTHERS`. */
export const listOtherMembers = async (tx: Transaction, organizationId: string, userId: string): Promise<Member[]> => {
  const where = { organizationId, userId: { not: userId } }
  const page = { orderBy: { id: 'asc' }, take: MAX_OTHERS } as const
  return (await tx.membership.findMany({ where, include: WITH_EMAIL, ...page })).map(toMember)
}

export const listMemberIds = async (tx: Transaction, organizationId: string): Promise<string[]> =>
  (await tx.membership.findMany({ where: { organizationId }, select: { userId: true } })).map(row => row.userId)

/** Returns the owner with the longest membership other than this user. */
export const findOldestOtherOwner = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Member | undefined> => {
  const where = { organizationId, role: 'owner' as const, userId: { not: userId } }
  return mapFound(await tx.membership.findFirst({ where, include: WITH_EMAIL, orderBy: { id: 'asc' } }), toMember)
}

export const countMemberships = (tx: Transaction, userId: string): Promise<number> =>
  tx.membership.count({ where: { userId } })

export const countMembers = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.membership.count({ where: { organizationId } })

export const updateRole = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
  role: Role,
): Promise<Member> =>
  toMember(await tx.membership.update({ where: keyOf(organizationId, userId), data: { role }, include: WITH_EMAIL }))
