import { findOldestOrganization } from '../../identity/accounts.store.ts'
import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Announce, Changes } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Holdings } from '../holdings.ts'
import { listMemberIds } from '../members.store.ts'
import { removeOrganization } from '../organizations.store.ts'

export type Tenancy = 'multi' | 'single'

export type RemovalParts = {
  db: Database
  changes: Changes
  holdings: Holdings
  /** Deletes a stopped server's data, which may be large, and then the server itself. Never rejects. */
  finishServer: (serverId: string) => Promise<void>
  /**
   * Revokes all grants of the organization's OAuth clients, including those in other organizations. Returns the IDs of
   * the affected users.
   */
  endClientsOf: (tx: Transaction, organizationId: string) => Promise<readonly string[]>
  tenancy: Tenancy
}

export type Named = { id: string; name: string }

/**
 * Throws `forbidden` for the organization of PATCHBAY_TENANCY=single. Other organizations, which predate that setting,
 * can be deleted.
 */
export const assertNotTheOnly = async (tx: Transaction, tenancy: Tenancy, organizationId: string): Promise<void> => {
  if (tenancy === 'multi' || (await findOldestOrganization(tx, undefined))?.id !== organizationId) return
  throw new AppError('forbidden', 'The organization that everyone joins (PATCHBAY_TENANCY=single) cannot be deleted.')
}

/**
 * Deletes an organization in three steps, because deleting a long history at once would block SQLite for seconds. One
 * transaction stops the servers, then they are deleted in batches, and finally another transaction deletes the
 * organization. If interrupted, the organization remains without servers and can be deleted again.
 */
export const createOrganizationRemoval = ({ holdings, finishServer, endClientsOf }: RemovalParts) => ({
  /** Stops the organization's servers. Returns the server IDs to pass to `finish`. */
  stop: async (tx: Transaction, announce: Announce, actor: Actor, organizationId: string): Promise<string[]> => {
    const serverIds = await holdings.stopServers(tx, actor, organizationId)
    for (const serverId of serverIds) announce({ type: 'server_removed', serverId })
    return serverIds
  },

  finish: async (serverIds: readonly string[]): Promise<void> => {
    for (const serverId of serverIds) await finishServer(serverId)
  },

  /**
   * Deletes the organization with its toolkits and memberships. Snapshots used elsewhere remain. Throws `unavailable`
   * while any servers are left.
   */
  drop: async (tx: Transaction, announce: Announce, actor: Actor, { id, name }: Named): Promise<void> => {
    const left = await holdings.stopServers(tx, actor, id)
    if (left.length > 0) {
      throw new AppError('unavailable', `Servers of "${name}" are still being deleted. Try again.`, {
        retryAfterSeconds: 1,
      })
    }
    const userIds = new Set([...(await listMemberIds(tx, id)), ...(await endClientsOf(tx, id))])
    await removeOrganization(tx, id)
    // Recorded in the installation's log, because the organization's own log ends here.
    await writeAudit(tx, { action: 'organization.removed', actor, target: { type: 'organization', id, name } })
    for (const userId of userIds) announce({ type: 'access_changed', userId })
  },
})
