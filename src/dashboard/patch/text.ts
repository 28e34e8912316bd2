/** Text is never measured: how wide it is, is guessed from what it is made of, and what is too wide is cut. */
export type Face = 'name' | 'port' | 'value' | 'head' | 'sans'

/** Width of a middling character, in units of the viewBox: mono at 13, 12.5 and 12 px, sans at 13 (heavy) and 12 px. */
const CHARACTER: Readonly<Record<Face, number>> = { name: 7.9, port: 7.6, value: 7.3, head: 7.4, sans: 6.3 }

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Scripts and signs that are as wide as they are high, also in a mono face that lacks them. */
const SQUARE =
  /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\ufdfd/u
const BROAD = /[MW@%mw]/
const CAPITAL = /\p{Lu}/u
/** Characters that show nothing, or turn what follows: none of them belongs into a label. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu
/** One grapheme may carry any number of marks; more of them than this are left away. */
const MAX_GRAPHEME_UNITS = 16

/** Longest name that is said in full. */
const MAX_PLAIN_CHARACTERS = 300

/** A name as it is said in full: without what is unseen, and of a length that a page can bear. */
export const plainText = (text: string): string => {
  const shown = text.slice(0, MAX_PLAIN_CHARACTERS).replace(UNSEEN, ' ').toWellFormed()
  return text.length > MAX_PLAIN_CHARACTERS ? `${shown}…` : shown
}

const widthIn = (face: Face, grapheme: string): number => {
  const width = CHARACTER[face]
  if (SQUARE.test(grapheme)) return width * 2
  if (face !== 'head' && face !== 'sans') return width
  if (BROAD.test(grapheme)) return width * 1.6
  return CAPITAL.test(grapheme) ? width * 1.2 : width
}

/** What is drawn of a text, and the room it takes. */
export type Cut = { text: string; width: number; isWhole: boolean }

const graphemesOf = function* (text: string): Iterable<string> {
  for (const { segment } of GRAPHEMES.segment(text)) yield segment.slice(0, MAX_GRAPHEME_UNITS).toWellFormed()
}

/** As much of a text as fits into `room`, with an ellipsis where that is not all of it. */
export const cutText = (text: string, face: Face, room: number): Cut => {
  const label = plainText(text)
  let kept = ''
  let width = 0
  let keptWithEllipsis = ''
  let widthWithEllipsis = 0
  for (const grapheme of graphemesOf(label)) {
    const next = widthIn(face, grapheme)
    if (width + next > room) {
      return { text: `${keptWithEllipsis}…`, width: widthWithEllipsis + CHARACTER[face], isWhole: false }
    }
    kept += grapheme
    width += next
    if (width + CHARACTER[face] <= room) {
      keptWithEllipsis = kept
      widthWithEllipsis = width
    }
  }
  return { text: kept, width, isWhole: kept === text }
}
