import type { Transaction } from '../../lib/db/client.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import { findMemberByEmail, findRole } from '../../tenancy/members.store.ts'
import { takeSnapshot } from '../../tools/sharing/snapshots.ts'
import { toolkitNotFound } from '../../tools/toolkits.service.ts'
import { findUsableToolkit } from '../../tools/toolkits.store.ts'
import { assertMayMoveCommands } from '../../upstreams/config/stdio-permission.ts'
import { listAllUpstreams } from '../../upstreams/upstreams.store.ts'
import { isAllowed, policyOf } from '../access/access.ts'
import { removeRequests } from '../access/access-requests.store.ts'
import type { Server } from '../server.ts'
import { auditServer } from '../server-audit.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { updateServer } from '../servers.store.ts'
import { addUse, removeUse } from '../sources/toolkit-uses.store.ts'
import * as store from './transfer.store.ts'

export type TransferInput = {
  organizationId: string
  ownerId?: string | undefined
  /** The new owner's email address, in place of `ownerId`. */
  ownerEmail?: string | undefined
}

const mayBuildThere = async (tx: Transaction, organizationId: string, userId: string): Promise<boolean> => {
  const role = await findRole(tx, organizationId, userId)
  return role !== undefined && mayRole(role, 'build')
}

/**
 * Returns the owner named in the request. If none is named, returns the current owner if they may build in the new
 * organization, or else the actor.
 */
const newOwnerId = async (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { organizationId, ownerId: namedId, ownerEmail }: TransferInput,
): Promise<string> => {
  if (namedId === undefined && ownerEmail === undefined) {
    return (await mayBuildThere(tx, organizationId, server.ownerId)) ? server.ownerId : actor.userId
  }
  const ownerId =
    namedId ?? (await findMemberByEmail(tx, organizationId, ownerEmail?.trim().toLowerCase() ?? ''))?.userId
  if (ownerId !== undefined && (await mayBuildThere(tx, organizationId, ownerId))) return ownerId
  const path = namedId === undefined ? 'ownerEmail' : 'ownerId'
  throw new AppError('invalid_request', 'The new owner must be a member of that organization who may build.', {
    errors: [{ path, message: 'is not a member of that organization with permission to build' }],
  })
}

/** Replaces the previous organization's toolkits with snapshots of their current state. */
const snapshotUsedToolkits = async (tx: Transaction, server: Server, organizationId: string): Promise<void> => {
  for (const toolkitId of await store.listDirectlyUsedToolkitIds(tx, server.id)) {
    const toolkit = orThrow(await findUsableToolkit(tx, toolkitId, [server.organizationId]), toolkitNotFound)
    const snapshot = await takeSnapshot(tx, toolkit, { organizationId, serverId: server.id })
    await store.moveInstancesToCopies(tx, server.id, { fromToolkitId: toolkitId, toSnapshotId: snapshot.id })
    await removeUse(tx, server.id, toolkitId)
    await addUse(tx, server.id, snapshot.id)
  }
}

/** Revokes the grants of users who may no longer use the server. */
const revokeLostGrants = async (tx: Transaction, server: Server): Promise<void> => {
  const userIds = await store.listGrantingUserIds(tx, server.id)
  const roles = await store.findRolesAmong(tx, server.organizationId, userIds)
  const policy = policyOf(server)
  const others = userIds.filter(userId => {
    const role = roles.get(userId)
    return !isAllowed(policy, { userId, memberships: new Map(role && [[server.organizationId, role]]) })
  })
  await store.removeGrants(tx, server.id, others)
}

/** Adds an entry to the logs of both organizations, because each organization can read only its own log. */
const auditTransfer = async (tx: Transaction, actor: Actor, before: Server, after: Server): Promise<void> => {
  const change = {
    organizationId: { from: before.organizationId, to: after.organizationId },
    ownerId: { from: before.ownerId, to: after.ownerId },
    allowedUsers: { from: [...before.allowedUserIds], to: [...after.allowedUserIds] },
  }
  for (const server of [before, after]) await auditServer(tx, actor, 'server.transferred', server, change)
}

export const createServerTransfer = ({ changes }: ServerServiceParts) => ({
  /**
   * Moves a server, with its globals, instances and history, to another organization. The actor must manage the current
   * organization and be able to build in the new one. The URL does not change. Allowed users who are members of the new
   * organization remain allowed. Only the operator may move a server that runs commands on this machine: the operator
   * may not see it in the new organization.
   */
  transferServer: (actor: Actor, id: string, input: TransferInput): Promise<Server> =>
    changes.commit(async (tx, announce) => {
      const before = await getServerFor(tx, actor, id, 'manage')
      const { organizationId } = input
      assertMay(actor, organizationId, 'build')
      if (organizationId === before.organizationId) {
        throw new AppError('conflict', 'The server already belongs to this organization.')
      }
      assertMayMoveCommands(actor, await listAllUpstreams(tx, id))
      const ownerId = await newOwnerId(tx, actor, before, input)
      await snapshotUsedToolkits(tx, before, organizationId)
      await store.moveServer(tx, id, { organizationId, ownerId })
      const allowedUserIds = [...(await store.findRolesAmong(tx, organizationId, before.allowedUserIds)).keys()]
      await removeRequests(tx, id)
      const moved = await updateServer(tx, before, { allowedUserIds })
      await revokeLostGrants(tx, moved)
      await auditTransfer(tx, actor, before, moved)
      announce({ type: 'server_changed', serverId: id })
      return moved
    }),
})

export type ServerTransfer = ReturnType<typeof createServerTransfer>
