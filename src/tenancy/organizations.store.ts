import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import type { Role } from '../lib/kernel/roles.ts'
import type { Organization } from './organization.ts'

type OrganizationRow = { id: string; name: string; createdAt: Date; updatedAt: Date }

const toOrganization = ({ id, name, createdAt, updatedAt }: OrganizationRow, role: Role): Organization => ({
  id,
  name,
  role,
  createdAt,
  updatedAt,
})

const WITH_ROLE = (userId: string) => ({ memberships: { where: { userId }, select: { role: true } } })

type RowWithRole = OrganizationRow & { memberships: { role: Role }[] }

const toOwn = (row: RowWithRole): Organization[] => row.memberships.map(({ role }) => toOrganization(row, role))

export const createOrganization = async (tx: Transaction, name: string, ownerId: string): Promise<Organization> =>
  toOrganization(
    await tx.organization.create({ data: { name, memberships: { create: { userId: ownerId, role: 'owner' } } } }),
    'owner',
  )

export const findOrganization = async (
  tx: Transaction,
  id: string,
  userId: string,
): Promise<Organization | undefined> => {
  const where = { id, memberships: { some: { userId } } }
  const row = await tx.organization.findFirst({ where, include: WITH_ROLE(userId) })
  return row === null ? undefined : toOwn(row)[0]
}

export const listOrganizations = async (tx: Transaction, userId: string, page: IdPage): Promise<Organization[]> => {
  const { where, ...rest } = idPageQuery(page)
  const mine = { memberships: { some: { userId } } }
  return (
    await tx.organization.findMany({ where: { ...where, ...mine }, ...rest, include: WITH_ROLE(userId) })
  ).flatMap(toOwn)
}

export const renameOrganization = async (tx: Transaction, id: string, name: string): Promise<void> => {
  await tx.organization.update({ where: { id }, data: { name } })
}

export const removeOrganization = async (tx: Transaction, id: string): Promise<void> => {
  await tx.organization.delete({ where: { id } })
}

/** Returns the ID of the first organization, which everyone joins with PATCHBAY_TENANCY=single. */
export const findOldestOrganizationId = async (tx: Transaction): Promise<string | undefined> =>
  (await tx.organization.findFirst({ select: { id: true }, orderBy: { id: 'asc' } }))?.id
