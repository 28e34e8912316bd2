import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { selectionChanged } from '../lib/kernel/conflicts.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { formatCount } from '../lib/kernel/format.ts'
import { MAX_TOOLS_PER_TOOLKIT } from '../lib/kernel/limits.ts'
import type { Tool, Toolkit } from './tool.ts'
import { getToolkitForChange, type ServerRef, type ToolkitServiceParts } from './toolkits.service.ts'
import { listToolkitsByTitle, touchToolkit } from './toolkits.store.ts'
import * as store from './tools.store.ts'

/** Maximum number of toolkits to which tools can be moved, as a list to choose from. */
const MAX_TARGETS = 500

export type MoveTarget = Pick<Toolkit, 'id' | 'title' | 'visibility'>

const quoted = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

/** Returns the selected tools, sorted by name. Throws `conflict` if one of them is not in the toolkit. */
const getSelected = async (tx: Transaction, toolkitId: string, ids: readonly string[]): Promise<Tool[]> => {
  const tools = await store.listToolsById(tx, toolkitId, ids)
  if (tools.length !== ids.length) throw selectionChanged()
  return tools
}

const assertFits = async (tx: Transaction, target: Toolkit, tools: readonly Tool[]): Promise<void> => {
  const names = tools.map(({ name }) => name)
  const taken = await store.listTakenNames(tx, target.id, names)
  if (taken.length > 0) {
    const message = `"${target.title}" already has ${formatCount(taken.length, 'tool')} with the same name: ${quoted(taken)}. Nothing was moved. Rename them first.`
    throw new AppError('conflict', message)
  }
  if ((await store.countTools(tx, target.id)) + tools.length <= MAX_TOOLS_PER_TOOLKIT) return
  throw new AppError(
    'limit_exceeded',
    `A toolkit can have at most ${MAX_TOOLS_PER_TOOLKIT} tools. Nothing was moved to "${target.title}".`,
  )
}

/** Moves and deletes several tools of a toolkit at once: all or none. */
export const createToolSelection = ({ db, changes, uses }: ToolkitServiceParts) => ({
  /** Returns those of the tools that are in the toolkit, with the servers that use them, for a builder. */
  listSelected: async (
    actor: Actor,
    toolkitId: string,
    ids: readonly string[],
  ): Promise<{ tools: Tool[]; usedBy: ReadonlyMap<string, readonly ServerRef[]> }> => {
    await getToolkitForChange(db, actor, toolkitId)
    const tools = await store.listToolsById(db, toolkitId, ids)
    const found = tools.map(({ id }) => id)
    return { tools, usedBy: await uses.ofTools(db, found, actor) }
  },

  /** Lists the organization's other toolkits, by title. */
  listTargets: async (actor: Actor, toolkitId: string): Promise<MoveTarget[]> => {
    const { organizationId } = await getToolkitForChange(db, actor, toolkitId)
    const all = await listToolkitsByTitle(db, organizationId, MAX_TARGETS)
    return all.filter(({ id }) => id !== toolkitId)
  },

  /**
   * Moves tools to another toolkit of the organization. Servers that use a tool keep it, under the same name and with
   * its bindings, and use the other toolkit from then on. Throws `conflict` if a name is taken there, or if a tool is
   * gone.
   */
  moveTools: (actor: Actor, toolkitId: string, ids: readonly string[], targetId: string): Promise<Toolkit> =>
    changes.commit(async (tx, announce) => {
      const { organizationId } = await getToolkitForChange(tx, actor, toolkitId)
      const target = await getToolkitForChange(tx, actor, targetId)
      // Moving tools to another organization could take them, and the secrets bound to them, out of their servers.
      if (target.organizationId !== organizationId || targetId === toolkitId) {
        throw new AppError('invalid_request', 'Choose another toolkit of the same organization.', {
          errors: [{ path: 'target', message: 'is not another toolkit of this organization' }],
        })
      }
      await assertFits(tx, target, await getSelected(tx, toolkitId, ids))
      await store.moveTools(tx, ids, targetId)
      await uses.addToolkit(tx, ids, targetId)
      for (const changed of [toolkitId, targetId]) {
        await touchToolkit(tx, changed)
        announce({ type: 'toolkit_changed', toolkitId: changed })
      }
      return target
    }),

  /** Deletes tools. Throws `conflict` if servers use one of them, or if a tool is gone. */
  removeTools: (actor: Actor, toolkitId: string, ids: readonly string[]): Promise<void> =>
    changes.commit(async (tx, announce) => {
      await getToolkitForChange(tx, actor, toolkitId)
      const tools = await getSelected(tx, toolkitId, ids)
      const used = await uses.ofTools(tx, ids)
      const names = tools.filter(({ id }) => used.has(id)).map(({ name }) => name)
      if (names.length > 0) {
        throw new AppError(
          'conflict',
          `Servers use ${quoted(names)}. Remove them from these servers first. Nothing was deleted.`,
        )
      }
      await store.removeTools(tx, ids)
      await touchToolkit(tx, toolkitId)
      announce({ type: 'toolkit_changed', toolkitId })
    }),
})

export type ToolSelection = ReturnType<typeof createToolSelection>
