/** What a text is set in: three sizes of mono and two of sans. */
export type Face = 'name' | 'port' | 'value' | 'head' | 'sans'

// Text is never measured: how wide it is, is guessed from what it is made of, a little too wide, and the rest is cut.

/** Of each character, in units of the viewBox: at 13, 12.5 and 12 px. */
const MONO: Readonly<Partial<Record<Face, number>>> = { name: 7.9, port: 7.6, value: 7.3 }
/** One em of the sans faces. */
const EM: Readonly<Partial<Record<Face, number>>> = { head: 13, sans: 12 }

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Scripts and signs that are as wide as they are high, also in a mono face, which lacks them. */
const SQUARE =
  /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\ufdfd/u
const NARROW = /[ .,:;'"|!()[\]{}/\\filrtjI1_·“”‘’-]/
const BROAD = /[MWm@%—]/
const CAPITAL = /\p{Lu}/u
const LATIN = /[\p{Script=Latin}\p{ASCII}…–×]/u
/** What is drawn on the character before it. */
const WITHOUT_WIDTH = /[\p{M}\u200d]/u
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

const monoWidth = (character: string, width: number): number => {
  if (SQUARE.test(character)) return width * 2
  return LATIN.test(character) ? width : width * 1.3
}

const sansWidth = (character: string, em: number): number => {
  if (SQUARE.test(character)) return em * 1.3
  if (NARROW.test(character)) return em * 0.42
  if (BROAD.test(character) || !LATIN.test(character)) return em * 1.08
  return em * (CAPITAL.test(character) ? 0.8 : 0.6)
}

const characterWidth = (face: Face, character: string): number => {
  if (WITHOUT_WIDTH.test(character)) return 0
  const mono = MONO[face]
  return mono === undefined ? sansWidth(character, EM[face] ?? 0) : monoWidth(character, mono)
}

/** Of all its characters: where a font has no sign for their sequence, each is drawn. */
const widthIn = (face: Face, grapheme: string): number =>
  [...grapheme].reduce((sum, character) => sum + characterWidth(face, character), 0)

const graphemesOf = function* (text: string): Iterable<string> {
  for (const { segment } of GRAPHEMES.segment(text)) yield segment.slice(0, MAX_GRAPHEME_UNITS).toWellFormed()
}

/** What is drawn of a text, and the room it takes. */
export type Cut = { text: string; width: number }

/** As much of a text as fits into `room`, with an ellipsis where that is not all of it. */
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
