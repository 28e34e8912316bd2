import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound } from '../lib/kernel/missing.ts'
import type { Role } from '../lib/kernel/roles.ts'
import type { Organization } from './organization.ts'

const WITH_ROLE = (userId: string) => ({ memberships: { where: { userId }, select: { role: true } } })

const toOwn = ({ memberships, ...row }: Rows.Organization & { memberships: { role: Role }[] }): Organization[] =>
  memberships.map(({ role }) => ({ ...row, role }))

export const findOrganization = async (
  tx: Transaction,
  id: string,
  userId: string,
): Promise<Organization | undefined> => {
  const where = { id, memberships: { some: { userId } } }
  return mapFound(await tx.organization.findFirst({ where, include: WITH_ROLE(userId) }), row => toOwn(row)[0])
}

export const listOrganizations = async (tx: Transaction, userId: string, page: IdPage): Promise<Organization[]> => {
  const mine = { memberships: { some: { userId } } }
  return (await tx.organization.findMany({ ...idPageQuery(page, mine), include: WITH_ROLE(userId) })).flatMap(toOwn)
}

/** Returns how many existing organizations the user has created. */
export const countCreated = (tx: Transaction, userId: string): Promise<number> =>
  tx.organization.count({ where: { creatorId: userId } })

export const updateOrganization = async (
  tx: Transaction,
  id: string,
  data: Pick<Rows.Organization, 'name' | 'keepCallsDays' | 'keepCalls'>,
): Promise<void> => {
  await tx.organization.updateMany({ where: { id }, data })
}

export const removeOrganization = async (tx: Transaction, id: string): Promise<void> => {
  await tx.organization.delete({ where: { id } })
}
