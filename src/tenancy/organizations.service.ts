import { createOrganization } from '../identity/accounts.store.ts'
import { writeAudit } from '../identity/audit/audit.store.ts'
import { differences } from '../identity/audit/audit-entry.ts'
import type { Transaction } from '../lib/db/client.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { assertStillMay } from './current-role.ts'
import { assertNotTheOnly, createOrganizationRemoval, type RemovalParts } from './deletion/removal.ts'
import { countMemberships } from './members.store.ts'
import type { Organization } from './organization.ts'
import * as store from './organizations.store.ts'

/**
 * Maximum number of organizations for a user who wants to create another. All memberships are read on every request.
 */
const MAX_ORGANIZATIONS_PER_USER = 100
/** Maximum number of existing organizations that a user has created. Their work shares the limits of one. */
const MAX_CREATED_ORGANIZATIONS = 20

export const getOrganization = async (tx: Transaction, actor: Actor, id: string): Promise<Organization> =>
  orThrow(
    await store.findOrganization(tx, id, actor.userId),
    () => new AppError('not_found', 'Organization not found.'),
  )

const assertConfirmed = ({ name }: Organization, confirm: string): void => {
  if (confirm === name) return
  throw new AppError('invalid_request', 'To delete an organization, confirm its name.', {
    errors: [{ path: 'confirm', message: 'is not the name of this organization' }],
  })
}

const assertRoomForAnother = async (tx: Transaction, actor: Actor): Promise<void> => {
  if ((await store.countCreated(tx, actor.userId)) >= MAX_CREATED_ORGANIZATIONS) {
    throw new AppError(
      'limit_exceeded',
      `You cannot create another organization: ${MAX_CREATED_ORGANIZATIONS} that you created exist, which is the limit. Delete one, or ask another user to create it and invite you.`,
    )
  }
  if ((await countMemberships(tx, actor.userId)) < MAX_ORGANIZATIONS_PER_USER) return
  throw new AppError(
    'limit_exceeded',
    `You cannot create another organization: you belong to ${MAX_ORGANIZATIONS_PER_USER}, which is the limit.`,
  )
}

/**
 * Throws `conflict` for the user's last organization, because everything a user creates must belong to an organization.
 */
const assertNotLast = async (tx: Transaction, actor: Actor): Promise<void> => {
  if ((await countMemberships(tx, actor.userId)) > 1) return
  throw new AppError('conflict', 'This is your only organization. Create another one first, or delete your account.')
}

export type OrganizationChange = {
  name?: string | undefined
  /** Limits of the history. Null: none. */
  keepCallsDays?: number | null | undefined
  keepCalls?: number | null | undefined
  /** Percentage of failed calls of a server from which an event is sent. Null: the default. */
  errorRatePercent?: number | null | undefined
}

export type RemovalPreview = { servers: number; toolkits: number; refusal: string | undefined }

/** Returns the error message if an assertion fails, or undefined if it passes. */
const refusalOf = async (assertion: () => Promise<void>): Promise<string | undefined> => {
  try {
    await assertion()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') return error.message
    throw error
  }
}

export const createOrganizationService = (parts: RemovalParts) => {
  const { db, changes, holdings, tenancy } = parts
  const removal = createOrganizationRemoval(parts)

  const getForRemoval = async (tx: Transaction, actor: Actor, id: string, confirm: string): Promise<Organization> => {
    await assertStillMay(tx, actor, id, 'own')
    const organization = await getOrganization(tx, actor, id)
    assertConfirmed(organization, confirm)
    await assertNotTheOnly(tx, tenancy, id)
    await assertNotLast(tx, actor)
    return organization
  }

  return {
    createOrganization: (actor: Actor, name: string): Promise<Organization> => {
      if (tenancy === 'single') {
        throw new AppError(
          'forbidden',
          'This installation has a single organization for everyone (PATCHBAY_TENANCY=single).',
        )
      }
      return changes.commit(async (tx, announce) => {
        await assertRoomForAnother(tx, actor)
        const made = await createOrganization(tx, name, actor.userId)
        const target = { type: 'organization', id: made.id, name }
        await writeAudit(tx, { action: 'organization.created', actor, organizationId: made.id, target })
        announce({ type: 'access_changed', userId: actor.userId })
        return { ...made, role: 'owner' }
      })
    },

    getOrganization: (actor: Actor, id: string): Promise<Organization> => getOrganization(db, actor, id),

    listOrganizations: (actor: Actor, page: IdPage): Promise<Organization[]> =>
      store.listOrganizations(db, actor.userId, page),

    /** Changes the name or how long calls are kept. A field that is undefined stays as it is. */
    changeOrganization: (actor: Actor, id: string, changed: OrganizationChange): Promise<Organization> =>
      changes.commit(async tx => {
        assertMay(actor, id, 'manage')
        const before = await getOrganization(tx, actor, id)
        const { name = before.name, keepCallsDays = before.keepCallsDays, keepCalls = before.keepCalls } = changed
        const { errorRatePercent = before.errorRatePercent } = changed
        await store.updateOrganization(tx, id, { name, keepCallsDays, keepCalls, errorRatePercent })
        const target = { type: 'organization', id, name }
        const entry = { actor, organizationId: id, target }
        if (name !== before.name) {
          const change = { name: { from: before.name, to: name } }
          await writeAudit(tx, { action: 'organization.renamed', ...entry, change })
        }
        const { keepCallsDays: days, keepCalls: calls } = before
        const kept = differences({ keepCallsDays: days, keepCalls: calls }, { keepCallsDays, keepCalls })
        if (kept !== undefined) await writeAudit(tx, { action: 'organization.history_changed', ...entry, change: kept })
        return getOrganization(tx, actor, id)
      }),

    /** Previews a deletion, for owners. `refusal` explains why the organization cannot be deleted. */
    previewRemoval: async (actor: Actor, id: string): Promise<RemovalPreview> => {
      await assertStillMay(db, actor, id, 'own')
      return {
        servers: await holdings.countServers(db, id),
        toolkits: await holdings.countToolkits(db, id),
        refusal: await refusalOf(async () => {
          await assertNotTheOnly(db, tenancy, id)
          await assertNotLast(db, actor)
        }),
      }
    },

    /** Deletes an organization. `confirm` must be its name. Throws `conflict` for the user's only organization. */
    removeOrganization: async (actor: Actor, id: string, confirm: string): Promise<void> => {
      const serverIds = await changes.commit(async (tx, announce) => {
        await getForRemoval(tx, actor, id, confirm)
        return removal.stop(tx, announce, actor, id)
      })
      await removal.finish(serverIds)
      await changes.commit(async (tx, announce) => {
        // Checked again, because the organization, the actor's role or their other organizations may be gone by now.
        await removal.drop(tx, announce, actor, await getForRemoval(tx, actor, id, confirm))
      })
    },
  }
}

export type OrganizationService = ReturnType<typeof createOrganizationService>
