import { findUser, removeMember } from '../identity/accounts.store.ts'
import { writeAudit } from '../identity/audit/audit.store.ts'
import { userTarget } from '../identity/audit/audit-entry.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Announce, Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { mayRole, permissionOver, type Role } from '../lib/kernel/roles.ts'
import { assertStillMay } from './current-role.ts'
import type { HeldServer, Holdings } from './holdings.ts'
import * as store from './members.store.ts'
import type { Member } from './organization.ts'

export type MemberServiceParts = { db: Database; changes: Changes; holdings: Holdings }

const getMember = async (tx: Transaction, organizationId: string, userId: string): Promise<Member> =>
  orThrow(await store.findMember(tx, organizationId, userId), () => new AppError('not_found', 'Member not found.'))

/** Transactions are serializable, so if two owners leave at once, the second one fails here. */
const assertOtherOwner = async (tx: Transaction, organizationId: string, { userId }: Member): Promise<void> => {
  if ((await store.findOldestOtherOwner(tx, organizationId, userId)) !== undefined) return
  throw new AppError(
    'conflict',
    'This is the last owner of the organization. Make someone else an owner first, or delete the organization.',
  )
}

/**
 * Returns the member who takes over a departing member's servers. Throws `invalid_request` if the new owner is not
 * another member whose role allows building.
 */
const getHeir = async (
  tx: Transaction,
  organizationId: string,
  { heirId, leavingId }: { heirId: string; leavingId: string },
): Promise<Member> => {
  const heir = heirId === leavingId ? undefined : await store.findMember(tx, organizationId, heirId)
  if (heir !== undefined && mayRole(heir.role, 'build')) return heir
  throw new AppError('invalid_request', 'Servers can only be transferred to a member who can build.', {
    errors: [{ path: 'serversTo', message: 'is not another member whose role allows building' }],
  })
}

/**
 * Returns the default recipient of a member's servers: the user who removes the member, or the oldest owner if the
 * member leaves.
 */
const defaultHeirId = async (
  tx: Transaction,
  actor: Actor,
  organizationId: string,
  leavingId: string,
): Promise<string> => {
  if (leavingId !== actor.userId) return actor.userId
  return (await store.findOldestOtherOwner(tx, organizationId, leavingId))?.userId ?? actor.userId
}

/** Changes a member's role and records the change in the same transaction. */
export const giveRole = async (
  tx: Transaction,
  announce: Announce,
  actor: Actor,
  organizationId: string,
  { userId, email, role: from }: Member,
  role: Role,
): Promise<Member> => {
  const changed = await store.updateRole(tx, organizationId, userId, role)
  const target = userTarget({ id: userId, email })
  const change = { role: { from, to: role } }
  await writeAudit(tx, { action: 'member.role_changed', actor, organizationId, target, change })
  announce({ type: 'access_changed', userId })
  return changed
}

/** Throws if an operator would no longer see a command that a server of the organization runs on this machine. */
const assertMayRemoveFromCommands = async (
  tx: Transaction,
  actor: Actor,
  organizationId: string,
  { member, holdings }: { member: Member; holdings: Holdings },
): Promise<void> => {
  if (actor.isOperator || (await findUser(tx, member.userId))?.isOperator !== true) return
  const command = await holdings.findCommand(tx, organizationId)
  if (command === undefined) return
  const message =
    `The MCP server "${command.name}" of the server "${command.serverName}" runs a command on this machine, so the ` +
    'operator of this installation can only be removed by an operator. Remove the MCP server first, or ask the operator.'
  throw new AppError('forbidden', message)
}

