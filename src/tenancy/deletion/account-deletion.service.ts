import { findRemovalRefusal, removeAccount } from '../../identity/account-removal.ts'
import { listOrganizationsOf } from '../../identity/accounts.store.ts'
import { writeAudit } from '../../identity/audit/audit.store.ts'
import { selfTarget } from '../../identity/audit/audit-entry.ts'
import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Role } from '../../lib/kernel/roles.ts'
import type { HeldServer } from '../holdings.ts'
import { giveRole } from '../members.service.ts'
import * as members from '../members.store.ts'
import type { Member } from '../organization.ts'
import { type Decisions, planDeletion, type Step } from './deletion-plan.ts'
import { createOrganizationRemoval, type RemovalParts } from './removal.ts'

/** What deleting an account would delete or transfer. */
export type DeletionPreview = {
  organizations: {
    id: string
    name: string
    role: Role
    /** Whether the user is the organization's only owner and must decide what happens to it. */
    mustDecide: boolean
    /** Other members who could become owner, longest membership first. At most the first 200. */
    otherMembers: Member[]
    servers: number
    toolkits: number
  }[]
  /** `passesTo` is undefined if the recipient depends on the user's decision. */
  servers: (HeldServer & { passesTo: Member | undefined })[]
  /** Why the account cannot be deleted. Undefined if it can be deleted. */
  refusal: string | undefined
}

export type AccountDeletionParts = RemovalParts & {
  /**
   * Removes the user's accounts at other services. Returns a function that notifies those services. It must be called
   * after the commit.
   */
  takeAccountsOfUser: (tx: Transaction, userId: string) => Promise<() => void>
}

export const createAccountDeletion = (parts: AccountDeletionParts) => {
  const { db, changes, holdings, tenancy, takeAccountsOfUser } = parts
  const removal = createOrganizationRemoval(parts)

  const giveServers = async (tx: Transaction, announce: Announce, organizationId: string, from: string, to: string) => {
    const given = await holdings.giveServers(tx, { organizationId, from, to })
    for (const serverId of given) announce({ type: 'server_changed', serverId })
  }

  const take = async (tx: Transaction, announce: Announce, actor: Actor, step: Step): Promise<void> => {
    if (step.kind === 'remove') return removal.drop(tx, announce, actor, step.organization)
    const { organization, heir } = step
    if (step.isNewOwner && heir.role !== 'owner') {
      await giveRole(tx, announce, actor, organization.id, heir, 'owner')
    }
    await giveServers(tx, announce, organization.id, actor.userId, heir.userId)
    const target = selfTarget(actor)
    const change = { serversTo: heir.email }
    await writeAudit(tx, { action: 'member.removed', actor, organizationId: organization.id, target, change })
  }

  /** Transfers the actor's servers in organizations that the actor no longer belongs to. */
  const transferRemainingServers = async (tx: Transaction, announce: Announce, { userId }: Actor): Promise<void> => {
    for (const organizationId of await holdings.listOrganizationIdsOfOwner(tx, userId)) {
      const heir = await members.findOldestOtherOwner(tx, organizationId, userId)
      if (heir !== undefined) await giveServers(tx, announce, organizationId, userId, heir.userId)
    }
  }

  return {
    previewDeletion: async (actor: Actor): Promise<DeletionPreview> => {
      const { userId } = actor
      const organizations = await Promise.all(
        (await listOrganizationsOf(db, userId)).map(async ({ id, name, role }) => {
          const oldestOwner = await members.findOldestOtherOwner(db, id, userId)
          return {
            id,
            name,
            role,
            oldestOwner,
            mustDecide: oldestOwner === undefined,
            otherMembers: await members.listOtherMembers(db, id, userId),
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
     * Deletes the account. The caller must have verified the user's identity. Throws `conflict` if a decision about a
     * solely owned organization is missing or the user is the only operator. Throws `forbidden` if the deletion would
     * include the organization of PATCHBAY_TENANCY=single.
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
        // Plans the deletion again, because members may have joined or left in the meantime.
        for (const step of await planDeletion(tx, actor, decisions, tenancy)) await take(tx, announce, actor, step)
        await transferRemainingServers(tx, announce, actor)
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
