import type { Database } from '../../lib/db/client.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { PreparedTool, ToolUpdate } from '../../tools/tool-batch.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { compareTool, isSameTool } from '../merge/compare-tools.ts'
import { listToolsToUpdate, type SelectedItem, type ToolToUpdate } from './apply.store.ts'
import { allowOrigin } from './wanted-globals.ts'

/** An operation with its tool as generated. */
export type Generated = SelectedItem & { tool: ToolDefinition }

export type PreparedTools = {
  created: readonly { item: Generated; prepared: PreparedTool }[]
  updated: readonly ({ item: Generated } & ToolUpdate)[]
  /** Operations whose tools stay as they are, although the source may have changed. */
  unchanged: readonly (Generated & { toolId: string })[]
  skipped: readonly { key: string; reason: string }[]
}

const isGenerated = (item: SelectedItem): item is Generated => item.tool !== undefined

/** Returns whether neither the source nor the builder changes the tool. */
const isUnchanged = ({ state, edits }: Generated): boolean => state === 'same' && Object.keys(edits).length === 0

const reasonOf = ({ reason }: SelectedItem): string => reason ?? 'The source no longer has this operation.'

type OriginOf = (tool: ToolDefinition) => string | undefined

const withEdits = (
  tool: ToolDefinition,
  { name = tool.name, description = tool.description }: SelectedItem['edits'],
) => ({
  ...tool,
  name,
  description,
})

/** Returns the tool of an operation as the import creates it. */
export const newToolOf = (
  { tool, edits, proposedName = tool.name }: Pick<Generated, 'tool' | 'edits' | 'proposedName'>,
  originOf: OriginOf,
): ToolDefinition => allowOrigin(withEdits({ ...tool, name: proposedName }, edits), originOf(tool))

/** Returns a tool of the toolkit with what the source changed. Changes by hand stay, and so do conflicts unless resolved. */
export const updatedToolOf = (item: Generated, { tool: mine, base = mine }: ToolToUpdate): ToolDefinition => {
  const { tool } = compareTool({ base, mine, theirs: item.tool, resolve: item.resolve })
  return withEdits(tool, item.edits)
}

/** Prepares what is saved for the selected operations, before the transaction. Yields to the event loop. */
export const prepareTools = async (
  { db, tools }: { db: Database; tools: Pick<ToolService, 'prepareTools'> },
  toolkitId: string,
  selected: readonly SelectedItem[],
  originOf: OriginOf,
): Promise<PreparedTools> => {
  const generated = selected.filter(isGenerated).filter(({ state }) => state !== 'gone')
  const known = await listToolsToUpdate(
    db,
    toolkitId,
    generated.flatMap(({ toolId }) => toolId ?? []),
  )
  const toUpdate = generated.flatMap(item => {
    const there = item.toolId === undefined || isUnchanged(item) ? undefined : known.get(item.toolId)
    return there === undefined ? [] : [{ item, there }]
  })
  const added = generated.filter(({ toolId }) => toolId === undefined || !known.has(toolId))
  const created = await tools.prepareTools(added.map(item => newToolOf(item, originOf)))
  const compared = await mapInTurns(toUpdate, ({ item, there }) => ({ item, there, tool: updatedToolOf(item, there) }))
  const changed = compared.filter(({ tool, there }) => !isSameTool(tool, there.tool))
  const updated = await tools.prepareTools(changed.map(({ tool }) => tool))
  const kept = new Set([
    ...generated.filter(isUnchanged),
    ...compared.filter(one => !changed.includes(one)).map(({ item }) => item),
  ])
  const zip = <One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] =>
    ones.flatMap((one, index) => {
      const other = others[index]
      return other === undefined ? [] : [[one, other]]
    })
  return {
    created: zip(added, created).map(([item, prepared]) => ({ item, prepared })),
    updated: zip(changed, updated).map(([{ item, there }, prepared]) => ({ item, tool: there.tool, prepared })),
    unchanged: [...kept].flatMap(({ toolId, ...item }) =>
      toolId !== undefined && known.has(toolId) ? [{ ...item, toolId }] : [],
    ),
    skipped: selected
      .filter(item => !isGenerated(item) || item.state === 'gone')
      .map(item => ({ key: item.key, reason: reasonOf(item) })),
  }
}
