import type { Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { ExternalIdentity } from './external-provider.ts'

/** An identity at an external provider that a user signs in with. */
export type LinkedIdentity = ExternalIdentity & { id: string; createdAt: Date; updatedAt: Date }

export const findUserIdByIdentity = async (
  tx: Transaction,
  { issuer, subject }: ExternalIdentity,
): Promise<string | undefined> => {
  const row = await tx.externalIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    select: { userId: true },
  })
  return row?.userId
}

export const createIdentity = async (
  tx: Transaction,
  userId: string,
  { issuer, subject }: ExternalIdentity,
): Promise<void> => {
  await tx.externalIdentity.create({ data: { userId, issuer, subject } })
}

export const listIdentities = (tx: Transaction, userId: string, page: IdPage): Promise<LinkedIdentity[]> =>
  tx.externalIdentity.findMany(idPageQuery(page, { userId }))

export const countIdentities = (tx: Transaction, userId: string): Promise<number> =>
  tx.externalIdentity.count({ where: { userId } })

/** Removes all identities of a user. Returns how many there were. */
export const removeIdentitiesOf = async (tx: Transaction, userId: string): Promise<number> =>
  (await tx.externalIdentity.deleteMany({ where: { userId } })).count

/** Removes an identity and returns it, or undefined if this user has no identity with that ID. */
export const removeIdentity = async (
  tx: Transaction,
  userId: string,
  id: string,
): Promise<ExternalIdentity | undefined> => {
  const row = await tx.externalIdentity.findUnique({ where: { id, userId }, select: { issuer: true, subject: true } })
  if (row === null) return undefined
  await tx.externalIdentity.deleteMany({ where: { id, userId } })
  return row
}
