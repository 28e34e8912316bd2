import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { toStored } from '../stored-definition.ts'
import type { Snapshot, Tool, Toolkit } from '../tool.ts'
import { createSnapshot, renewSnapshot, touchToolkit } from '../toolkits.store.ts'
import { copyTools, listAllTools, removeTool, updateTool } from '../tools.store.ts'

/** What a field is and would be; null where there is none. */
export type FieldChange = { field: string; from: JsonValue; to: JsonValue }

/** What accepting a waiting update would change: tools by name, and of a changed one the fields that differ. */
export type SnapshotDifference = {
  /** Of the origin as it was compared: see `versionOf`. */
  version: string
  added: string[]
  changed: { name: string; fields: string[]; changes: FieldChange[] }[]
  removed: string[]
}

/** What the snapshot's server says of the tools it holds. */
export type HolderOfSnapshot = {
  /** Names of the instances that use a tool. */
  instancesOf: (toolId: string) => Promise<readonly string[]>
  /** Throws where the instances of a copy do not allow that it becomes what its origin is now. */
  assertMayBecome: (copy: Tool, origin: Tool) => Promise<void>
}

const fieldsOf = (tool: Tool): Record<string, JsonValue> => {
  const { definition, ...columns } = toStored(tool)
  return { ...columns, ...definition }
}

const versionOf = (tools: readonly Tool[]): string =>
  createHash('sha256')
    .update(JSON.stringify(tools.map(tool => [tool.id, fieldsOf(tool)])))
    .digest('base64url')

const fieldChanges = (a: Tool, b: Tool): FieldChange[] => {
  const [before, after] = [fieldsOf(a), fieldsOf(b)]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names]
    .filter(name => !isDeepStrictEqual(before[name], after[name]))
    .sort()
    .map(field => ({ field, from: before[field] ?? null, to: after[field] ?? null }))
}

const pairUp = (held: readonly Tool[], current: readonly Tool[]) => {
  const byOrigin = new Map(held.map(tool => [tool.originId, tool]))
  const currentIds = new Set(current.map(tool => tool.id))
  return {
    added: current.filter(tool => !byOrigin.has(tool.id)),
    changed: current.flatMap(origin => {
      const copy = byOrigin.get(origin.id)
      const changes = copy === undefined ? [] : fieldChanges(copy, origin)
      return copy === undefined || changes.length === 0 ? [] : [{ copy, origin, changes }]
    }),
    removed: held.filter(tool => tool.originId === undefined || !currentIds.has(tool.originId)),
  }
}

/** The difference between a snapshot and its origin as it is now; undefined when there is none. */
export const compareSnapshot = async (tx: Transaction, snapshot: Snapshot): Promise<SnapshotDifference | undefined> => {
  const current = await listAllTools(tx, snapshot.snapshotOfId)
  const { added, changed, removed } = pairUp(await listAllTools(tx, snapshot.id), current)
  if (added.length + changed.length + removed.length === 0) return undefined
  return {
    version: versionOf(current),
    added: added.map(tool => tool.name),
    changed: changed.map(({ copy, changes }) => ({
      name: copy.name,
      fields: changes.map(({ field }) => field),
      changes,
    })),
    removed: removed.map(tool => tool.name),
  }
}

/** Throws `conflict` when a toolkit's tools are no longer those of a version that somebody saw. */
export const assertVersion = async (tx: Transaction, toolkitId: string, version: string): Promise<void> => {
  if (versionOf(await listAllTools(tx, toolkitId)) === version) return
  throw new AppError('conflict', 'The toolkit changed meanwhile: look at its waiting update again, then accept that.')
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
 * Makes the snapshot what its origin is now. Answers the names of the tools that are other than before.
 * Throws `conflict` when a tool that is gone there is at work here, and what `assertMayBecome` throws of a changed one.
 */
export const acceptUpdate = async (
  tx: Transaction,
  snapshot: Snapshot,
  origin: Toolkit,
  { instancesOf, assertMayBecome }: HolderOfSnapshot,
): Promise<{ added: string[]; changed: string[]; removed: string[] }> => {
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
  for (const { copy, origin: current } of changed) await assertMayBecome(copy, current)
  // Two tools may have swapped names: every copy that gets another first gets one that no tool can have.
  const renamed = changed.filter(({ copy, origin: current }) => copy.name !== current.name)
  for (const { copy } of renamed) await updateTool(tx, copy.id, { ...copy, name: `~${copy.id}` })
  for (const { copy, origin: current } of changed) await updateTool(tx, copy.id, current)
  await copyTools(tx, snapshot.id, added)
  await renewSnapshot(tx, snapshot.id, origin)
  await touchToolkit(tx, snapshot.id)
  return {
    added: added.map(({ name }) => name),
    changed: changed.map(({ origin: { name } }) => name),
    removed: removed.map(({ name }) => name),
  }
}
