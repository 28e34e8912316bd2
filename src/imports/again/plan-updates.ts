import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../../lib/db/client.ts'
import { definedFields } from '../../lib/kernel/missing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { type PreparedUpdate, updateTools } from '../../tools/tool-batch.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import type { Import, ImportItem } from '../import.ts'
import { compareTool, normalizeTool } from '../merge/compare-tools.ts'
import type { NewTool } from '../openapi/imported-operation.ts'
import { GENERATOR } from './compare-import.ts'
import * as store from './tool-sources.store.ts'

/** Tools per query. Each has two definitions of a few kilobytes. */
const TOOLS_AT_ONCE = 100

/** An item whose operation a tool was made from before. */
type KnownItem = ImportItem & { toolId: string; tool: NewTool }

/** What an import changes in tools that exist. */
export type PlannedUpdates = {
  updates: readonly PreparedUpdate[]
  /** The definitions with which the tools are compared next time. */
  bases: readonly store.NewToolSource[]
}

const isChosen = (item: ImportItem): item is KnownItem =>
  item.toolId !== undefined && 'tool' in item && (item.state === 'same' || (item.selected && item.state !== 'gone'))

const planTool = (item: KnownItem, sourced: store.SourcedTool, source: store.SourceVersion) => {
  const { toolId, key, operationId, tool: theirs, edits, resolve, state } = item
  const { tool: mine, base, generator, sha256 } = sourced
  const isRemade = generator < GENERATOR && sha256 !== undefined && sha256 === source.sha256
  // Without a change of the source, what a newer generator makes of it counts only with the next change.
  if (state === 'same' && isRemade) return []
  const { tool: merged } = compareTool({ base: isRemade ? theirs : base, mine, theirs, resolve })
  const definition = state === 'same' ? mine : { ...merged, ...definedFields(edits) }
  const isChanged = state !== 'same' && !isDeepStrictEqual(normalizeTool(definition), normalizeTool(mine))
  const newBase = { ...source, toolId, key, operationId, base: theirs, generator: GENERATOR }
  return [{ tool: mine, definition: isChanged ? definition : undefined, newBase }]
}

/**
 * Works out what the selected items of an import change in tools that exist, with the resolutions of conflicts and the
 * edits of the builder. Checks each tool as saving would. Must not be called in a transaction, because many tools take
 * seconds; the caller makes sure that the toolkit has not changed when it applies the updates.
 */
export const planUpdates = async (
  { db, tools }: { db: Database; tools: Pick<ToolService, 'prepareTools'> },
  { sha256, summary }: Pick<Import, 'sha256' | 'summary'>,
  items: readonly ImportItem[],
): Promise<PlannedUpdates> => {
  const chosen = items.filter(isChosen)
  const source = { sha256, title: summary?.title }
  const updates: PreparedUpdate[] = []
  const bases: store.NewToolSource[] = []
  for (let at = 0; at < chosen.length; at += TOOLS_AT_ONCE) {
    const batch = chosen.slice(at, at + TOOLS_AT_ONCE)
    const ids = batch.map(({ toolId }) => toolId)
    const known = await store.listSourcedTools(db, ids)
    const planned = (
      await mapInTurns(batch, item => {
        const sourced = known.get(item.toolId)
        return sourced === undefined ? [] : planTool(item, sourced, source)
      })
    ).flat()
    bases.push(...planned.map(({ newBase }) => newBase))
    const changed = planned.flatMap(({ tool, definition }) => (definition === undefined ? [] : [{ tool, definition }]))
    const prepared = await tools.prepareTools(changed.map(({ definition }) => definition))
    updates.push(
      ...changed.flatMap(({ tool }, index) => {
        const one = prepared[index]
        return one === undefined ? [] : [{ tool, prepared: one }]
      }),
    )
  }
  return { updates, bases }
}

/**
 * Applies planned updates in the transaction of the import. The caller has checked that the toolkit is as it was when
 * they were planned, and announces the change.
 */
export const applyUpdates = async (
  tx: Transaction,
  toolkitId: string,
  { updates, bases }: PlannedUpdates,
): Promise<void> => {
  if (updates.length > 0) await updateTools(tx, toolkitId, updates)
  await store.replaceToolSources(tx, bases)
}
