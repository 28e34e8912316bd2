import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import type { Role } from '../lib/kernel/roles.ts'
import type { Member } from './organization.ts'

const WITH_EMAIL = { user: { select: { email: true } } } as const

type MemberRow = {
  id: string
  userId: string
  role: Role
  user: { email: string }
  createdAt: Date
  updatedAt: Date
}

const toMember = ({ id, userId, role, user, createdAt, updatedAt }: MemberRow): Member => ({
  id,
  userId,
  email: user.email,
  role,
  createdAt,
  updatedAt,
})

const keyOf = (organizationId: string, userId: string) => ({ organizationId_userId: { organizationId, userId } })

export const findMember = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Member | undefined> => {
  const row = await tx.membership.findUnique({ where: keyOf(organizationId, userId), include: WITH_EMAIL })
  return row === null ? undefined : toMember(row)
}

export const findMemberByEmail = async (
  tx: Transaction,
  organizationId: string,
  email: string,
): Promise<Member | undefined> => {
  const row = await tx.membership.findFirst({ where: { organizationId, user: { email } }, include: WITH_EMAIL })
  return row === null ? undefined : toMember(row)
}

/** Returns a user's role in an organization; undefined if they are not a member. */
export const findRole = async (tx: Transaction, organizationId: string, userId: string): Promise<Role | undefined> => {
  const row = await tx.membership.findUnique({ where: keyOf(organizationId, userId), select: { role: true } })
  return row?.role
}

export const listMembers = async (tx: Transaction, organizationId: string, page: IdPage): Promise<Member[]> => {
  const { where, ...rest } = idPageQuery(page)
  const rows = await tx.membership.findMany({ where: { organizationId, ...where }, ...rest, include: WITH_EMAIL })
  return rows.map(toMember)
}

/** Lists the members except one, longest membership first. */
export const listOtherMembers = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
  take: number,
): Promise<Member[]> => {
  const where = { organizationId, userId: { not: userId } }
  return (await tx.membership.findMany({ where, include: WITH_EMAIL, orderBy: { id: 'asc' }, take })).map(toMember)
}

export const listMemberIds = async (tx: Transaction, organizationId: string): Promise<string[]> =>
  (await tx.membership.findMany({ where: { organizationId }, select: { userId: true } })).map(row => row.userId)

/** Returns the owner with the longest membership, except this user. */
export const findOldestOtherOwner = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Member | undefined> => {
  const where = { organizationId, role: 'owner' as const, userId: { not: userId } }
  const row = await tx.membership.findFirst({ where, include: WITH_EMAIL, orderBy: { id: 'asc' } })
  return row === null ? undefined : toMember(row)
}

export const listMembershipsOf = async (
  tx: Transaction,
  userId: string,
): Promise<{ organizationId: string; name: string; role: Role }[]> => {
  const rows = await tx.membership.findMany({
    where: { userId },
    select: { organizationId: true, role: true, organization: { select: { name: true } } },
    orderBy: { organizationId: 'asc' },
  })
  return rows.map(({ organizationId, role, organization }) => ({ organizationId, name: organization.name, role }))
}

export const countMemberships = (tx: Transaction, userId: string): Promise<number> =>
  tx.membership.count({ where: { userId } })

export const countMembers = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.membership.count({ where: { organizationId } })

export const addMember = async (
  tx: Transaction,
  data: { organizationId: string; userId: string; role: Role },
): Promise<void> => {
  await tx.membership.create({ data })
}

export const updateRole = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
  role: Role,
): Promise<Member> =>
  toMember(await tx.membership.update({ where: keyOf(organizationId, userId), data: { role }, include: WITH_EMAIL }))

export const removeMember = async (tx: Transaction, organizationId: string, userId: string): Promise<void> => {
  await tx.membership.delete({ where: keyOf(organizationId, userId) })
}
