import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../lib/kernel/errors.ts'
import { shorten } from '../../lib/kernel/format.ts'
import { NEWEST_RULES } from '../../templates/template.ts'
import { toStored } from '../../tools/stored-definition.ts'
import { type ToolDefinition, ToolDocument } from '../../tools/tool.ts'
import { assertDefinition, assertDefinitionSize } from '../../tools/tool-definition.ts'
import { type BreakingChange, findBreakingChanges } from './breaking-changes.ts'
import { type MergedTool, mergeTool, type PieceVersions, type Side, type ToolVersions } from './merge-tool.ts'

/** Longer texts are shortened: they are only shown. */
const MAX_SHOWN_CHARS = 1_000
/** Maximum number of pieces shown per tool. */
const MAX_PIECES = 100

/**
 * A piece of a tool that differs from what was imported before. `theirs`: the source changed it, and it is taken from
 * there. `mine`: it was changed by hand, and stays. `conflict`: both changed it. A version that has no such piece has no
 * text.
 */
export type PieceChange = {
  piece: string
  change: Side | 'conflict'
  /** Whether only text for models and people differs. */
  isWording: boolean
  mine?: string | undefined
  theirs?: string | undefined
}

/** How conflicts are resolved: all with one side, or each piece with its own. Pieces without a side keep `mine`. */
export type Resolution = Side | Readonly<Record<string, Side>>

export type ComparedTool = {
  state: 'same' | 'changed' | 'conflict'
  /** The tool as it will be, with the given resolution of conflicts. Invalid if pieces of both sides do not fit. */
  tool: ToolDefinition
  pieces: readonly PieceChange[]
  /** Breaking changes, for each resolution of the conflicts. `chosen` is for a resolution by piece. */
  breaking: Readonly<Record<Side, readonly BreakingChange[]>> & { chosen?: readonly BreakingChange[] }
}

export type ToolToCompare = ToolVersions & {
  resolve?: Resolution | undefined
  /** Returns whether the source has a value for a global that is not secret. */
  hasValue?: (key: string) => boolean
}

/** Leaves out metadata without members. It says nothing, and the tool editor does not store it. */
const withoutEmptyMetadata = (parameters: ToolDefinition['parameters']): ToolDefinition['parameters'] =>
  Object.fromEntries(Object.entries(parameters).filter(([, metadata]) => Object.keys(metadata).length > 0))

/** Returns a definition in the form in which it is stored, without the reason why it cannot be used. */
const normalize = (tool: ToolDefinition): ToolDefinition => {
  const { definition, name, title, description } = toStored({
    ...tool,
    problem: undefined,
    templateRules: NEWEST_RULES,
  })
  const document = ToolDocument.parse(definition)
  return {
    ...document,
    parameters: withoutEmptyMetadata(document.parameters),
    name,
    ...(title !== null && { title }),
    ...(description !== null && { description }),
  }
}

/** Returns whether two definitions are stored in the same way. */
export const isSameTool = (one: ToolDefinition, other: ToolDefinition): boolean =>
  isDeepStrictEqual(normalize(one), normalize(other))

const normalizeAll = ({ base, mine, theirs }: ToolVersions): ToolVersions => ({
  base: normalize(base),
  mine: normalize(mine),
  theirs: normalize(theirs),
})

const isText = (value: unknown): value is { description?: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWording = ({ piece, base, mine, theirs }: PieceVersions, side: Side): boolean => {
  if (piece === 'description' || piece === 'title' || piece === 'annotations.title') return true
  const [before, after] = side === 'mine' ? [base, mine] : [base, theirs]
  if (!piece.startsWith('parameters.') || !isText(before) || !isText(after)) return false
  return isDeepStrictEqual({ ...before, description: undefined }, { ...after, description: undefined })
}

const toText = (value: unknown): string =>
  shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_SHOWN_CHARS)

const toPieceChange = (versions: PieceVersions, change: PieceChange['change']): PieceChange => ({
  piece: versions.piece,
  change,
  isWording: isWording(versions, change === 'mine' ? 'mine' : 'theirs'),
  ...(versions.mine !== undefined && { mine: toText(versions.mine) }),
  ...(versions.theirs !== undefined && { theirs: toText(versions.theirs) }),
})

/** Stands for the whole tool if the two versions cannot be combined. */
const WHOLE = 'request'

