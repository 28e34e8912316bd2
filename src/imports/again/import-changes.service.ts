import type { Database } from '../../lib/db/client.ts'
import { type Actor, assertMay, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { ServerRef, Uses } from '../../tools/toolkits.service.ts'
import type { ComparedItem } from './compared-item.ts'
import * as store from './compared-items.store.ts'

/** A change to a tool, with its name in the toolkit and those servers that use it and that the reader may use. */
export type ToolChange = ComparedItem & { toolName: string; usedBy: readonly ServerRef[] }

const importNotFound = () => new AppError('not_found', 'Import not found.')

export type ImportChangesParts = { db: Database; uses: Pick<Uses, 'ofTools'> }

/** Lists what imports change in existing tools, for members who may build in the toolkit's organization. */
export const createImportChanges = ({ db, uses }: ImportChangesParts) => {
  const assertMayRead = async (actor: Actor, importId: string): Promise<void> => {
    const organizationId = await store.findOrganizationOfImport(db, importId, organizationIdsOf(actor))
    assertMay(actor, orThrow(organizationId, importNotFound), 'build')
  }

  return {
    /** Returns undefined if the source was not imported before. */
    countChanges: async (actor: Actor, importId: string): Promise<store.ChangeCounts | undefined> => {
      await assertMayRead(actor, importId)
      return store.countChanges(db, importId)
    },

    /** Lists the tools of a part of the changes, or of all, in the order of the source, after a position. */
    listChanges: async (
      actor: Actor,
      importId: string,
      part: store.ChangePart | undefined,
      page: { limit: number; after?: number | undefined },
    ): Promise<ToolChange[]> => {
      await assertMayRead(actor, importId)
      const items = await store.listChanges(db, importId, part, page)
      const ids = items.map(({ toolId }) => toolId)
      const [users, names] = await Promise.all([uses.ofTools(db, ids, actor), store.listNamesOfTools(db, ids)])
      return items.map(item => ({
        ...item,
        toolName: names.get(item.toolId) ?? item.name ?? item.key,
        usedBy: users.get(item.toolId) ?? [],
      }))
    },
  }
}

export type ImportChanges = ReturnType<typeof createImportChanges>
