import { z } from 'zod'
import type { ImportItem } from '../import.ts'
import type { BreakingChange } from '../merge/breaking-changes.ts'
import type { PieceChange, Resolution } from '../merge/compare-tools.ts'
import type { ItemComparison } from './compare-import.ts'

/** How an import affects the callers of a tool: calls may fail, something else changes, or only texts change. */
export const IMPORT_IMPACTS = ['breaking', 'other', 'wording'] as const
export type ImportImpact = (typeof IMPORT_IMPACTS)[number]

const text = z.string()

const StoredPiece = z.object({
  piece: text,
  change: z.enum(['mine', 'theirs', 'conflict']),
  isWording: z.boolean(),
  mine: text.optional(),
  theirs: text.optional(),
})

const StoredBreaking = z.array(z.object({ parameter: text.optional(), message: text }))

/** The chosen version of each piece, if they are not of one side. */
const Choices = z.record(text, z.enum(['mine', 'theirs']))

export const StoredComparison = z.object({
  pieces: z.array(StoredPiece),
  breaking: z.object({ mine: StoredBreaking, theirs: StoredBreaking, chosen: StoredBreaking.optional() }),
  choices: Choices.optional(),
})
export type StoredComparison = z.infer<typeof StoredComparison>

const WithChoices = z.object({ choices: Choices.optional() })

/** Returns whose version an item keeps, from its columns. */
export const toResolution = (resolve: 'mine' | 'theirs' | null, comparison: unknown): Resolution | undefined =>
  (comparison === null ? undefined : WithChoices.parse(comparison).choices) ?? resolve ?? undefined

/** A tool that an import changes, or whose operation is gone. */
export type ComparedItem = Pick<
  ImportItem,
  'position' | 'key' | 'method' | 'path' | 'selected' | 'state' | 'resolve'
> & {
  /** The name of the tool as the source has it now, or as it is in the toolkit if its operation is gone. */
  name: string | undefined
  toolId: string
  impact: ImportImpact
  pieces: readonly PieceChange[]
  /** Breaking changes with the chosen resolution of conflicts. */
  breaking: readonly BreakingChange[]
}

export const impactOf = ({ state, pieces, breaking }: ItemComparison): ImportImpact | undefined => {
  if (state === 'same') return undefined
  if (breaking.mine.length > 0) return 'breaking'
  return pieces.every(({ change, isWording }) => change === 'mine' || isWording) ? 'wording' : 'other'
}
