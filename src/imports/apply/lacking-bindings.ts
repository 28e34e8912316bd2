import type { Transaction } from '../../lib/db/client.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import type { Bindings } from '../../servers/server.ts'
import { listBindingsOfTools } from '../../servers/tools/instances.store.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { PreparedTool } from '../../tools/tool-batch.ts'

/** A tool that was saved. `before` is what it was, if it was there. */
export type SavedTool = { id: string; name: string; prepared: PreparedTool; before?: ToolDefinition | undefined }

/** An instance of an updated tool, with those default bindings of the new version that it lacks. */
export type LackingInstance = { id: string; prepared: PreparedTool; bindings: Bindings; defaults: Bindings }

/** Returns the default bindings that an update has added to a tool. */
const addedDefaults = ({ prepared, before }: SavedTool): Bindings => {
  if (before === undefined) return {}
  const known = defaultBindingsOf(before)
  const now = Object.entries(defaultBindingsOf(prepared.definition))
  return Object.fromEntries(now.filter(([name]) => !Object.hasOwn(known, name)))
}

/**
 * Returns the instances that lack bindings which an update has added to their tools, by server. Parameters that are bound
 * already, also to the model, stay as they are. So do unbound ones with an older default: a builder has unbound them.
 */
export const listLackingInstances = async (
  tx: Transaction,
  tools: readonly SavedTool[],
): Promise<ReadonlyMap<string, readonly LackingInstance[]>> => {
  const updated = new Map(tools.map(tool => [tool.id, { ...tool, added: Object.entries(addedDefaults(tool)) }]))
  const ids = [...updated.values()].flatMap(({ id, added }) => (added.length === 0 ? [] : [id]))
  const lacking = (await listBindingsOfTools(tx, ids)).flatMap(({ id, serverId, toolId, bindings }) => {
    const { prepared, added = [] } = updated.get(toolId) ?? {}
    const defaults = added.filter(([name]) => !Object.hasOwn(bindings, name))
    if (prepared === undefined || defaults.length === 0) return []
    return [{ id, serverId, prepared, bindings, defaults: Object.fromEntries(defaults) }]
  })
  return Map.groupBy(lacking, ({ serverId }) => serverId)
}
