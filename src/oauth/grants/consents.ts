import { type Actor, type McpScope, organizationIdsOf } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Changes } from '../platform/events/index.ts'
import { isLetIn } from '../servers/index.ts'
import { putGrant } from './consents.store.ts'
import { findResourceServer, type ResourceServer } from './resource-servers.store.ts'
import type { Resources } from './resources.ts'

export type Consent = {
  clientId: string
  clientName: string
  serverId: string
  scopes: readonly McpScope[]
}

/** Whether the user may use the server: only then there is anything to grant. */
export const mayGrant = (actor: Actor, { policy }: ResourceServer): boolean =>
  isLetIn(policy, { userId: actor.userId, organizationIds: new Set(organizationIdsOf(actor)) })

export type ConsentParts = { changes: Changes; resources: Resources; now: () => number }

/** Writes down what users agree to. */
export const createConsents = ({ changes, resources, now }: ConsentParts) => ({
  /** The id of the grant; undefined where the user may not use the server, or there is none. */
  give: (actor: Actor, { clientId, clientName, serverId, scopes }: Consent): Promise<string | undefined> =>
    changes.commit(async tx => {
      const server = await findResourceServer(tx, serverId)
      if (server === undefined || !mayGrant(actor, server)) return undefined
      const parties = { userId: actor.userId, clientId, serverId }
      const { grantId, isChanged } = await putGrant(tx, parties, resources.urlOf(serverId), scopes, new Date(now()))
      if (isChanged) {
        await writeAudit(tx, {
          action: 'grant.created',
          actor,
          organizationId: server.policy.organizationId,
          target: { type: 'grant', id: grantId, name: clientName },
          change: { clientId, serverId, scope: scopes.join(' ') },
        })
      }
      return grantId
    }),
})
export type Consents = ReturnType<typeof createConsents>
