import { removeSends } from '../history/response-sizes.store.ts'
import type { Transaction } from '../lib/db/client.ts'
import { changedMeanwhile } from '../lib/kernel/conflicts.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { MAX_TOOLS_PER_TOOLKIT } from '../lib/kernel/limits.ts'
import { createPause } from '../lib/worker/pause.ts'
import { toStored } from './stored-definition.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import type { CompiledDefinition } from './tool-definition.ts'
import { uniqueToolName } from './tool-names.ts'
import * as store from './tools.store.ts'

/** A tool that was checked, and its row, made before the transaction that saves it. */
export type PreparedTool = { definition: ToolDefinition; compiled: CompiledDefinition; row: store.ToolRow }

export const prepareTool = (
  definition: ToolDefinition,
  compile: (definition: ToolDefinition) => CompiledDefinition,
): PreparedTool => {
  try {
    return { definition, compiled: compile(definition), row: toStored(definition) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { name } = definition
    const errors = error.errors?.map(({ path, message }) => ({ path: `${name}.${path}`, message }))
    throw new AppError(error.code, `The tool "${name}" cannot be saved: ${error.message}`, { cause: error, errors })
  }
}

/** Throws `limit_exceeded` if the toolkit cannot have `more` tools. */
export const assertRoomInToolkit = async (tx: Transaction, toolkitId: string, more = 1): Promise<void> => {
  if ((await store.countTools(tx, toolkitId)) + more <= MAX_TOOLS_PER_TOOLKIT) return
  throw new AppError('limit_exceeded', `A toolkit can have at most ${MAX_TOOLS_PER_TOOLKIT} tools.`)
}

/** Tools per statement. Writing this many takes a few milliseconds. */
const TOOLS_AT_ONCE = 50

/**
 * Creates tools in the caller's transaction, in the given order. A name that is taken gets a number. The caller checks
 * permissions and announces the change.
 */
export const addTools = async (
  tx: Transaction,
  toolkitId: string,
  prepared: readonly PreparedTool[],
): Promise<{ id: string; name: string }[]> => {
  await assertRoomInToolkit(tx, toolkitId, prepared.length)
  const taken = new Set(await store.listToolNames(tx, toolkitId))
  const rows = prepared.map(({ row }) => {
    const name = uniqueToolName(row.name, taken)
    taken.add(name)
    return { ...row, name }
  })
  const pause = createPause()
  const ids = new Map<string, string>()
  for (let at = 0; at < rows.length; at += TOOLS_AT_ONCE) {
    const created = await store.createTools(tx, toolkitId, rows.slice(at, at + TOOLS_AT_ONCE))
    for (const { id, name } of created) ids.set(name, id)
    await pause()
  }
  return rows.map(({ name }) => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`the tool ${name} was not created`)
    return { id, name }
  })
}

/** A tool as it was read, and what becomes of it. */
export type ToolUpdate = { tool: Tool; prepared: PreparedTool }

/**
 * Updates tools of one toolkit in the caller's transaction. A name that another tool has gets a number. Throws `conflict`
 * if one of them has changed since it was read. The caller checks permissions and announces the change.
 */
export const updateTools = async (
  tx: Transaction,
  toolkitId: string,
  updates: readonly ToolUpdate[],
): Promise<{ id: string; name: string }[]> => {
  const taken = new Set(await store.listToolNames(tx, toolkitId))
  const pause = createPause()
  const updated: { id: string; name: string }[] = []
  for (const { tool, prepared } of updates) {
    taken.delete(tool.name)
    const name = uniqueToolName(prepared.definition.name, taken)
    taken.add(name)
    const isWritten = await store.replaceRow(tx, tool, { ...prepared.row, name })
    if (!isWritten) throw changedMeanwhile(`the tool "${tool.name}"`)
    updated.push({ id: tool.id, name })
    await pause()
  }
  for (let at = 0; at < updated.length; at += TOOLS_AT_ONCE) {
    await removeSends(
      tx,
      updated.slice(at, at + TOOLS_AT_ONCE).map(({ id }) => id),
    )
  }
  return updated
}
