import { isInExcerpt } from './excerpt.ts'
import { findSpans, isTooMuchAtOnce, MAX_EXACT_CHARS, type Matcher, type Span } from './matcher.ts'

export type Hit = {
  /** Index of the text that contains the match. */
  readonly passage: number
  /** The part of the text that was searched at once: the whole text or one line. */
  readonly unit: Span
  /** Position of the match in the text, if already known. */
  readonly span: Span | undefined
}

export type Found = {
  /** The first hits in order, at most MAX_HITS. */
  readonly hits: readonly Hit[]
  readonly total: number
  /** Whether `total` is only a minimum, because at most MAX_HITS are counted in one long text. */
  readonly isAtLeast: boolean
  /** Whether time ran out before the search was complete. */
  readonly isPartial: boolean
  /** Whether a text was searched in pieces. If so, a match longer than the overlap of the pieces may be missing. */
  readonly isInPieces: boolean
}

/** Maximum number of hits that are stored. Further hits are only counted. */
const MAX_HITS = 10_000

/** Characters searched between two checks of the clock. Most texts are too short to need a check of their own. */
const CHARS_PER_CHECK = 8_192

export type HitOptions = {
  multiline: boolean
  /** Whether each match is a hit. If not, each matching line or text is one hit. */
  eachMatch: boolean
  /** Returns whether the time is up. */
  isLate: () => boolean
}

/** Returns the first hits without those visible in the previous excerpt. `covered` counts all hits that are shown. */
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

export function* linesOf(text: string): Generator<Span> {
  for (let start = 0; start <= text.length; ) {
    const at = text.indexOf('\n', start)
    const end = at === -1 ? text.length : at
    yield { start, end: end > start && text[end - 1] === '\r' ? end - 1 : end }
    start = end + 1
  }
}

export const findHits = (texts: readonly string[], matcher: Matcher, options: HitOptions): Found => {
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
    // The text matches, but the match is too long to be located.
    if (spans.length === 0 && !isTooMuchAtOnce(matcher, text)) add(passage, unit, undefined)
  }
  const search = (passage: number, text: string) => {
    if (!mayMatch(text)) return
    if (multiline || !text.includes('\n')) return searchUnit(passage, { start: 0, end: text.length }, text)
    for (const unit of linesOf(text)) {
      const line = text.slice(unit.start, unit.end)
      if (mayMatch(line)) searchUnit(passage, unit, line)
    }
  }

  let unchecked = 0
  for (const [passage, text] of texts.entries()) {
    search(passage, text)
    unchecked += text.length
    if (unchecked < CHARS_PER_CHECK && passage + 1 < texts.length) continue
    unchecked = 0
    isPartial = isLate()
    if (isPartial) break
  }
  return { hits, total, isAtLeast, isPartial, isInPieces }
}
