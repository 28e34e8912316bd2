import type { Rows } from '../../lib/db/client.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import type { User } from './access.ts'

/** Selects the private servers that a user may use. */
export const privateTo = ({ userId, memberships }: User): Rows.Prisma.ServerWhereInput => {
  const managed = [...memberships].flatMap(([id, role]) => (mayRole(role, 'manage') ? id : []))
  return {
    access: 'private',
    OR: [{ ownerId: userId }, { organizationId: { in: managed } }, { allowedUsers: { some: { userId } } }],
  }
}

/** Selects the servers of a user's organizations that the user may use. The same rule as `accessOf`, as a query. */
export const openTo = (user: User): Rows.Prisma.ServerWhereInput => ({
  organizationId: { in: [...user.memberships.keys()] },
  OR: [{ access: { not: 'private' } }, privateTo(user)],
})
