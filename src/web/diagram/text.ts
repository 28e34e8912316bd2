/** Typefaces: three sizes of mono and two of sans. */
export type Face = 'name' | 'port' | 'value' | 'head' | 'sans'

// The server cannot measure text, so it estimates the width from the characters and errs slightly on the wide side.

/** Character width in viewBox units at 13, 12.5 and 12 px. */
const MONO: Readonly<Partial<Record<Face, number>>> = { name: 7.9, port: 7.6, value: 7.3 }
/** Font size of the sans typefaces. */
const EM_PX: Readonly<Partial<Record<Face, number>>> = { head: 13, sans: 12 }

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Full-width characters. Mono typefaces lack them, so a fallback font draws them at full width there too. */
const SQUARE =
  /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\ufdfd/u
const NARROW = /[ .,:;'"|!()[\]{}/\\filrtjI1_·“”‘’-]/
const WIDE = /[MWm@%—]/
const CAPITAL = /\p{Lu}/u
const LATIN = /[\p{Script=Latin}\p{ASCII}…–×]/u
/** Marks that combine with the preceding character. */
const ZERO_WIDTH = /[\p{M}\u200d]/u
/** Invisible characters and characters that change the text direction. In labels, they are replaced with a space. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu
/** Maximum length of a grapheme, which can have any number of combining marks. Anything beyond it is cut. */
const MAX_GRAPHEME_UNITS = 16
const MAX_PLAIN_CHARACTERS = 300

/** Returns the text without invisible characters, cut to `MAX_PLAIN_CHARACTERS`. */
export const plainText = (text: string): string => {
  const shown = text.slice(0, MAX_PLAIN_CHARACTERS).replace(INVISIBLE, ' ').toWellFormed()
  return text.length > MAX_PLAIN_CHARACTERS ? `${shown}…` : shown
}

const monoWidth = (character: string, width: number): number => {
  if (SQUARE.test(character)) return width * 2
  return LATIN.test(character) ? width : width * 1.3
}

const sansWidth = (character: string, em: number): number => {
  if (SQUARE.test(character)) return em * 1.3
  if (NARROW.test(character)) return em * 0.42
  if (WIDE.test(character) || !LATIN.test(character)) return em * 1.08
  return em * (CAPITAL.test(character) ? 0.8 : 0.6)
}

const characterWidth = (face: Face, character: string): number => {
  if (ZERO_WIDTH.test(character)) return 0
  const mono = MONO[face]
  return mono === undefined ? sansWidth(character, EM_PX[face] ?? 0) : monoWidth(character, mono)
}

/** Sums the widths of all characters, because a font without a glyph for the sequence draws each one. */
const widthIn = (face: Face, grapheme: string): number =>
  [...grapheme].reduce((sum, character) => sum + characterWidth(face, character), 0)

const graphemesOf = function* (text: string): Iterable<string> {
  for (const { segment } of GRAPHEMES.segment(text)) yield segment.slice(0, MAX_GRAPHEME_UNITS).toWellFormed()
}

/** The part of a string that is drawn, and its estimated width. */
export type Cut = { text: string; width: number }

/** Cuts text to the width `room`, adding an ellipsis if anything is cut. */
export const cutText = (text: string, face: Face, room: number): Cut => {
  const ellipsis = characterWidth(face, '…')
  let all: Cut = { text: '', width: 0 }
  let withEllipsis: Cut = { text: '…', width: ellipsis }
  for (const grapheme of graphemesOf(plainText(text))) {
    all = { text: all.text + grapheme, width: all.width + widthIn(face, grapheme) }
    if (all.width > room) return withEllipsis
    const width = all.width + ellipsis
    if (width <= room) withEllipsis = { text: `${all.text}…`, width }
  }
  return all
}
