import type { Transaction } from '../../lib/db/client.ts'
import type { Server } from '../server.ts'

/** A user whose email address is shown to those who can see the server. */
export type Person = { id: string; email: string }

/**
 * Finds which of these users are members of the server's organization or are allowed by name, sorted by email address.
 * Other callers of a public server stay anonymous.
 */
export const findPeople = (
  tx: Transaction,
  { id, organizationId, ownerId }: Pick<Server, 'id' | 'organizationId' | 'ownerId'>,
  userIds: readonly string[],
): Promise<Person[]> =>
  tx.user.findMany({
    where: {
      id: { in: [...userIds] },
      OR: [{ id: ownerId }, { memberships: { some: { organizationId } } }, { allowedOn: { some: { serverId: id } } }],
    },
    select: { id: true, email: true },
    orderBy: { email: 'asc' },
  })