/** Returns the pieces for which a version can be chosen: all conflicts, or only the whole tool. */
export const choosablePieces = (pieces: readonly PieceChange[]): readonly string[] => {
  const conflicts = pieces.flatMap(({ piece, change }) => (change === 'conflict' ? [piece] : []))
  return conflicts.includes(WHOLE) ? [WHOLE] : conflicts
}

/** Returns whose version of a piece is kept. */
export const sideOfPiece = (resolve: Resolution | undefined, piece: string): Side => {
  if (typeof resolve !== 'object') return resolve ?? 'mine'
  return (Object.hasOwn(resolve, piece) ? resolve[piece] : undefined) ?? 'mine'
}

/** Returns the side whose version of all pieces is kept. Undefined if they are of both sides. */
export const onlySideOf = (resolve: Resolution | undefined, pieces: readonly string[]): Side | undefined => {
  if (typeof resolve !== 'object') return resolve ?? 'mine'
  const [side = 'mine', ...others] = new Set(pieces.map(piece => sideOfPiece(resolve, piece)))
  return others.length === 0 ? side : undefined
}

const wholeTool = ({ mine, theirs }: ToolVersions): PieceChange => ({
  piece: WHOLE,
  change: 'conflict',
  isWording: false,
  mine: toText(`${mine.method} ${mine.url}`),
  theirs: toText(`${theirs.method} ${theirs.url}`),
})

const choosing = (side: Side, { conflicts }: MergedTool): ReadonlyMap<string, Side> =>
  new Map(conflicts.map(({ piece }) => [piece, side]))

const canBeSaved = (tool: ToolDefinition): boolean => {
  try {
    assertDefinitionSize(tool)
    assertDefinition(tool)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** Merges a tool with all conflicts resolved in one way. If the result is invalid, returns that side's version. */
const resolveTool = (
  versions: ToolVersions,
  merged: MergedTool,
  side: Side,
): { tool: ToolDefinition; isCombined: boolean } => {
  const { tool } = side === 'mine' ? merged : mergeTool(versions, choosing(side, merged))
  return canBeSaved(tool) ? { tool, isCombined: true } : { tool: versions[side], isCombined: false }
}

const NO_CHANGES = { state: 'same', pieces: [], breaking: { mine: [], theirs: [] } } as const

/** Merges a tool with the chosen version of each conflict. */
const mergeChosen = (versions: ToolVersions, { conflicts }: MergedTool, resolve: Resolution): ToolDefinition =>
  mergeTool(versions, new Map(conflicts.map(({ piece }) => [piece, sideOfPiece(resolve, piece)]))).tool

/** Compares a tool with what its source makes of it now. Conflicts keep mine unless `resolve` says otherwise. */
export const compareTool = ({ resolve = 'mine', hasValue = () => true, ...given }: ToolToCompare): ComparedTool => {
  const versions = normalizeAll(given)
  const { mine, base, theirs } = versions
  if (isDeepStrictEqual(base, theirs) && isDeepStrictEqual(base, mine)) return { ...NO_CHANGES, tool: mine }
  const merged = mergeTool(versions)
  const { conflicts, changed, kept } = merged
  const ofMine = changed.length === 0 ? { tool: mine, isCombined: true } : resolveTool(versions, merged, 'mine')
  const isConflict = conflicts.length > 0 || !ofMine.isCombined
  const ofTheirs = isConflict ? resolveTool(versions, merged, 'theirs') : ofMine
  const pieces = [
    ...conflicts.map(piece => toPieceChange(piece, 'conflict')),
    ...(ofMine.isCombined ? [] : [wholeTool(versions)]),
    ...changed.map(piece => toPieceChange(piece, 'theirs')),
    ...kept.map(piece => toPieceChange(piece, 'mine')),
  ]
  const side = onlySideOf(resolve, choosablePieces(pieces))
  const chosen = side === undefined ? mergeChosen(versions, merged, resolve) : undefined
  return {
    state: isConflict ? 'conflict' : changed.length > 0 ? 'changed' : 'same',
    tool: chosen ?? (side === 'mine' ? ofMine : ofTheirs).tool,
    pieces: pieces.slice(0, MAX_PIECES),
    breaking: {
      mine: findBreakingChanges(mine, ofMine.tool, hasValue),
      theirs: findBreakingChanges(mine, ofTheirs.tool, hasValue),
      ...(chosen !== undefined && { chosen: findBreakingChanges(mine, chosen, hasValue) }),
    },
  }
}
