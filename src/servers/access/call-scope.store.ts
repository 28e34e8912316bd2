import type { CallScope, OrganizationScope } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import { type Actor, assertMay, may } from '../../lib/kernel/actor.ts'
import type { Permission } from '../../lib/kernel/roles.ts'
import { getServerFor } from '../servers.service.ts'
import { onlyCallerShown, policyOf } from './access.ts'
import { openTo } from './open-to.store.ts'

/** Where calls are looked for: on a server, or on all servers of an organization. */
export type CallPlace = { serverId: string } | { organizationId: string }

/** Finds the servers of an organization whose calls the actor may see: all of them, or only the actor's own. */
const scopeOfOrganization = async (db: Database, actor: Actor, organizationId: string): Promise<OrganizationScope> => {
  const servers = await db.server.findMany({
    where: { organizationId, removedAt: null, AND: [openTo(actor)] },
    select: { id: true, access: true, ownerId: true },
    orderBy: { id: 'asc' },
  })
  const seesAll = ({ access, ownerId }: (typeof servers)[number]): boolean =>
    access !== 'private' || ownerId === actor.userId || may(actor, organizationId, 'manage')
  return {
    organizationId,
    serverIds: servers.filter(seesAll).map(({ id }) => id),
    ownServerIds: servers.filter(server => !seesAll(server)).map(({ id }) => id),
    readerId: actor.userId,
  }
}

/** Returns the calls of an organization that the actor may see. Throws the errors of `assertMay`. */
export const organizationScopeOf = async (
  db: Database,
  actor: Actor,
  organizationId: string,
  permission: Permission,
): Promise<OrganizationScope> => {
  assertMay(actor, organizationId, permission)
  return scopeOfOrganization(db, actor, organizationId)
}

/**
 * Returns the calls in a place that the actor may see, if the actor has this permission there. Throws the errors of
 * `getServerFor` and `assertMay`.
 */
export const callScopeOf = async (
  db: Database,
  actor: Actor,
  place: CallPlace,
  permission: Permission,
): Promise<CallScope> => {
  if ('organizationId' in place) return organizationScopeOf(db, actor, place.organizationId, permission)
  const server = await getServerFor(db, actor, place.serverId, permission)
  return { serverId: server.id, callerId: onlyCallerShown(policyOf(server), actor) }
}
