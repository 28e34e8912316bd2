import { type Actor, AppError, assertMay } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import { assertStillMay } from './current-role.ts'
import { countMemberships } from './members.store.ts'
import type { Organization } from './organization.ts'
import * as store from './organizations.store.ts'
import { assertNotTheOnly, createOrganizationRemoval, type RemovalParts } from './removal.ts'

/** Organizations that one person may belong to and go on making more: all of them are read with every request. */
const MAX_ORGANIZATIONS_PER_USER = 100

const getOrganization = async (tx: Transaction, actor: Actor, id: string): Promise<Organization> => {
  const organization = await store.findOrganization(tx, id, actor.userId)
  if (organization === undefined) throw new AppError('not_found', 'There is no such organization.')
  return organization
}

const assertConfirmed = ({ name }: Organization, confirm: string): void => {
  if (confirm === name) return
  throw new AppError('invalid_request', 'To remove an organization, confirm it by its name.', {
    errors: [{ path: 'confirm', message: 'is not the name of this organization' }],
  })
}

const assertRoomForAnother = async (tx: Transaction, actor: Actor): Promise<void> => {
  if ((await countMemberships(tx, actor.userId)) < MAX_ORGANIZATIONS_PER_USER) return
  throw new AppError('limit_exceeded', `Nobody makes more than ${MAX_ORGANIZATIONS_PER_USER} organizations.`)
}

/** Nobody is left without any: where would what they make go? */
const assertNotLast = async (tx: Transaction, actor: Actor): Promise<void> => {
  if ((await countMemberships(tx, actor.userId)) > 1) return
  throw new AppError(
    'conflict',
    'This is your only organization: it goes with your account, or after you made another.',
  )
}

export type RemovalPreview = { servers: number; toolkits: number; refusal: string | undefined }

/** What an assertion says against it; undefined where it says nothing. */
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
        throw new AppError('forbidden', 'There is one organization here, for everybody (PATCHBAY_TENANCY=single).')
      }
      return changes.commit(async (tx, announce) => {
        await assertRoomForAnother(tx, actor)
        const made = await store.createOrganization(tx, name, actor.userId)
        const target = { type: 'organization', id: made.id, name }
        await writeAudit(tx, { action: 'organization.created', actor, organizationId: made.id, target })
        announce({ type: 'access_changed', userId: actor.userId })
        return made
      })
    },

    getOrganization: (actor: Actor, id: string): Promise<Organization> => getOrganization(db, actor, id),

    listOrganizations: (actor: Actor, page: IdPage): Promise<Organization[]> =>
      store.listOrganizations(db, actor.userId, page),

    renameOrganization: (actor: Actor, id: string, name: string | undefined): Promise<Organization> =>
      changes.commit(async tx => {
        assertMay(actor, id, 'manage')
        const before = await getOrganization(tx, actor, id)
        if (name === undefined || name === before.name) return before
        await store.renameOrganization(tx, id, name)
        await writeAudit(tx, {
          action: 'organization.renamed',
          actor,
          organizationId: id,
          target: { type: 'organization', id, name },
          change: { name: { from: before.name, to: name } },
        })
        return getOrganization(tx, actor, id)
      }),

    /** What would go with it, for who owns it; `refusal`: why it cannot go. */
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

    /** `confirm` is its name. Throws `conflict` for the only organization of who asks. */
    removeOrganization: async (actor: Actor, id: string, confirm: string): Promise<void> => {
      const serverIds = await changes.commit(async (tx, announce) => {
        await getForRemoval(tx, actor, id, confirm)
        return removal.stop(tx, announce, actor, id)
      })
      await removal.finish(serverIds)
      await changes.commit(async (tx, announce) => {
        // Asked anew: another may have removed it meanwhile, or taken this one's role or other organizations away.
        await removal.drop(tx, announce, actor, await getForRemoval(tx, actor, id, confirm))
      })
    },
  }
}

export type OrganizationService = ReturnType<typeof createOrganizationService>
