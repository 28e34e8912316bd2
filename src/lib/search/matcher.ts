/** Part of a text, in UTF-16 code units; `end` is the first behind it. */
export type Span = { readonly start: number; readonly end: number }

/** A pattern made ready. Texts may be of any length: every function is linear in it. */
export type Matcher = {
  test: (text: string) => boolean
  /** In order and without overlap, at most `limit`, of a text of at most MAX_EXACT_CHARS; a match may be empty. */
  find: (text: string, limit: number) => readonly Span[]
  /** What every match holds: all texts of one of these lists, the longest of each first; absent when that cannot be told. */
  needles?: readonly (readonly string[])[]
  /** Whether the needles are to be looked for in any case. */
  foldsCase: boolean
  /** Steps that a character of a text takes at worst. */
  weight: number
}

/**
 * Longest text whose matches are looked for at once. To tell where a match stands takes a regular expression a hundred
 * times as long as to tell that there is one, so of a longer text only the pieces that hold one are looked at so.
 */
export const MAX_EXACT_CHARS = 16_384
/** Pieces of a longer text overlap by so much: a match in one that is longer than this may not be located. */
const PIECE_OVERLAP_CHARS = 2_048

/** Steps in one go at most, about a second: what takes more is done piece by piece, between looks at the clock. */
const MAX_STEPS_AT_ONCE = 100_000_000

/** Whether a text is so long, or the pattern so costly, that nobody should wait for `test` of all of it. */
export const isTooMuchAtOnce = (matcher: Matcher, text: string): boolean =>
  text.length > MAX_EXACT_CHARS && text.length * matcher.weight > MAX_STEPS_AT_ONCE

/** The borders of a piece that are none of the text. */
type Piece = Span & { startsText: boolean; endsText: boolean }

const pieceAt = (text: string, start: number): Piece => {
  const end = Math.min(start + MAX_EXACT_CHARS, text.length)
  return { start, end, startsText: start === 0, endsText: end === text.length }
}

/**
 * Where the pattern is in a text of any length, at most `limit` spans. What touches the false border of a piece is left
 * to the neighbour, as `^`, `$` and greed would be misled there. Ends early when `isLate` says so.
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
