import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Transaction } from '../../lib/db/client.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import { findRole } from '../../tenancy/members.store.ts'
import { takeSnapshot } from '../../tools/sharing/snapshots.ts'
import { toolkitNotFound } from '../../tools/toolkits.service.ts'
import { findUsableToolkit } from '../../tools/toolkits.store.ts'
import { isLetIn, policyOf } from '../access/access.ts'
import type { Server } from '../server.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { updateServer } from '../servers.store.ts'
import { addUse, removeUse } from '../sources/toolkit-uses.store.ts'
import * as store from './transfer.store.ts'

export type TransferWish = {
  organizationId: string
  ownerId?: string | undefined
  /** In place of the id. */
  ownerEmail?: string | undefined
}

const mayBuildThere = async (tx: Transaction, organizationId: string, userId: string): Promise<boolean> => {
  const role = await findRole(tx, organizationId, userId)
  return role !== undefined && mayRole(role, 'build')
}

/** The one named, or the owner until now where they may build there too, or else whoever moves the server. */
const newOwnerId = async (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { organizationId, ownerId: namedId, ownerEmail }: TransferWish,
): Promise<string> => {
  if (namedId === undefined && ownerEmail === undefined) {
    return (await mayBuildThere(tx, organizationId, server.ownerId)) ? server.ownerId : actor.userId
  }
  const ownerId = namedId ?? (await store.findMemberId(tx, organizationId, ownerEmail ?? ''))
  if (ownerId !== undefined && (await mayBuildThere(tx, organizationId, ownerId))) return ownerId
  const path = namedId === undefined ? 'ownerEmail' : 'ownerId'
  throw new AppError('invalid_request', 'The new owner must be a member there who may build.', {
    errors: [{ path, message: 'is no member of that organization whose role allows building' }],
  })
}

/** What the server uses of the organization it leaves comes along as snapshots, as it is now. */
const takeToolkitsAlong = async (tx: Transaction, server: Server, organizationId: string): Promise<void> => {
  for (const toolkitId of await store.listDirectlyUsedToolkitIds(tx, server.id)) {
    const toolkit = await findUsableToolkit(tx, toolkitId, [server.organizationId])
    if (toolkit === undefined) throw toolkitNotFound()
    const snapshot = await takeSnapshot(tx, toolkit, { organizationId, serverId: server.id })
    await store.moveInstancesToCopies(tx, server.id, { fromToolkitId: toolkitId, toSnapshotId: snapshot.id })
    await removeUse(tx, server.id, toolkitId)
    await addUse(tx, server.id, snapshot.id)
  }
}

/** Clients go on in the name of those who may still use the server, and of nobody else. */
const endGrantsOfOthers = async (tx: Transaction, server: Server): Promise<void> => {
  const userIds = await store.listGrantingUserIds(tx, server.id)
  const members = new Set(await store.listMemberIdsAmong(tx, server.organizationId, userIds))
  const policy = policyOf(server)
  const others = userIds.filter(userId => {
    const organizationIds = new Set(members.has(userId) ? [server.organizationId] : [])
    return !isLetIn(policy, { userId, organizationIds })
  })
  await store.removeGrants(tx, server.id, others)
}

/** An entry in the log of either organization: each may read its own alone. */
const auditTransfer = async (tx: Transaction, actor: Actor, before: Server, after: Server): Promise<void> => {
  for (const { organizationId } of [before, after]) {
    await writeAudit(tx, {
      action: 'server.transferred',
      actor,
      organizationId,
      target: { type: 'server', id: after.id, name: after.name },
      change: {
        organizationId: { from: before.organizationId, to: after.organizationId },
        ownerId: { from: before.ownerId, to: after.ownerId },
        allowedUsers: { from: [...before.allowedUserIds], to: [...after.allowedUserIds] },
      },
    })
  }
}

export const createServerTransfer = ({ changes }: ServerServiceParts) => ({
  /**
   * Moves a server, with its globals, instances and history, into another organization of the actor's, who must manage
   * the one it leaves and may build in the other. Its address stays; allowed users are kept as far as they belong there.
   */
  transferServer: (actor: Actor, id: string, wish: TransferWish): Promise<Server> =>
    changes.commit(async (tx, announce) => {
      const before = await getServerFor(tx, actor, id, 'manage')
      const { organizationId } = wish
      assertMay(actor, organizationId, 'build')
      if (organizationId === before.organizationId) {
        throw new AppError('conflict', 'The server belongs to this organization already.')
      }
      const ownerId = await newOwnerId(tx, actor, before, wish)
      await takeToolkitsAlong(tx, before, organizationId)
      await store.moveServer(tx, id, { organizationId, ownerId })
      const allowedUserIds = await store.listMemberIdsAmong(tx, organizationId, before.allowedUserIds)
      const moved = await updateServer(tx, id, { allowedUserIds })
      await endGrantsOfOthers(tx, moved)
      await auditTransfer(tx, actor, before, moved)
      announce({ type: 'server_changed', serverId: id })
      return moved
    }),
})

export type ServerTransfer = ReturnType<typeof createServerTransfer>
