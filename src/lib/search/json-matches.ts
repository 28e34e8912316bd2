import { countLines } from '../json/format-counts.ts'
import { hasMembers } from '../json/path.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { excerptOf, type IsMatch, isWithin, previewOf } from './excerpt.ts'
import type { Hit } from './find-hits.ts'
import { findSpans, type Matcher, type Span } from './matcher.ts'
import { fieldOf, pathOf } from './place-paths.ts'
import { MAX_ITEM_CHARS } from './records.ts'
import type { Place, SearchableText } from './searchable-texts.ts'
import { contextAround } from './sentences.ts'

/** Characters shown of the value under a matching name. */
const NAMED_CHARS = 300
/** Characters shown of each neighboring value. */
const NEIGHBOUR_CHARS = 120
/** A record includes the object around it if that object has at most this many characters of JSON. */
const SMALL_RECORD_CHARS = 800
/** Characters shown of all records together, and the minimum and maximum per record. */
const RECORDS_CHARS = 4_000
const MIN_RECORD_CHARS = 600
const MAX_RECORD_CHARS = 4_000
/** For a match in a text longer than this, the surrounding sentences are shown instead of the record. */
const PROSE_CHARS = 200

const lineOf = (text: string, at: number): number => countLines(text.slice(0, at))

/** Returns the position of a hit's match in the text. */
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

/** Returns the result for a matching name, with the first value of that name. */
const toNameResult = ({ place, text }: SearchableText): JsonObject => ({
  path: fieldOf(place),
  field: text,
  value: previewOf(place.value, NAMED_CHARS),
})

/** Returns the result for a matching value: the whole value, or an excerpt around the match. */
export const toResult = (
  entry: SearchableText,
  unit: Span,
  span: Span | undefined,
  contextLines: number,
): JsonObject => {
  const { place, text } = entry
  if (entry.isName) return withNeighbours(toNameResult(entry), place, contextLines)
  const path = pathOf(place)
  if (typeof place.value !== 'string') return withNeighbours({ path, value: place.value }, place, contextLines)
  const isLine = unit.start > 0 || unit.end < text.length
  if (!isLine) return withNeighbours({ path, value: excerptOf(text, span) }, place, contextLines)
  const inLine = span === undefined ? undefined : { start: span.start - unit.start, end: span.end - unit.start }
  const value = excerptOf(text.slice(unit.start, unit.end), inLine)
  return withNeighbours({ path, line: lineOf(text, unit.start + 1), value }, place, contextLines)
}

/** Returns the record of a match: the outermost small object or list around it, but at most one item of a list. */
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

/** Returns a large object with only its small members, because the others may be most of the document. */
const ownMembers = (value: JsonValue): JsonValue => {
  if (!hasMembers(value) || isWithin(value, MAX_ITEM_CHARS)) return value
  const own = Object.entries(value).filter(
    ([, member]) => typeof member === 'string' || isWithin(member, MAX_RECORD_CHARS),
  )
  return Object.fromEntries(own)
}

/** Returns as much of a record as fits if `count` records share the available space. Matches come first. */
export const showRecord = (place: Place, count: number, isMatch: IsMatch): JsonValue => {
  const share = Math.floor(RECORDS_CHARS / Math.max(1, count))
  return previewOf(ownMembers(place.value), Math.min(MAX_RECORD_CHARS, Math.max(MIN_RECORD_CHARS, share)), isMatch)
}

/**
 * Returns each match with its context: the surrounding sentences in a long text, otherwise the whole record. A record
 * with several matches is returned once.
 */
export const toContextResults = (
  found: readonly { entry: SearchableText; span: Span | undefined }[],
  sentences: number,
  isMatch: IsMatch,
): readonly JsonObject[] => {
  const byRecord = new Map<Place, string[]>()
  const results: (() => JsonObject)[] = []
  let last: { place: Place; end: number } | undefined
  for (const { entry, span } of found) {
    if (!entry.isName && entry.text.length > PROSE_CHARS && span !== undefined) {
      const around = contextAround(entry.text, span, sentences)
      // The context overlaps that of the previous match, which is already shown.
      if (last?.place === entry.place && around.start < last.end) continue
      last = { place: entry.place, end: around.end }
      results.push(() => ({ path: pathOf(entry.place), context: entry.text.slice(around.start, around.end) }))
      continue
    }
    const record = entry.isName && hasMembers(entry.place.value) ? entry.place : recordOf(entry.place)
    const match = entry.isName ? fieldOf(entry.place) : pathOf(entry.place)
    const known = byRecord.get(record)
    if (known !== undefined) {
      known.push(match)
      continue
    }
    const matches = [match]
    byRecord.set(record, matches)
    results.push(() => ({ path: pathOf(record), matches, record: showRecord(record, results.length, isMatch) }))
  }
  return results.map(render => render())
}
