import { type Actor, AppError, organizationIdsOf } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Announce, Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import { assertOwnOrManaged, getServerFor, isLetIn } from '../servers/index.ts'
import { removeGrantWhole } from './consents.store.ts'
import type { Grant } from './grant.ts'
import { findGrant, listGrants } from './grants.store.ts'

export type GrantServiceParts = {
  db: Database
  changes: Changes
  /** Milliseconds since 1970. */
  now?: () => number
}

const noGrant = () => new AppError('not_found', 'There is no such grant.')

const remove = async (tx: Transaction, announce: Announce, actor: Actor, grant: Grant): Promise<void> => {
  const { id, userId, client, server } = grant
  await removeGrantWhole(tx, id)
  await writeAudit(tx, {
    action: 'grant.removed',
    actor,
    organizationId: server.policy.organizationId,
    target: { type: 'grant', id, name: client.name },
    change: { userId, clientId: client.id, serverId: server.policy.serverId },
  })
  announce({ type: 'access_changed', userId })
}

/** Whether the actor may use the grant's server still; else its name is not for them to know. */
export const mayUseServerOf = (actor: Actor, { server }: Grant): boolean =>
  isLetIn(server.policy, { userId: actor.userId, organizationIds: new Set(organizationIdsOf(actor)) })

/** Which clients use servers in whose name: for those who build a server, and for each user their own. */
export const createGrantService = ({ db, changes, now = Date.now }: GrantServiceParts) => ({
  /** For those who may build; of everybody who lets a client use it. */
  listServerGrants: async (actor: Actor, serverId: string, page: IdPage): Promise<Grant[]> => {
    await getServerFor(db, actor, serverId, 'build')
    return listGrants(db, { serverId }, page, new Date(now()))
  },

  /** One's own, or of anybody on a server that is one's own or that one manages. */
  removeGrant: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const { userId } = actor
      const grant = await findGrant(tx, id, { userId, organizationIds: organizationIdsOf(actor) })
      if (grant === undefined) throw noGrant()
      if (grant.userId !== userId) {
        assertOwnOrManaged(actor, await getServerFor(tx, actor, grant.server.policy.serverId, 'build'))
      }
      await remove(tx, announce, actor, grant)
    }),

  /** The clients that act in the actor's name. */
  listApplications: (actor: Actor, page: IdPage): Promise<Grant[]> =>
    listGrants(db, { userId: actor.userId }, page, new Date(now())),

  removeApplication: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const grant = await findGrant(tx, id, { userId: actor.userId, organizationIds: [] })
      if (grant === undefined) throw noGrant()
      await remove(tx, announce, actor, grant)
    }),
})
export type GrantService = ReturnType<typeof createGrantService>
