import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { NEWEST_RULES } from '../../templates/template.ts'
import { listUnencodedFields } from '../../templates/unencoded-fields.ts'
import { toStored } from '../stored-definition.ts'
import type { Snapshot, Tool, Toolkit } from '../tool.ts'
import { createSnapshot, renewSnapshot } from '../toolkits.store.ts'
import { copyTools, listAllTools, removeTool, updateTool } from '../tools.store.ts'

/** The current and new values of a field. A value is null if the field is missing. */
export type FieldChange = { field: string; from: JsonValue; to: JsonValue }

/** The tools that a pending update would add, change and remove. */
export type SnapshotDifference = {
  /** Version of the origin that was used for the comparison. */
  version: string
  added: string[]
  changed: { name: string; fields: string[]; changes: FieldChange[] }[]
  removed: string[]
}

/** Access to the instances on the server that uses the snapshot. */
export type HolderOfSnapshot = {
  /** Names of the instances that use a tool. */
  instancesOf: (toolId: string) => Promise<readonly string[]>
  /** Throws if an instance of the copied tool rules out a change to the current original. */
  assertMayBecome: (copy: Tool, origin: Tool) => Promise<void>
}

const fieldsOf = (tool: Tool): Record<string, JsonValue> => {
  const { definition, ...columns } = toStored(tool)
  // Saving a tool again is a change only if its requests change.
  const isUnaffected = listUnencodedFields(tool).length === 0
  return { ...columns, ...definition, ...(isUnaffected && { templateRules: NEWEST_RULES }) }
}

const versionOf = (tools: readonly Tool[]): string =>
  hash('sha256', JSON.stringify(tools.map(tool => [tool.id, fieldsOf(tool)])), 'base64url')

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

/** Returns the difference between a snapshot and its current origin, or undefined if there is none. */
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

/** Throws `conflict` if the toolkit has changed since the given version was shown. */
export const assertVersion = async (tx: Transaction, toolkitId: string, version: string): Promise<void> => {
  if (versionOf(await listAllTools(tx, toolkitId)) === version) return
  throw new AppError(
    'conflict',
    'The toolkit has changed since you opened it. Review the pending update again before you accept it.',
  )
}

/** Copies a public toolkit of another organization for one server. */
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
 * Updates a snapshot to its current origin. Returns the names of the tools that were added, changed and removed. Throws
 * `conflict` if a removed tool is still in use, and rethrows errors from `assertMayBecome` for changed tools.
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
        `The update removes the tool "${tool.name}", which ${names} uses. Remove that instance first.`,
      )
    }
    await removeTool(tx, tool.id)
  }
  for (const { copy, origin: current } of changed) {
    if (current.problem !== undefined && (await instancesOf(copy.id)).length > 0) {
      const message = `The update makes the tool "${copy.name}" invalid, which this server uses. Its owner must fix it first.`
      throw new AppError('conflict', message)
    }
    await assertMayBecome(copy, current)
  }
  // Two tools may have swapped names, so each renamed copy first gets a temporary name that no tool can have.
  const renamed = changed.filter(({ copy, origin: current }) => copy.name !== current.name)
  for (const { copy } of renamed) await updateTool(tx, copy.id, { ...copy, name: `~${copy.id}` })
  for (const { copy, origin: current } of changed) await updateTool(tx, copy.id, current)
  await copyTools(tx, snapshot.id, added)
  await renewSnapshot(tx, snapshot.id, origin)
  return {
    added: added.map(({ name }) => name),
    changed: changed.map(({ origin: { name } }) => name),
    removed: removed.map(({ name }) => name),
  }
}
