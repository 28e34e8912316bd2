import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { organizationScopeOf } from '../../servers/access/call-scope.store.ts'
import { findPeopleOf } from '../../servers/access/people.store.ts'

/** Names for a page with the calls of an organization, by id. */
export type OrganizationNames = { servers: ReadonlyMap<string, string>; callers: ReadonlyMap<string, string> }

/**
 * Creates a function that returns the names of the servers whose calls the actor may see, sorted by name, and the email
 * addresses of those callers whose identity the readers of these servers may see.
 */
export const createOrganizationNames =
  (db: Database) =>
  async (actor: Actor, organizationId: string, callerIds: readonly string[]): Promise<OrganizationNames> => {
    const scope = await organizationScopeOf(db, actor, organizationId, 'read')
    const servers = await db.server.findMany({
      where: { id: { in: [...scope.serverIds, ...scope.ownServerIds] } },
      select: { id: true, name: true, ownerId: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    })
    const people = await findPeopleOf(db, organizationId, servers, [...new Set(callerIds)])
    return {
      servers: new Map(servers.map(({ id, name }) => [id, name])),
      callers: new Map(people.map(({ id, email }) => [id, email])),
    }
  }
