import { sizeOf } from '../json/cut-json.ts'
import { endOfCharacter } from '../json/cut-text.ts'
import { findExactNumber } from '../json/exact-numbers.ts'
import { hasMembers } from '../json/path.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import type { Span } from './matcher.ts'

/** Values up to this length are shown whole. */
const MAX_WHOLE_CHARS = 300
/** Characters shown of a longer value: before the match, and in total. */
const LEAD_CHARS = 100
const EXCERPT_CHARS = 400

/** Whether the excerpt around a match also shows a later match. */
export const isInExcerpt = (shown: Span, later: Span): boolean =>
  later.end <= Math.max(0, shown.start - LEAD_CHARS) + EXCERPT_CHARS

/** Returns the text if it is short, or else an excerpt around the match, with an ellipsis for each omitted part. */
export const excerptOf = (text: string, span: Span | undefined): string => {
  if (text.length <= MAX_WHOLE_CHARS) return text
  const from = endOfCharacter(text, Math.max(0, Math.min((span?.start ?? 0) - LEAD_CHARS, text.length - EXCERPT_CHARS)))
  const to = endOfCharacter(text, Math.min(from + EXCERPT_CHARS, text.length))
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

const MAX_PREVIEW_STRING_CHARS = 200
const MAX_PREVIEW_ITEMS = 5
const MAX_PREVIEW_DEPTH = 4

const outline = (value: JsonValue[] | JsonObject): string => {
  if (Array.isArray(value)) return `[${value.length} items]`
  return `{${Object.keys(value).slice(0, MAX_PREVIEW_ITEMS).join(', ')}${Object.keys(value).length > MAX_PREVIEW_ITEMS ? ', …' : ''}}`
}

/** Returns whether a string matches the search. Matches are shown first. */
export type IsMatch = (text: string) => boolean

const holds = (value: JsonValue, isMatch: IsMatch): boolean => {
  if (typeof value === 'string') return isMatch(value)
  if (Array.isArray(value)) return value.some(item => holds(item, isMatch))
  if (hasMembers(value)) return Object.values(value).some(member => holds(member, isMatch))
  return value !== null && isMatch(String(value))
}

const matchesFirst = <T>(items: readonly T[], toValue: (item: T) => JsonValue, isMatch: IsMatch): readonly T[] => {
  const isHolding = items.map(item => holds(toValue(item), isMatch))
  return [...items.filter((_, index) => isHolding[index]), ...items.filter((_, index) => !isHolding[index])]
}

/** Returns the first piece of a long text that contains a match, or else the beginning of the text. */
const pieceOf = (text: string, chars: number, isMatch: IsMatch | undefined): string => {
  if (text.length <= chars) return text
  for (let from = 0; isMatch !== undefined && from < text.length; from += chars) {
    const piece = text.slice(endOfCharacter(text, from), endOfCharacter(text, Math.min(from + chars, text.length)))
    if (isMatch(piece)) return `${from > 0 ? '…' : ''}${piece}${from + chars < text.length ? '…' : ''}`
  }
  return `${text.slice(0, endOfCharacter(text, chars))}…`
}

/**
 * Cuts a value to about `maxChars` of JSON. Long strings and lists end in an ellipsis, and parts that do not fit are
 * replaced by their size. If not everything fits, matches come first. Keys are kept while there is room for them.
 */
export const previewOf = (value: JsonValue, maxChars: number, isMatch?: IsMatch): JsonValue => {
  const isAll = isMatch === undefined || isWithin(value, maxChars)
  let left = maxChars
  const cut = (each: JsonValue, depth: number): JsonValue => {
    if (typeof each === 'string') {
      const limit = Math.max(40, Math.min(MAX_PREVIEW_STRING_CHARS, left))
      const shown = pieceOf(each, limit, isMatch)
      left -= shown.length + 2
      return shown
    }
    if (typeof each !== 'object' || each === null || findExactNumber(each) !== undefined) {
      left -= 6
      return each
    }
    if (depth >= MAX_PREVIEW_DEPTH || left <= 0) {
      left -= 20
      return outline(each)
    }
    return Array.isArray(each) ? cutItems(each, depth) : cutMembers(each, depth)
  }
  const cutItems = (items: readonly JsonValue[], depth: number): JsonValue[] => {
    const shown: JsonValue[] = []
    for (const item of isAll ? items : matchesFirst(items, each => each, isMatch)) {
      if (shown.length >= MAX_PREVIEW_ITEMS || left <= 0) break
      shown.push(cut(item, depth + 1))
    }
    if (shown.length < items.length) shown.push(`… ${items.length - shown.length} more`)
    return shown
  }
  const cutMembers = (object: JsonObject, depth: number): JsonObject => {
    const shown: [string, JsonValue][] = []
    const names = Object.keys(object)
    for (const name of isAll ? names : matchesFirst(names, each => object[each] ?? null, isMatch)) {
      if (left <= 0) break
      left -= name.length + 4
      shown.push([name, cut(object[name] ?? null, depth + 1)])
    }
    if (shown.length < names.length) shown.push(['…', `${names.length - shown.length} more fields`])
    return Object.fromEntries(shown)
  }
  return cut(value, 0)
}

/** Whether the JSON of a value has at most about `maxChars` characters. Stops counting above that. */
export const isWithin = (value: JsonValue, maxChars: number): boolean => sizeOf(value, maxChars) <= maxChars
