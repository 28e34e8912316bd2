/** A range of a text, in UTF-16 code units. `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number }

/** A compiled pattern. Every function runs in linear time in the length of the text. */
export type Matcher = {
  test: (text: string) => boolean
  /** Returns up to `limit` matches in order and without overlap, in a text of at most MAX_EXACT_CHARS. A match may be empty. */
  find: (text: string, limit: number) => readonly Span[]
  /** Maximum steps per character of a text. */
  weight: number
}

/**
 * Longest text in which matches are located in one pass. With a regular expression, locating a match takes a hundred
 * times as long as testing for one. A longer text is therefore tested in pieces, and matches are located only in the
 * pieces that contain one.
 */
export const MAX_EXACT_CHARS = 16_384
/** Overlap of the pieces of a longer text. A match longer than this may not be located. */
const PIECE_OVERLAP_CHARS = 2_048

/** Maximum steps at once, about a second. A longer search runs in pieces, and checks the clock between them. */
const MAX_STEPS_AT_ONCE = 100_000_000

/** Whether testing the whole text at once would take too long. */
export const isTooMuchAtOnce = (matcher: Matcher, text: string): boolean =>
  text.length > MAX_EXACT_CHARS && text.length * matcher.weight > MAX_STEPS_AT_ONCE

/** A piece of a text, and whether it is at the start or the end of the text. */
type Piece = Span & { startsText: boolean; endsText: boolean }

const pieceAt = (text: string, start: number): Piece => {
  const end = Math.min(start + MAX_EXACT_CHARS, text.length)
  return { start, end, startsText: start === 0, endsText: end === text.length }
}

/**
 * Returns up to `limit` matches in a text of any length. A match at the edge of a piece is left to the neighboring
 * piece, because `^`, `$` and greedy repetition can match wrongly at an edge. Stops early when `isLate` returns true.
 */
export const findSpans = (matcher: Matcher, text: string, limit: number, isLate: () => boolean): readonly Span[] => {
  if (text.length <= MAX_EXACT_CHARS) return matcher.find(text, limit)
  const found: Span[] = []
  let from = 0
  for (let start = 0; start < text.length && found.length < limit && !isLate(); ) {
    const piece = pieceAt(text, start)
    const part = text.slice(piece.start, piece.end)
    if (matcher.test(part)) {
      for (const span of matcher.find(part, limit)) {
        const isMisled = (span.start === 0 && !piece.startsText) || (span.end === part.length && !piece.endsText)
        const here = { start: span.start + start, end: span.end + start }
        if (isMisled || here.start < from || found.length >= limit) continue
        found.push(here)
        from = Math.max(here.end, here.start + 1)
      }
    }
    if (piece.endsText) break
    start = piece.end - PIECE_OVERLAP_CHARS
  }
  return found
}
