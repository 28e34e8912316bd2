import { hash } from 'node:crypto'
import { writeAudit } from '../identity/audit/audit.store.ts'
import { type AuditAction, differences } from '../identity/audit/audit-entry.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay, organizationForNew, organizationIdsOf } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { listToolkitCards } from './sharing/catalogue.store.ts'
import type { Toolkit } from './tool.ts'
import type { NewToolkit, ToolkitPatch } from './toolkits.schema.ts'
import * as store from './toolkits.store.ts'

export type ServerRef = { id: string; name: string }

/**
 * Returns the servers that use toolkits or tools, keyed by toolkit or tool id. Omits those that no server uses. With a
 * reader, returns only the servers that the reader may use.
 */
type FindUses = (
  tx: Transaction,
  ids: readonly string[],
  reader?: Actor,
) => Promise<ReadonlyMap<string, readonly ServerRef[]>>

/** Supplied by the servers capability. */
export type Uses = {
  ofToolkits: FindUses
  ofTools: FindUses
  /** Adds a toolkit to each server that uses one of these tools. */
  addToolkit: (tx: Transaction, toolIds: readonly string[], toolkitId: string) => Promise<void>
}

export type ToolkitServiceParts = { db: Database; changes: Changes; uses: Uses }

/** The error is the same for a toolkit of another organization and for one that does not exist. */
export const toolkitNotFound = () => new AppError('not_found', 'Toolkit not found.')

/** Throws `conflict` with the names of the servers that use this toolkit or tool. */
export const assertUnused = async (
  what: string,
  usersOf: Uses['ofToolkits'],
  tx: Transaction,
  id: string,
): Promise<void> => {
  const servers = (await usersOf(tx, [id])).get(id)
  if (servers === undefined) return
  const names = servers.map(({ name }) => `"${name}"`).join(', ')
  throw new AppError('conflict', `This ${what} is in use by ${names}. Remove it there first.`)
}

/** Returns a hash of the toolkit's own editable fields. Changes to the toolkit's tools do not affect it. */
export const toolkitVersion = ({
  title,
  description,
  visibility,
}: Pick<Toolkit, 'title' | 'description' | 'visibility'>): string =>
  hash('sha256', JSON.stringify([title, description ?? null, visibility]), 'base64url')

const audit = (
  tx: Transaction,
  actor: Actor,
  action: AuditAction,
  { id, title, organizationId }: Toolkit,
  change?: JsonObject,
): Promise<void> =>
  writeAudit(tx, { action, actor, organizationId, target: { type: 'toolkit', id, name: title }, change })

/** Creates a toolkit within the caller's transaction. The caller checks permissions. */
export const addToolkit = async (tx: Transaction, actor: Actor, fields: store.ToolkitFields): Promise<Toolkit> => {
  const toolkit = await store.createToolkit(tx, fields)
  await audit(tx, actor, 'toolkit.created', toolkit, { visibility: toolkit.visibility })
  return toolkit
}

/** Returns a toolkit of the actor's organizations if the actor may build there. */
export const getToolkitForChange = async (tx: Transaction, actor: Actor, id: string): Promise<Toolkit> => {
  const toolkit = orThrow(await store.findToolkit(tx, id, organizationIdsOf(actor)), toolkitNotFound)
  assertMay(actor, toolkit.organizationId, 'build')
  return toolkit
}

export const createToolkitService = ({ db, changes, uses }: ToolkitServiceParts) => {
  return {
    createToolkit: (actor: Actor, { organizationId: named, ...fields }: NewToolkit): Promise<Toolkit> => {
      const organizationId = organizationForNew(actor, named)
      return changes.commit(tx => addToolkit(tx, actor, { ...fields, organizationId }))
    },

    /** Returns a toolkit of the actor's organizations or a public one. */
    getToolkit: async (actor: Actor, id: string): Promise<Toolkit> =>
      orThrow(await store.findUsableToolkit(db, id, organizationIdsOf(actor)), toolkitNotFound),

    listToolkits: (actor: Actor, page: IdPage): Promise<Toolkit[]> =>
      listToolkitCards(db, { kind: 'own', organizationIds: organizationIdsOf(actor) }, '', page),

    listGallery: (page: IdPage): Promise<Toolkit[]> => listToolkitCards(db, { kind: 'public' }, '', page),

    /** Throws `conflict` if the title, description or visibility differs from `ifVersion` (see `toolkitVersion`). */
    updateToolkit: (actor: Actor, id: string, patch: ToolkitPatch, ifVersion?: string): Promise<Toolkit> =>
      changes.commit(async (tx, announce) => {
        const before = await getToolkitForChange(tx, actor, id)
        if (ifVersion !== undefined && ifVersion !== toolkitVersion(before)) {
          throw new AppError('conflict', 'Somebody else has changed this toolkit. Your changes are not saved yet.')
        }
        const updated = await store.updateToolkit(tx, id, patch)
        const change = differences({ visibility: before.visibility }, { visibility: updated.visibility })
        if (change !== undefined) await audit(tx, actor, 'toolkit.visibility_changed', updated, change)
        announce({ type: 'toolkit_changed', toolkitId: id })
        return updated
      }),

    /**
     * Moves a toolkit to another organization. The actor must manage the current organization and be allowed to build
     * in the new one. Throws `conflict` with the names of the organization's servers that use the toolkit. Other
     * organizations keep their snapshots.
     */
    transferToolkit: (actor: Actor, id: string, organizationId: string): Promise<Toolkit> =>
      changes.commit(async (tx, announce) => {
        const toolkit = await getToolkitForChange(tx, actor, id)
        assertMay(actor, toolkit.organizationId, 'manage')
        assertMay(actor, organizationId, 'build')
        if (organizationId === toolkit.organizationId) {
          throw new AppError('conflict', 'The toolkit already belongs to this organization.')
        }
        await assertUnused('toolkit', uses.ofToolkits, tx, id)
        const moved = await store.moveToolkit(tx, id, organizationId)
        const change = { organizationId: { from: toolkit.organizationId, to: organizationId } }
        // Both organizations get a log entry, because each can read only its own log.
        for (const one of [toolkit, moved]) await audit(tx, actor, 'toolkit.transferred', one, change)
        announce({ type: 'toolkit_changed', toolkitId: id })
        return moved
      }),

    /**
     * Throws `conflict` with the names of the organization's servers that use the toolkit. Other organizations keep
     * their snapshots.
     */
    removeToolkit: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async tx => {
        const toolkit = await getToolkitForChange(tx, actor, id)
        await assertUnused('toolkit', uses.ofToolkits, tx, id)
        await store.removeToolkit(tx, id)
        await audit(tx, actor, 'toolkit.removed', toolkit)
      }),
  }
}

export type ToolkitService = ReturnType<typeof createToolkitService>
