import { findRemovalRefusal, removeAccount } from '../accounts/index.ts'
import { type Actor, AppError, type Role } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { Announce } from '../platform/events/index.ts'
import { type Decisions, planDeletion, type Step } from './deletion-plan.ts'
import type { HeldServer } from './holdings.ts'
import * as members from './members.store.ts'
import type { Member } from './organization.ts'
import { createOrganizationRemoval, type RemovalParts } from './removal.ts'

/** What goes with an account or passes to others, before anybody decides. */
export type DeletionPreview = {
  organizations: {
    id: string
    name: string
    role: Role
    /** One is its only owner: it has to be said what becomes of it. */
    mustDecide: boolean
    /** Some of the others, the oldest members first: who could own it. */
    otherMembers: Member[]
    servers: number
    toolkits: number
  }[]
  /** `passesTo` is undefined where that depends on what is decided. */
  servers: (HeldServer & { passesTo: Member | undefined })[]
  /** Why the account cannot go at all. */
  refusal: string | undefined
}

/** Other members shown of each organization. */
const MAX_OTHERS_SHOWN = 200

const auditLeaving = async (tx: Transaction, actor: Actor, { organization, heir }: Step & { kind: 'leave' }) =>
  writeAudit(tx, {
    action: 'member.removed',
    actor,
    organizationId: organization.id,
    target: { type: 'user', id: actor.userId, name: actor.email },
    change: { serversTo: heir.email },
  })

export type AccountDeletionParts = RemovalParts & {
  /** Ends a user's own accounts at other services with the transaction; what it answers tells those, after the commit. */
  takeAccountsOfUser: (tx: Transaction, userId: string) => Promise<() => void>
}

export const createAccountDeletion = (parts: AccountDeletionParts) => {
  const { db, changes, holdings, tenancy, takeAccountsOfUser } = parts
  const removal = createOrganizationRemoval(parts)

  const promote = async (tx: Transaction, announce: Announce, actor: Actor, organizationId: string, heir: Member) => {
    if (heir.role === 'owner') return
    await members.updateRole(tx, organizationId, heir.userId, 'owner')
    await writeAudit(tx, {
      action: 'member.role_changed',
      actor,
      organizationId,
      target: { type: 'user', id: heir.userId, name: heir.email },
      change: { role: { from: heir.role, to: 'owner' } },
    })
    announce({ type: 'access_changed', userId: heir.userId })
  }

  const giveServers = async (tx: Transaction, announce: Announce, organizationId: string, from: string, to: string) => {
    const given = await holdings.giveServers(tx, { organizationId, from, to })
    for (const serverId of given) announce({ type: 'server_changed', serverId })
  }

  const take = async (tx: Transaction, announce: Announce, actor: Actor, step: Step): Promise<void> => {
    if (step.kind === 'remove') return removal.drop(tx, announce, actor, step.organization)
    const { organization, heir } = step
    if (step.isNewOwner) await promote(tx, announce, actor, organization.id, heir)
    await giveServers(tx, announce, organization.id, actor.userId, heir.userId)
    await auditLeaving(tx, actor, step)
  }

  /** Servers in organizations that the actor does not belong to any more. */
  const giveStrays = async (tx: Transaction, announce: Announce, { userId }: Actor): Promise<void> => {
    for (const organizationId of await holdings.listOrganizationIdsOfOwner(tx, userId)) {
      const heir = await members.findOldestOwnerBut(tx, organizationId, userId)
      if (heir !== undefined) await giveServers(tx, announce, organizationId, userId, heir.userId)
    }
  }

  return {
    previewDeletion: async (actor: Actor): Promise<DeletionPreview> => {
      const { userId } = actor
      const organizations = await Promise.all(
        (await members.listMembershipsOf(db, userId)).map(async ({ organizationId: id, name, role }) => {
          const oldestOwner = await members.findOldestOwnerBut(db, id, userId)
          return {
            id,
            name,
            role,
            oldestOwner,
            mustDecide: oldestOwner === undefined,
            otherMembers: await members.listMembersBut(db, id, userId, MAX_OTHERS_SHOWN),
            servers: await holdings.countServers(db, id),
            toolkits: await holdings.countToolkits(db, id),
          }
        }),
      )
      const servers = (await holdings.listServersOwnedBy(db, userId)).map(server => ({
        ...server,
        passesTo: organizations.find(({ id }) => id === server.organizationId)?.oldestOwner,
      }))
      return { organizations, servers, refusal: await findRemovalRefusal(db, userId) }
    },

    /**
     * The account goes; whoever asks has shown that it is theirs. Throws `conflict` while an organization that they
     * alone own is undecided, or they are the only operator; `forbidden` for the one of PATCHBAY_TENANCY=single.
     */
    deleteAccount: async (actor: Actor, decisions: Decisions): Promise<void> => {
      const serverIds = await changes.commit(async (tx, announce) => {
        const refusal = await findRemovalRefusal(tx, actor.userId)
        if (refusal !== undefined) throw new AppError('conflict', refusal)
        const stopped: string[] = []
        for (const step of await planDeletion(tx, actor, decisions, tenancy)) {
          if (step.kind === 'remove') stopped.push(...(await removal.stop(tx, announce, actor, step.organization.id)))
        }
        return stopped
      })
      await removal.finish(serverIds)
      const tellOthers = await changes.commit(async (tx, announce) => {
        // Planned anew: others may have come and gone meanwhile.
        for (const step of await planDeletion(tx, actor, decisions, tenancy)) await take(tx, announce, actor, step)
        await giveStrays(tx, announce, actor)
        const tell = await takeAccountsOfUser(tx, actor.userId)
        await removeAccount(tx, actor)
        announce({ type: 'access_changed', userId: actor.userId })
        return tell
      })
      tellOthers()
    },
  }
}

export type AccountDeletion = ReturnType<typeof createAccountDeletion>
