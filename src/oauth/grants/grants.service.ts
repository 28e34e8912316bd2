import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { onlyCallerShown, policyOf } from '../../servers/access/access.ts'
import { assertOwnOrManaged, getServerFor } from '../../servers/servers.service.ts'
import { removeGrantWithTokens } from './consents.store.ts'
import { findGrant, type Grant, listGrants } from './grants.store.ts'

export type GrantServiceParts = { db: Database; changes: Changes }

const noGrant = () => new AppError('not_found', 'There is no such grant.')

/** Lists and revokes grants. Builders see the grants for a server, and users see their own. */
export const createGrantService = ({ db, changes }: GrantServiceParts) => {
  /**
   * Removes the actor's own grant, or a grant for a server that the actor owns or manages in one of
   * these organizations.
   */
  const remove = (actor: Actor, id: string, organizationIds: readonly string[]): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const grant = orThrow(await findGrant(tx, id, { userId: actor.userId, organizationIds }), noGrant)
      const { userId, client, server } = grant
      const { serverId, organizationId } = server.policy
      if (userId !== actor.userId) assertOwnOrManaged(actor, await getServerFor(tx, actor, serverId, 'build'))
      await removeGrantWithTokens(tx, id)
      await writeAudit(tx, {
        action: 'grant.removed',
        actor,
        organizationId,
        target: { type: 'grant', id, name: client.name },
        change: { userId, clientId: client.id, serverId },
      })
      announce({ type: 'access_changed', userId })
    })

  return {
    /**
     * Lists the grants that users have given for a server: all, or the actor's own if they may see only their own calls.
     * Requires build access to the server.
     */
    listServerGrants: async (actor: Actor, serverId: string, page: IdPage): Promise<Grant[]> => {
      const server = await getServerFor(db, actor, serverId, 'build')
      return listGrants(db, { serverId, userId: onlyCallerShown(policyOf(server), actor) }, page)
    },

    /** Removes the actor's own grant, or anybody's grant for a server that the actor owns or manages. */
    removeGrant: (actor: Actor, id: string): Promise<void> => remove(actor, id, organizationIdsOf(actor)),

    /** Lists the clients that act on behalf of a user. */
    listApplications: ({ userId }: Pick<Actor, 'userId'>, page: IdPage): Promise<Grant[]> =>
      listGrants(db, { userId }, page),

    removeApplication: (actor: Actor, id: string): Promise<void> => remove(actor, id, []),
  }
}
export type GrantService = ReturnType<typeof createGrantService>
