import type { Database } from '../../lib/db/client.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { assertDefinition, assertDefinitionSize } from '../../tools/tool-definition.ts'
import type { ImportItem } from '../import.ts'
import type { StoredResolution } from '../import-items.store.ts'
import { choosablePieces, compareTool, onlySideOf, type Resolution } from '../merge/compare-tools.ts'
import type { Side } from '../merge/merge-tool.ts'
import type { StoredComparison } from './compared-item.ts'
import { findComparison } from './compared-items.store.ts'
import { listSourcedTools } from './tool-sources.store.ts'

const refuse = (key: string, message: string, errors: readonly FieldError[]): AppError =>
  new AppError('invalid_request', `${key}: ${message}`, { errors: [...errors] })

/** Throws `invalid_request` unless pieces of both sides fit together. */
const assertFits = (key: string, tool: ToolDefinition): void => {
  try {
    assertDefinitionSize(tool)
    assertDefinition(tool)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const path = `items.${key}.resolve`
    throw refuse(key, 'The chosen parts do not fit together. Choose the same version of all of them.', [
      { path, message: `do not make a valid tool: ${error.message}` },
    ])
  }
}

/** Throws `invalid_request` if a piece is chosen that is not a conflict. */
const assertChoosable = (key: string, resolve: Resolution, pieces: readonly string[]): void => {
  if (typeof resolve !== 'object') return
  const unknown = Object.keys(resolve).filter(piece => !pieces.includes(piece))
  if (unknown.length === 0) return
  const errors = unknown.map(piece => ({ path: `items.${key}.resolve.${piece}`, message: 'is not a conflict' }))
  throw refuse(key, `There is nothing to choose for ${unknown.join(', ')}.`, errors)
}

/** Returns the comparison with the choices of pieces of both sides, and what callers would notice. */
const chooseIn = async (
  db: Database,
  item: ImportItem,
  { pieces, breaking: { mine, theirs } }: StoredComparison,
  choices: Readonly<Record<string, Side>>,
): Promise<StoredComparison> => {
  const { key, toolId = '' } = item
  const known = (await listSourcedTools(db, [toolId])).get(toolId)
  if (known === undefined || !('tool' in item))
    throw new AppError('conflict', 'The tool has been deleted meanwhile. Read the source again.')
  const { base, tool: current } = known
  const { tool, breaking } = compareTool({ base, mine: current, theirs: item.tool, resolve: choices })
  assertFits(key, tool)
  return { pieces, breaking: { mine, theirs, chosen: [...(breaking.chosen ?? [])] }, choices: { ...choices } }
}

/**
 * Returns how the conflicts of an item are resolved from now on. Undefined if that does not change. Throws
 * `invalid_request` if a piece is not a conflict, or if the chosen pieces do not make a valid tool.
 */
export const resolveConflicts = async (
  db: Database,
  item: ImportItem,
  resolve: Resolution | null | undefined,
): Promise<StoredResolution | undefined> => {
  if (resolve === undefined) return undefined
  const found = await findComparison(db, item.importId, item.key)
  const stored = found && { pieces: found.pieces, breaking: found.breaking }
  if (resolve === null) return { resolve: undefined, comparison: stored }
  const pieces = choosablePieces(stored?.pieces ?? [])
  assertChoosable(item.key, resolve, pieces)
  const side = onlySideOf(resolve, pieces)
  if (side !== undefined || stored === undefined || typeof resolve !== 'object') {
    return { resolve: side, comparison: stored }
  }
  return { resolve: undefined, comparison: await chooseIn(db, item, stored, resolve) }
}
