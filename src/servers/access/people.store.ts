import type { Transaction } from '../../lib/db/client.ts'
import type { Server } from '../server.ts'

/** A user whose email address is shown to those who can see the server. */
export type Person = { id: string; email: string }

/**
 * Finds which of these users are members of the organization, or own one of its servers or are allowed there by name,
 * sorted by email address. Other callers of a public server stay anonymous.
 */
export const findPeopleOf = (
  tx: Transaction,
  organizationId: string,
  servers: readonly Pick<Server, 'id' | 'ownerId'>[],
  userIds: readonly string[],
): Promise<Person[]> =>
  tx.user.findMany({
    where: {
      id: { in: [...userIds] },
      OR: [
        { id: { in: servers.map(({ ownerId }) => ownerId) } },
        { memberships: { some: { organizationId } } },
        { allowedOn: { some: { serverId: { in: servers.map(({ id }) => id) } } } },
      ],
    },
    select: { id: true, email: true },
    orderBy: { email: 'asc' },
  })

/** Works like `findPeopleOf` for one server. */
export const findPeople = (
  tx: Transaction,
  server: Pick<Server, 'id' | 'organizationId' | 'ownerId'>,
  userIds: readonly string[],
): Promise<Person[]> => findPeopleOf(tx, server.organizationId, [server], userIds)
