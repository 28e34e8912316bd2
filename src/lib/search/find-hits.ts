import { isInExcerpt } from './excerpt.ts'
import { findSpans, isTooMuchAtOnce, MAX_EXACT_CHARS, type Matcher, type Span } from './matcher.ts'
import type { Passages } from './passages.ts'

/** A place where something was found. */
export type Hit = {
  /** Index of its text among the passages. */
  readonly passage: number
  /** What of that text was searched at once: all of it, or one line. */
  readonly unit: Span
  /** Where in the text the match stands, if that is known already. */
  readonly span: Span | undefined
}

export type Found = {
  /** In order; at most MAX_HITS. */
  readonly hits: readonly Hit[]
  readonly total: number
  /** Whether there may be more than the total: of one long text, no more than MAX_HITS are counted. */
  readonly isAtLeast: boolean
  /** Whether time ran out before all was searched. */
  readonly isPartial: boolean
  /** Whether something was only searched in pieces: a match longer than these overlap may be missed. */
  readonly isInPieces: boolean
}

/** Hits that are kept; more are only counted. */
const MAX_HITS = 10_000

/** Characters searched between two looks at the clock: many texts are too short to look after each. */
const CHARS_PER_LOOK = 8_192

export type HitOptions = {
  /** Whether a match may go over line breaks. */
  multiline: boolean
  /** Whether each match is a hit of its own; else each line or text that matches is one. */
  eachMatch: boolean
  /** Whether to stop. */
  isLate: () => boolean
}

/** The first hits, without those that stand in the excerpt of the one before; `covered`: how many are shown with them. */
export const pickHits = (hits: readonly Hit[], most: number): { picked: readonly Hit[]; covered: number } => {
  const picked: Hit[] = []
  let covered = 0
  for (const hit of hits) {
    const before = picked.at(-1)
    const isShown =
      before?.span !== undefined &&
      hit.span !== undefined &&
      before.passage === hit.passage &&
      before.unit.start === hit.unit.start &&
      isInExcerpt(before.span, hit.span)
    if (!isShown && picked.length === most) break
    if (!isShown) picked.push(hit)
    covered++
  }
  return { picked, covered }
}

/** The lines of a text without their breaks. */
export function* linesOf(text: string): Generator<Span> {
  for (let start = 0; start <= text.length; ) {
    const at = text.indexOf('\n', start)
    const end = at === -1 ? text.length : at
    yield { start, end: end > start && text[end - 1] === '\r' ? end - 1 : end }
    start = end + 1
  }
}

/** Where a pattern is among the passages, counted to the end. */
export const findHits = (passages: Passages, matcher: Matcher, options: HitOptions): Found => {
  const { multiline, eachMatch, isLate } = options
  const hits: Hit[] = []
  let total = 0
  let isPartial = false
  let isInPieces = false
  let isAtLeast = false

  const add = (passage: number, unit: Span, span: Span | undefined) => {
    total++
    if (hits.length < MAX_HITS) hits.push({ passage, unit, span })
  }
  const mayMatch = (text: string): boolean => {
    if (!isTooMuchAtOnce(matcher, text)) return matcher.test(text)
    isInPieces = true
    return true
  }
  const searchUnit = (passage: number, unit: Span, text: string) => {
    if (!eachMatch && text.length <= MAX_EXACT_CHARS) return add(passage, unit, undefined)
    const spans = findSpans(matcher, text, MAX_HITS, isLate)
    for (const { start, end } of spans) add(passage, unit, { start: start + unit.start, end: end + unit.start })
    if (spans.length === MAX_HITS) isAtLeast = true
    // It is there all the same: too long to be located.
    if (spans.length === 0 && !isTooMuchAtOnce(matcher, text)) add(passage, unit, undefined)
  }
  const search = (passage: number) => {
    const text = passages.texts[passage] ?? ''
    if (!mayMatch(text)) return
    if (multiline || !text.includes('\n')) return searchUnit(passage, { start: 0, end: text.length }, text)
    for (const unit of linesOf(text)) {
      const line = text.slice(unit.start, unit.end)
      if (mayMatch(line)) searchUnit(passage, unit, line)
    }
  }

  const candidates = passages.candidates(matcher)
  const count = candidates?.length ?? passages.texts.length
  let unlooked = 0
  for (let index = 0; index < count; index++) {
    const passage = candidates?.[index] ?? index
    search(passage)
    unlooked += passages.texts[passage]?.length ?? 0
    if (unlooked < CHARS_PER_LOOK && index + 1 < count) continue
    unlooked = 0
    isPartial = isLate()
    if (isPartial) break
  }
  return { hits, total, isAtLeast, isPartial, isInPieces }
}
