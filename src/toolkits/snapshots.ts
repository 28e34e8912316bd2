import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { toStored } from './stored-definition.ts'
import type { Snapshot, Tool, Toolkit } from './tool.ts'
import { createSnapshot, renewSnapshot, touchToolkit } from './toolkits.store.ts'
import { copyTools, listAllTools, removeTool, updateTool } from './tools.store.ts'

/** What accepting a waiting update would change: tools by name, and of a changed one the fields that differ. */
export type SnapshotDifference = {
  added: string[]
  changed: { name: string; fields: string[] }[]
  removed: string[]
}

const fieldsOf = (tool: Tool): Record<string, unknown> => {
  const { definition, ...columns } = toStored(tool)
  return { ...columns, ...definition }
}

const differingFields = (a: Tool, b: Tool): string[] => {
  const [before, after] = [fieldsOf(a), fieldsOf(b)]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter(name => !isDeepStrictEqual(before[name], after[name])).sort()
}

const pairUp = (held: readonly Tool[], current: readonly Tool[]) => {
  const byOrigin = new Map(held.map(tool => [tool.originId, tool]))
  const currentIds = new Set(current.map(tool => tool.id))
  return {
    added: current.filter(tool => !byOrigin.has(tool.id)),
    changed: current.flatMap(origin => {
      const copy = byOrigin.get(origin.id)
      return copy === undefined || differingFields(copy, origin).length === 0 ? [] : [{ copy, origin }]
    }),
    removed: held.filter(tool => tool.originId === undefined || !currentIds.has(tool.originId)),
  }
}

/** The difference between a snapshot and its origin as it is now; undefined when there is none. */
export const compareSnapshot = async (tx: Transaction, snapshot: Snapshot): Promise<SnapshotDifference | undefined> => {
  const { added, changed, removed } = pairUp(
    await listAllTools(tx, snapshot.id),
    await listAllTools(tx, snapshot.snapshotOfId),
  )
  if (added.length + changed.length + removed.length === 0) return undefined
  return {
    added: added.map(tool => tool.name),
    changed: changed.map(({ copy, origin }) => ({ name: copy.name, fields: differingFields(copy, origin) })),
    removed: removed.map(tool => tool.name),
  }
}

/** Copies a public toolkit of another organization into ours, for one server. */
export const takeSnapshot = async (
  tx: Transaction,
  origin: Toolkit,
  holder: { organizationId: string; serverId: string },
): Promise<Snapshot> => {
  const snapshot = await createSnapshot(tx, origin, holder)
  await copyTools(tx, snapshot.id, await listAllTools(tx, origin.id))
  return snapshot
}

/**
 * Makes the snapshot what its origin is now.
 * Throws `conflict` when a tool that is gone there is at work here: `instancesOf` names the instances.
 */
export const acceptUpdate = async (
  tx: Transaction,
  snapshot: Snapshot,
  origin: Toolkit,
  instancesOf: (toolId: string) => Promise<readonly string[]>,
): Promise<void> => {
  const { added, changed, removed } = pairUp(await listAllTools(tx, snapshot.id), await listAllTools(tx, origin.id))
  for (const tool of removed) {
    const instances = await instancesOf(tool.id)
    if (instances.length > 0) {
      const names = instances.map(name => `"${name}"`).join(', ')
      throw new AppError(
        'conflict',
        `The update removes the tool "${tool.name}", which ${names} uses: remove that first.`,
      )
    }
    await removeTool(tx, tool.id)
  }
  // Two tools may have swapped names: every copy that gets another first gets one that no tool can have.
  const renamed = changed.filter(({ copy, origin: current }) => copy.name !== current.name)
  for (const { copy } of renamed) await updateTool(tx, copy.id, { ...copy, name: `~${copy.id}` })
  for (const { copy, origin: current } of changed) await updateTool(tx, copy.id, current)
  await copyTools(tx, snapshot.id, added)
  await renewSnapshot(tx, snapshot.id, origin)
  await touchToolkit(tx, snapshot.id)
}
