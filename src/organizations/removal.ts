import { removeHistoryOf } from '../history/index.ts'
import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes, DomainEvent } from '../platform/events/index.ts'
import type { Holdings } from './holdings.ts'
import { listMemberIds } from './members.store.ts'
import { findOldestOrganizationId, removeOrganization } from './organizations.store.ts'

export type Tenancy = 'multi' | 'single'

type Announce = (event: DomainEvent) => void
type Named = { id: string; name: string }

/** With PATCHBAY_TENANCY=single the one organization stays; others, from before it was set, may go. */
export const assertNotTheOnly = async (tx: Transaction, tenancy: Tenancy, organizationId: string): Promise<void> => {
  if (tenancy === 'multi' || (await findOldestOrganizationId(tx)) !== organizationId) return
  throw new AppError(
    'forbidden',
    'This is the organization that everybody here joins (PATCHBAY_TENANCY=single): it stays.',
  )
}

/** The first part of a removal: what runs there stops. Answers the servers whose history is to go before the rest. */
export const stopOrganization = async (
  tx: Transaction,
  announce: Announce,
  { holdings }: { holdings: Holdings },
  organizationId: string,
): Promise<string[]> => {
  const serverIds = await holdings.stopServers(tx, organizationId)
  for (const serverId of serverIds) announce({ type: 'server_removed', serverId })
  return serverIds
}

/** The last part: the organization goes, with its servers, toolkits and members. Snapshots of others live on. */
export const dropOrganization = async (
  tx: Transaction,
  announce: Announce,
  actor: Actor,
  { id, name }: Named,
): Promise<void> => {
  const memberIds = await listMemberIds(tx, id)
  await removeOrganization(tx, id)
  // In the installation's log: the organization's own goes on there.
  await writeAudit(tx, { action: 'organization.removed', actor, target: { type: 'organization', id, name } })
  for (const userId of memberIds) announce({ type: 'access_changed', userId })
}

/**
 * In between, in transactions of its own: in one statement a long history would hold SQLite for seconds. Cut short, the
 * organization is still there without its servers, and is removed by asking once more.
 */
export const removeHistoriesOf = async (db: Database, serverIds: readonly string[]): Promise<void> => {
  for (const serverId of serverIds) await removeHistoryOf(db, serverId)
}

export type RemovalParts = { db: Database; changes: Changes; holdings: Holdings; tenancy: Tenancy }
