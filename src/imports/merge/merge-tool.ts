import { isDeepStrictEqual } from 'node:util'
import { readTemplate } from '../../templates/compile.ts'
import { type ToolDefinition, ToolDocument } from '../../tools/tool.ts'
import { withoutLostPagination } from '../../tools/tool-definition.ts'
import { areSameUnder, type BodyShape, type Pieces, shapeOf, toPieces } from './tool-pieces.ts'

export type Side = 'mine' | 'theirs'

/** The versions of a piece. Undefined where a side has no such piece. */
export type PieceVersions = { piece: string; base: unknown; mine: unknown; theirs: unknown }

export type ToolVersions = {
  /** As it was imported. */
  base: ToolDefinition
  /** As the source makes it now. */
  theirs: ToolDefinition
  /** As it is in the toolkit, maybe changed by hand. */
  mine: ToolDefinition
}

export type MergedTool = {
  /** Its template may be invalid if both sides changed it. */
  tool: ToolDefinition
  /** Pieces that are taken from the source. */
  changed: readonly PieceVersions[]
  /** Pieces that were changed by hand and stay. */
  kept: readonly PieceVersions[]
  /** Pieces that were changed on both sides, in different ways. Mine stays, unless `choices` says otherwise. */
  conflicts: readonly PieceVersions[]
}

type Comparison = Omit<MergedTool, 'tool'> & { pieces: Pieces }

const comparePieces = (
  { base, theirs, mine }: Record<keyof ToolVersions, Pieces>,
  choices: ReadonlyMap<string, Side>,
): Comparison => {
  const pieces = new Map<string, unknown>()
  const changed: PieceVersions[] = []
  const kept: PieceVersions[] = []
  const conflicts: PieceVersions[] = []
  for (const piece of new Set([...theirs.keys(), ...mine.keys(), ...base.keys()])) {
    const versions = { base: base.get(piece), theirs: theirs.get(piece), mine: mine.get(piece) }
    const isEdited = !isDeepStrictEqual(versions.mine, versions.base)
    const isMoved = !isDeepStrictEqual(versions.theirs, versions.base)
    const isConflict = isEdited && isMoved && !isDeepStrictEqual(versions.mine, versions.theirs)
    if (isConflict) conflicts.push({ piece, ...versions })
    else if (isEdited && !isMoved) kept.push({ piece, ...versions })
    else if (isMoved && !isEdited) changed.push({ piece, ...versions })
    const side: Side = isConflict ? (choices.get(piece) ?? 'mine') : isEdited ? 'mine' : 'theirs'
    if (versions[side] !== undefined) pieces.set(piece, versions[side])
  }
  return { pieces, changed, kept, conflicts }
}

const textsUnder = (pieces: Pieces, prefix: string): readonly string[] =>
  [...pieces].flatMap(([key, value]) => (key.startsWith(`${prefix}.`) && typeof value === 'string' ? [value] : []))

const objectUnder = (pieces: Pieces, prefix: string): Record<string, unknown> =>
  Object.fromEntries(
    [...pieces].flatMap(([key, value]) =>
      key.startsWith(`${prefix}.`) ? [[key.slice(prefix.length + 1), value]] : [],
    ),
  )

const writeUrl = (pieces: Pieces): string => {
  const query = textsUnder(pieces, 'url.query')
  return String(pieces.get('url.path') ?? '') + (query.length === 0 ? '' : `?${query.join('&')}`)
}

const writeBody = (pieces: Pieces, shape: BodyShape): unknown => {
  const members = textsUnder(pieces, 'body')
  if (shape === 'whole' || members.length === 0) return pieces.get('body')
  return shape === 'json' ? `{${members.join(', ')}}` : members.join('&')
}

/** The parts that are written from several pieces. */
const PARTS = {
  url: writeUrl,
  headers: (pieces: Pieces) => Object.values(objectUnder(pieces, 'headers')),
  body: writeBody,
  parameters: (pieces: Pieces) => objectUnder(pieces, 'parameters'),
  annotations: (pieces: Pieces) => {
    const annotations = objectUnder(pieces, 'annotations')
    return Object.keys(annotations).length === 0 ? undefined : annotations
  },
} as const

const Definition = ToolDocument.extend({
  name: ToolDocument.shape.method,
  title: ToolDocument.shape.body,
  description: ToolDocument.shape.body,
})

/** Writes a definition. Parts whose pieces are those of one side are written as that side writes them. */
const fromPieces = (
  pieces: Pieces,
  sides: readonly { tool: ToolDefinition; pieces: Pieces }[],
  shape: BodyShape,
): ToolDefinition => {
  const fields = [...pieces].filter(([key]) => !key.includes('.') && key !== 'body')
  const parts = (['url', 'headers', 'body', 'parameters', 'annotations'] as const).map(part => {
    const same = sides.find(side => areSameUnder(pieces, side.pieces, part))
    return [part, same === undefined ? PARTS[part](pieces, shape) : same.tool[part]] as const
  })
  return Definition.parse(Object.fromEntries([...fields, ...parts].filter(([, value]) => value !== undefined)))
}

const namesOf = (tool: ToolDefinition): readonly string[] => readTemplate(tool).parameters.map(({ name }) => name)

/**
 * Drops the metadata of parameters that the template no longer has, and brings back that of a placeholder which only mine
 * still has.
 */
const withOwnParameters = (tool: ToolDefinition, { mine, theirs }: ToolVersions): ToolDefinition => {
  const names = new Set(namesOf(tool))
  const theirNames = new Set(namesOf(theirs))
  const kept = Object.entries(tool.parameters).filter(([name]) => names.has(name))
  const lost = Object.entries(mine.parameters).filter(
    ([name]) => names.has(name) && !theirNames.has(name) && !Object.hasOwn(tool.parameters, name),
  )
  const isSame = kept.length === Object.keys(tool.parameters).length && lost.length === 0
  return isSame ? tool : { ...tool, parameters: Object.fromEntries([...kept, ...lost]) }
}

/**
 * Merges a tool with what its source makes of it now. A piece that only one side changed is taken from that side. Without
 * changes by hand, the result is theirs; without changes in the source, it is mine.
 */
export const mergeTool = (versions: ToolVersions, choices: ReadonlyMap<string, Side> = new Map()): MergedTool => {
  const shapes = new Set([versions.base, versions.theirs, versions.mine].flatMap(tool => shapeOf(tool) ?? []))
  const [only = 'whole'] = shapes
  const shape = shapes.size > 1 ? 'whole' : only
  const base = toPieces(versions.base, shape)
  const theirs = toPieces(versions.theirs, shape)
  const mine = toPieces(versions.mine, shape)
  const { pieces, ...report } = comparePieces({ base, theirs, mine }, choices)
  const sides = [
    { tool: versions.mine, pieces: mine },
    { tool: versions.theirs, pieces: theirs },
  ]
  const tool = withOwnParameters(fromPieces(pieces, sides, shape), versions)
  return { tool: withoutLostPagination(tool), ...report }
}
