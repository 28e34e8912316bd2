import type { PieceChange } from '../../imports/merge/compare-tools.ts'
import { isJsonObject, type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'

/** Pieces whose values are objects. Other pieces are texts, which may look like JSON. */
const OBJECTS = /^(?:parameters\.|headers\.|(?:response|pagination|inputSchema|outputSchema)$)/

type Leaf = readonly [name: string, text: string]

/** Lists the values in an object with their paths. A schema's keywords are shown as those of its parameter. */
const leavesOf = (value: JsonValue, path: readonly string[] = []): Leaf[] => {
  const [last = ''] = path.slice(-1)
  if (isJsonObject(value)) {
    if (last === 'binding') return [['bound to', `${value.secret === true ? 'secret' : 'global'} ${value.key}`]]
    return Object.entries(value).flatMap(([key, member]) => leavesOf(member, key === 'schema' ? path : [...path, key]))
  }
  const isList = Array.isArray(value) && value.every(one => typeof one === 'string')
  return [[path.join('.'), isList ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value)]]
}

/** Returns the leaves of an object that is stored as text. Undefined if it was too long, and has been cut. */
const parseLeaves = (text: string): Leaf[] | undefined => {
  const value = parseIfJson(text)
  return value === undefined ? undefined : leavesOf(value)
}

const without = (leaves: readonly Leaf[], others: readonly Leaf[]): string | undefined => {
  const known = new Map(others)
  const different = leaves.filter(([name, text]) => known.get(name) !== text)
  return different.map(([name, text]) => (name === '' ? text : `${name}: ${text}`)).join('; ') || undefined
}

/**
 * Returns the two versions of a piece as texts for readers: of objects, only the members that differ. Undefined where a
 * version has nothing.
 */
export const textsOfPiece = ({ piece, mine, theirs }: PieceChange) => {
  const raw = { mine: mine || undefined, theirs: theirs || undefined }
  if (!OBJECTS.test(piece)) return raw
  const [ofMine, ofTheirs] = [parseLeaves(mine ?? '{}'), parseLeaves(theirs ?? '{}')]
  if (ofMine === undefined || ofTheirs === undefined) return raw
  return { mine: without(ofMine, ofTheirs), theirs: without(ofTheirs, ofMine) }
}