/** Returns the member to remove. Members can always remove themselves. Removing someone else requires permission. */
const getForRemoval = async (
  tx: Transaction,
  actor: Actor,
  holdings: Holdings,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<Member> => {
  const isLeaving = userId === actor.userId
  await assertStillMay(tx, actor, organizationId, isLeaving ? 'read' : 'manage')
  const member = await getMember(tx, organizationId, userId)
  if (isLeaving) return member
  await assertStillMay(tx, actor, organizationId, permissionOver(member.role))
  await assertMayRemoveFromCommands(tx, actor, organizationId, { member, holdings })
  return member
}

/** What removing a member would change. `heirId` is the default recipient of the member's servers. */
export type RemovalPreview = {
  member: Member
  servers: readonly HeldServer[]
  heirs: readonly Member[]
  heirId: string
}

export const createMemberService = ({ db, changes, holdings }: MemberServiceParts) => ({
  listMembers: async (actor: Actor, organizationId: string, page: IdPage): Promise<Member[]> => {
    assertMay(actor, organizationId, 'read')
    return store.listMembers(db, organizationId, page)
  },

  /** Changes a role. Only owners can change an owner's role. Throws `conflict` if no owner would be left. */
  changeRole: (actor: Actor, organizationId: string, userId: string, role: Role): Promise<Member> =>
    changes.commit(async (tx, announce) => {
      await assertStillMay(tx, actor, organizationId, 'manage')
      const member = await getMember(tx, organizationId, userId)
      if (member.role === role) return member
      await assertStillMay(tx, actor, organizationId, permissionOver(member.role))
      await assertStillMay(tx, actor, organizationId, permissionOver(role))
      if (member.role === 'owner') await assertOtherOwner(tx, organizationId, member)
      return giveRole(tx, announce, actor, organizationId, member, role)
    }),

  /** Makes another member an owner and changes the actor's role from owner to admin. */
  transferOwnership: (actor: Actor, organizationId: string, userId: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      await assertStillMay(tx, actor, organizationId, 'own')
      const heir = userId === actor.userId ? undefined : await store.findMember(tx, organizationId, userId)
      if (heir === undefined) {
        throw new AppError('invalid_request', 'Only another member can become the owner.', {
          errors: [{ path: 'userId', message: 'is not another member' }],
        })
      }
      const self = await getMember(tx, organizationId, actor.userId)
      if (heir.role !== 'owner') await giveRole(tx, announce, actor, organizationId, heir, 'owner')
      await giveRole(tx, announce, actor, organizationId, self, 'admin')
    }),

  /** Previews a removal. Available to the member and to users who may remove the member. */
  previewRemoval: async (actor: Actor, organizationId: string, userId: string): Promise<RemovalPreview> => {
    const member = await getForRemoval(db, actor, holdings, { organizationId, userId })
    const others = await store.listOtherMembers(db, organizationId, userId)
    return {
      member,
      servers: await holdings.listServersOwnedBy(db, userId, organizationId),
      heirs: others.filter(({ role }) => mayRole(role, 'build')),
      heirId: await defaultHeirId(db, actor, organizationId, userId),
    }
  },

  /**
   * Removes a member, or lets members leave. Their servers go to `serversTo`. By default, the servers go to the user
   * who removes the member, or to the oldest owner if the member leaves. Throws `conflict` for the last owner. Only
   * an operator can remove an operator from an organization whose servers run commands on this machine.
   */
  removeMember: (actor: Actor, organizationId: string, userId: string, serversTo?: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const member = await getForRemoval(tx, actor, holdings, { organizationId, userId })
      if (member.role === 'owner') await assertOtherOwner(tx, organizationId, member)
      const heirId = serversTo ?? (await defaultHeirId(tx, actor, organizationId, userId))
      const heir = await getHeir(tx, organizationId, { heirId, leavingId: userId })

      const servers = await holdings.listServersOwnedBy(tx, userId, organizationId)
      const given = await holdings.giveServers(tx, { organizationId, from: userId, to: heir.userId })
      const withdrawn = await holdings.withdrawUser(tx, organizationId, userId)
      await removeMember(tx, organizationId, userId)
      const target = userTarget({ id: userId, email: member.email })
      const change = {
        role: { from: member.role, to: null },
        ...(servers.length > 0 && { servers: servers.map(({ id }) => id), serversTo: heir.email }),
      }
      await writeAudit(tx, { action: 'member.removed', actor, organizationId, target, change })
      for (const serverId of [...given, ...withdrawn]) announce({ type: 'server_changed', serverId })
      announce({ type: 'access_changed', userId })
    }),
})

export type MemberService = ReturnType<typeof createMemberService>
