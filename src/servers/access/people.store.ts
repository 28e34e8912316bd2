import type { Transaction } from '../../lib/db/client.ts'
import type { Server } from '../server.ts'

/** A user whose address those who see a server may know. */
export type Person = { id: string; email: string }

/**
 * Those among the users who belong to the server's organization or are let in by name, in the order of their addresses.
 * Others, such as strangers who call a public server, stay nameless.
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
