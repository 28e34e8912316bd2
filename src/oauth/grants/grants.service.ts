import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Announce, Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { assertOwnOrManaged, getServerFor } from '../../servers/servers.service.ts'
import { removeGrantWithTokens } from './consents.store.ts'
import { findGrant, type Grant, listGrants } from './grants.store.ts'

export type GrantServiceParts = {
  db: Database
  changes: Changes
  now?: () => number
}

const noGrant = () => new AppError('not_found', 'There is no such grant.')

const remove = async (tx: Transaction, announce: Announce, actor: Actor, grant: Grant): Promise<void> => {
  const { id, userId, client, server } = grant
  await removeGrantWithTokens(tx, id)
  await writeAudit(tx, {
    action: 'grant.removed',
    actor,
    organizationId: server.policy.organizationId,
    target: { type: 'grant', id, name: client.name },
    change: { userId, clientId: client.id, serverId: server.policy.serverId },
  })
  announce({ type: 'access_changed', userId })
}

/** Lists and revokes the access of clients: per server for builders, and per user for their own. */
export const createGrantService = ({ db, changes, now = Date.now }: GrantServiceParts) => ({
  /** Lists the grants of all users. For builders. */
  listServerGrants: async (actor: Actor, serverId: string, page: IdPage): Promise<Grant[]> => {
    await getServerFor(db, actor, serverId, 'build')
    return listGrants(db, { serverId }, page, new Date(now()))
  },

  /** Removes a grant of the actor, or of anybody on a server that the actor owns or manages. */
  removeGrant: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const { userId } = actor
      const grant = orThrow(await findGrant(tx, id, { userId, organizationIds: organizationIdsOf(actor) }), noGrant)
      if (grant.userId !== userId) {
        assertOwnOrManaged(actor, await getServerFor(tx, actor, grant.server.policy.serverId, 'build'))
      }
      await remove(tx, announce, actor, grant)
    }),

  /** Lists the clients that act on behalf of the actor. */
  listApplications: (actor: Actor, page: IdPage): Promise<Grant[]> =>
    listGrants(db, { userId: actor.userId }, page, new Date(now())),

  removeApplication: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const grant = orThrow(await findGrant(tx, id, { userId: actor.userId, organizationIds: [] }), noGrant)
      await remove(tx, announce, actor, grant)
    }),
})
export type GrantService = ReturnType<typeof createGrantService>
