import type { Rows, Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { Role } from '../lib/kernel/roles.ts'
import type { OwnOrganization, User } from './account.ts'

/** Placeholder stored for users without a password. It is not a valid hash, so no password matches it. */
export const NO_PASSWORD = ''

const toUser = ({ passwordHash: _, ...row }: Rows.User): User => withoutNulls(row)

/** Returns whether any account exists other than those with these emails. */
export const isAnyUserBut = async (tx: Transaction, ...emails: string[]): Promise<boolean> =>
  (await tx.user.findFirst({ where: { email: { notIn: emails } }, select: { id: true } })) !== null

export const isAnyOperatorBut = async (tx: Transaction, userId: string): Promise<boolean> =>
  (await tx.user.findFirst({ where: { isOperator: true, id: { not: userId } }, select: { id: true } })) !== null

/**
 * Deletes a user and everything they own. Servers must have been transferred before. Returns whether the user existed.
 */
export const removeUser = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.user.deleteMany({ where: { id } })).count > 0

export const findOldestOperatorId = async (tx: Transaction): Promise<string | undefined> => {
  const row = await tx.user.findFirst({ where: { isOperator: true }, select: { id: true }, orderBy: { id: 'asc' } })
  return row?.id
}

/** Creates a user. If `passwordHash` is undefined, the user has no password. */
export const createUser = async (
  tx: Transaction,
  {
    passwordHash = NO_PASSWORD,
    emailVerifiedAt,
    ...data
  }: { email: string; emailVerifiedAt: Date | undefined; passwordHash: string | undefined; isOperator: boolean },
): Promise<User> =>
  toUser(await tx.user.create({ data: { ...data, passwordHash, emailVerifiedAt: emailVerifiedAt ?? null } }))

export const findUser = async (tx: Transaction, id: string): Promise<User | undefined> =>
  mapFound(await tx.user.findUnique({ where: { id } }), toUser)

export const findUserByEmail = async (tx: Transaction, email: string): Promise<User | undefined> =>
  mapFound(await tx.user.findUnique({ where: { email } }), toUser)

/** Returns a user and their password hash, which is undefined if they have no password. */
export const findCredentials = async (
  tx: Transaction,
  where: { id: string } | { email: string },
): Promise<{ user: User; passwordHash: string | undefined } | undefined> =>
  mapFound(await tx.user.findUnique({ where }), row => ({
    user: toUser(row),
    passwordHash: row.passwordHash === NO_PASSWORD ? undefined : row.passwordHash,
  }))

/** Leaves an account without a password, so that its user must set one with a mailed link. */
export const removePassword = async (tx: Transaction, userId: string): Promise<void> => {
  await updatePasswordHash(tx, userId, NO_PASSWORD)
}

export const updatePasswordHash = async (tx: Transaction, userId: string, passwordHash: string): Promise<void> => {
  await tx.user.updateMany({ where: { id: userId }, data: { passwordHash } })
}

/** Replaces the password hash if it still equals `from`. Returns whether it did. */
export const replacePasswordHash = async (
  tx: Transaction,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> =>
  (await tx.user.updateMany({ where: { id: userId, passwordHash: from }, data: { passwordHash: to } })).count > 0

/** Marks the email as verified. Returns false if it was already verified. */
export const markEmailVerified = async (tx: Transaction, userId: string, at: Date): Promise<boolean> =>
  (await tx.user.updateMany({ where: { id: userId, emailVerifiedAt: null }, data: { emailVerifiedAt: at } })).count > 0

export const updateEmail = async (tx: Transaction, userId: string, email: string, verifiedAt: Date): Promise<void> => {
  await tx.user.updateMany({ where: { id: userId }, data: { email, emailVerifiedAt: verifiedAt } })
}

/** The part of an actor that comes from the user's row. */
export type ActingUser = Pick<Actor, 'email' | 'isOperator' | 'isUnconfirmed' | 'memberships'>

/** The columns that `toActingUser` needs. */
export const ACTING_USER = {
  email: true,
  emailVerifiedAt: true,
  passwordHash: true,
  isOperator: true,
  memberships: { select: { organizationId: true, role: true } },
} as const

type ActingUserRow = Pick<Rows.User, 'email' | 'emailVerifiedAt' | 'passwordHash' | 'isOperator'> & {
  memberships: Pick<Rows.Membership, 'organizationId' | 'role'>[]
}

export const toActingUser = ({ memberships, emailVerifiedAt, passwordHash, ...row }: ActingUserRow): ActingUser => ({
  ...row,
  isUnconfirmed: emailVerifiedAt === null && passwordHash !== NO_PASSWORD,
  memberships: new Map(memberships.map(({ organizationId, role }) => [organizationId, role])),
})

export const findActingUser = async (tx: Transaction, id: string): Promise<ActingUser | undefined> =>
  mapFound(await tx.user.findUnique({ where: { id }, select: ACTING_USER }), toActingUser)

export const listOrganizationsOf = async (tx: Transaction, userId: string): Promise<OwnOrganization[]> => {
  const rows = await tx.membership.findMany({
    where: { userId },
    select: { role: true, organization: { select: { id: true, name: true } } },
    orderBy: { organizationId: 'asc' },
  })
  return rows.map(({ organization, role }) => ({ id: organization.id, name: organization.name, role }))
}

/** Returns the oldest organization, or the oldest one with the given name. */
export const findOldestOrganization = async (
  tx: Transaction,
  name: string | undefined,
): Promise<{ id: string; name: string } | undefined> => {
  const row = await tx.organization.findFirst({
    where: name === undefined ? {} : { name },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
  })
  return row ?? undefined
}

export const createOrganization = (tx: Transaction, name: string, ownerId: string): Promise<Rows.Organization> =>
  tx.organization.create({
    data: { name, creatorId: ownerId, memberships: { create: { userId: ownerId, role: 'owner' } } },
  })

export const addMember = async (
  tx: Transaction,
  data: { organizationId: string; userId: string; role: Role },
): Promise<void> => {
  await tx.membership.create({ data })
}

export const removeMember = async (tx: Transaction, organizationId: string, userId: string): Promise<void> => {
  await tx.membership.deleteMany({ where: { organizationId, userId } })
}

/** Makes somebody else count as the user who created an organization. */
export const setCreator = async (tx: Transaction, organizationId: string, userId: string): Promise<void> => {
  await tx.organization.update({ where: { id: organizationId }, data: { creatorId: userId } })
}

export const renameOrganization = async (tx: Transaction, id: string, name: string): Promise<void> => {
  await tx.organization.updateMany({ where: { id }, data: { name } })
}
