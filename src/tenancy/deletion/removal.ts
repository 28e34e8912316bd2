import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Announce, Changes } from '../platform/events/index.ts'
import type { Holdings } from './holdings.ts'
import { listMemberIds } from './members.store.ts'
import { findOldestOrganizationId, removeOrganization } from './organizations.store.ts'

export type Tenancy = 'multi' | 'single'

export type RemovalParts = {
  db: Database
  changes: Changes
  holdings: Holdings
  /** Removes what is kept of a stopped server, however much it is, and then the server. Never rejects. */
  finishServer: (serverId: string) => Promise<void>
  /** Ends what an organization's own OAuth clients may do, also elsewhere. Answers in whose name they did. */
  endClientsOf: (tx: Transaction, organizationId: string) => Promise<readonly string[]>
  tenancy: Tenancy
}

type Named = { id: string; name: string }

/** With PATCHBAY_TENANCY=single the one organization stays; others, from before it was set, may go. */
export const assertNotTheOnly = async (tx: Transaction, tenancy: Tenancy, organizationId: string): Promise<void> => {
  if (tenancy === 'multi' || (await findOldestOrganizationId(tx)) !== organizationId) return
  throw new AppError(
    'forbidden',
    'This is the organization that everybody here joins (PATCHBAY_TENANCY=single): it stays.',
  )
}

/**
 * A removal has three parts, since the history of servers may be long and would hold SQLite for seconds in one piece:
 * in one transaction the servers stop, then they go bit by bit, and in another transaction goes the organization. Cut
 * short, the organization is there without servers, and is removed by asking once more.
 */
export const createOrganizationRemoval = ({
  holdings,
  finishServer,
  endClientsOf,
}: Pick<RemovalParts, 'holdings' | 'finishServer' | 'endClientsOf'>) => ({
  /** Answers the servers that are to be finished. */
  stop: async (tx: Transaction, announce: Announce, actor: Actor, organizationId: string): Promise<string[]> => {
    const serverIds = await holdings.stopServers(tx, actor, organizationId)
    for (const serverId of serverIds) announce({ type: 'server_removed', serverId })
    return serverIds
  },

  finish: async (serverIds: readonly string[]): Promise<void> => {
    for (const serverId of serverIds) await finishServer(serverId)
  },

  /** Toolkits and memberships go along; snapshots that others took live on. Throws `unavailable` while servers are left. */
  drop: async (tx: Transaction, announce: Announce, actor: Actor, { id, name }: Named): Promise<void> => {
    const left = await holdings.stopServers(tx, actor, id)
    if (left.length > 0) {
      throw new AppError('unavailable', `Servers of "${name}" are still on their way out: try again.`, {
        retryAfterSeconds: 1,
      })
    }
    const userIds = new Set([...(await listMemberIds(tx, id)), ...(await endClientsOf(tx, id))])
    await removeOrganization(tx, id)
    // In the installation's log: the organization's own goes on there.
    await writeAudit(tx, { action: 'organization.removed', actor, target: { type: 'organization', id, name } })
    for (const userId of userIds) announce({ type: 'access_changed', userId })
  },
})
