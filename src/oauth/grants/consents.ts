import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { isAllowed } from '../../servers/access/access.ts'
import { findResourceServer, type ResourceServer } from '../resource-servers.store.ts'
import type { Resources } from '../resources.ts'
import { putGrant } from './consents.store.ts'

export type Consent = {
  clientId: string
  clientName: string
  serverId: string
  scopes: readonly McpScope[]
}

/**
 * Returns whether the user may use the server. If not, they cannot grant access to it, and its name
 * is hidden from them.
 */
export const mayUseServer = (actor: Actor, { policy }: Pick<ResourceServer, 'policy'>): boolean =>
  isAllowed(policy, actor)

export type ConsentParts = { changes: Changes; resources: Resources }

/** Stores users' consents. */
export const createConsents = ({ changes, resources }: ConsentParts) => ({
  /** Returns the id of the grant. Undefined if the server does not exist or the user may not use it. */
  give: (actor: Actor, { clientId, clientName, serverId, scopes }: Consent): Promise<string | undefined> =>
    changes.commit(async tx => {
      const server = await findResourceServer(tx, serverId)
      if (server === undefined || !mayUseServer(actor, server)) return undefined
      const parties = { userId: actor.userId, clientId, serverId }
      const { grantId, isChanged } = await putGrant(tx, parties, resources.urlOf(serverId), scopes)
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
