import { hasMembers } from '../json/path.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { excerptOf, type IsWanted, isWithin, previewOf } from './excerpt.ts'
import type { Hit } from './find-hits.ts'
import { findSpans, type Matcher, type Span } from './matcher.ts'
import { fieldOf, pathOf } from './place-paths.ts'
import { MAX_ITEM_CHARS } from './records.ts'
import type { Place, SearchableText } from './searchable-texts.ts'
import { contextAround } from './sentences.ts'

/** Characters shown of what stands under a name that was found. */
const NAMED_CHARS = 300
/** Characters shown of each neighbour. */
const NEIGHBOUR_CHARS = 120
/** A record that is not larger is shown with what it stands in. */
const SMALL_RECORD_CHARS = 800
/** Characters shown of all records together, and of each at least and at most. */
const RECORDS_CHARS = 8_000
const MIN_RECORD_CHARS = 800
const MAX_RECORD_CHARS = 4_000
/** A text that is longer is read by its sentences, not by the record that it stands in. */
const PROSE_CHARS = 200

const lineOf = (text: string, at: number): number => {
  let line = 1
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line++
  return line
}

/** Where the match stands in the text, from the unit it was found in. */
export const locate = (hit: Hit, text: string, matcher: Matcher): Span | undefined => {
  if (hit.span !== undefined) return hit.span
  const [found] = findSpans(matcher, text.slice(hit.unit.start, hit.unit.end), 1, () => false)
  return found === undefined ? undefined : { start: found.start + hit.unit.start, end: found.end + hit.unit.start }
}

const neighboursOf = ({ parent, key }: Place, count: number): JsonValue | undefined => {
  const around = parent?.value
  if (Array.isArray(around)) {
    const at = Number(key)
    return around.slice(Math.max(0, at - count), at + count + 1).map(each => previewOf(each, NEIGHBOUR_CHARS))
  }
  if (around === undefined || !hasMembers(around)) return undefined
  const before: string[] = []
  const after: string[] = []
  let isBehind = false
  for (const name in around) {
    if (isBehind) after.push(name)
    else if (name === key) isBehind = true
    else before.push(name)
    if (before.length > count) before.shift()
    if (after.length === count && isBehind) break
  }
  const near = [...before, String(key), ...after]
  return Object.fromEntries(near.map(name => [name, previewOf(around[name] ?? null, NEIGHBOUR_CHARS)]))
}

const withNeighbours = (result: JsonObject, place: Place, count: number): JsonObject => {
  const near = count > 0 ? neighboursOf(place, count) : undefined
  return near === undefined ? result : { ...result, near }
}

/** A name that was found, with what stands under it where it is first. */
const toNameResult = ({ place, text }: SearchableText): JsonObject => ({
  path: fieldOf(place),
  field: text,
  value: previewOf(place.value, NAMED_CHARS),
})

/** A value that was found: whole, or what stands around the match. */
export const toResult = (
  leaf: SearchableText,
  unit: Span,
  span: Span | undefined,
  contextLines: number,
): JsonObject => {
  const { place, text } = leaf
  if (leaf.isName) return withNeighbours(toNameResult(leaf), place, contextLines)
  const path = pathOf(place)
  if (typeof place.value !== 'string') return withNeighbours({ path, value: place.value }, place, contextLines)
  const isLine = unit.start > 0 || unit.end < text.length
  if (!isLine) return withNeighbours({ path, value: excerptOf(text, span) }, place, contextLines)
  const inLine = span === undefined ? undefined : { start: span.start - unit.start, end: span.end - unit.start }
  const value = excerptOf(text.slice(unit.start, unit.end), inLine)
  return withNeighbours({ path, line: lineOf(text, unit.start + 1), value }, place, contextLines)
}

/** The object or list that a match is understood by: as far out as it stays small, at most to the item of a list. */
const recordOf = (place: Place): Place => {
  let record = place.parent ?? place
  while (
    record.parent !== undefined &&
    typeof record.key !== 'number' &&
    isWithin(record.parent.value, SMALL_RECORD_CHARS)
  ) {
    record = record.parent
  }
  return record
}

/** What stands directly in an object; what is below may be nearly all of the document. Of a long text a piece is shown. */
const ownMembers = (value: JsonValue): JsonValue => {
  if (!hasMembers(value) || isWithin(value, MAX_ITEM_CHARS)) return value
  const own = Object.entries(value).filter(
    ([, member]) => typeof member === 'string' || isWithin(member, MAX_RECORD_CHARS),
  )
  return Object.fromEntries(own)
}

/** As much of a record as there is room for with so many of them, what is wanted first. */
export const showRecord = (place: Place, count: number, isWanted: IsWanted): JsonValue => {
  const share = Math.floor(RECORDS_CHARS / Math.max(1, count))
  return previewOf(ownMembers(place.value), Math.min(MAX_RECORD_CHARS, Math.max(MIN_RECORD_CHARS, share)), isWanted)
}

/** What is around matches: the sentences of a long text, else the record, once for all matches in it. */
export const toContextResults = (
  found: readonly { leaf: SearchableText; span: Span | undefined }[],
  sentences: number,
  isWanted: IsWanted,
): readonly JsonObject[] => {
  const byRecord = new Map<Place, string[]>()
  const results: (() => JsonObject)[] = []
  let last: { place: Place; end: number } | undefined
  for (const { leaf, span } of found) {
    if (!leaf.isName && leaf.text.length > PROSE_CHARS && span !== undefined) {
      const around = contextAround(leaf.text, span, sentences)
      // What was shown with the match before is not shown again.
      if (last?.place === leaf.place && around.start < last.end) continue
      last = { place: leaf.place, end: around.end }
      results.push(() => ({ path: pathOf(leaf.place), context: leaf.text.slice(around.start, around.end) }))
      continue
    }
    const record = leaf.isName && hasMembers(leaf.place.value) ? leaf.place : recordOf(leaf.place)
    const match = leaf.isName ? fieldOf(leaf.place) : pathOf(leaf.place)
    const known = byRecord.get(record)
    if (known !== undefined) {
      known.push(match)
      continue
    }
    const matches = [match]
    byRecord.set(record, matches)
    results.push(() => ({ path: pathOf(record), matches, record: showRecord(record, results.length, isWanted) }))
  }
  return results.map(render => render())
}
