import { createPause } from '../worker/pause.ts'

/** The encoding that tokens are counted in: that of GPT-4o and later; other vendors' differ by a few in a hundred. */
export const TOKEN_ENCODING = 'o200k_base'

/**
 * Longest run of letters, or of whatever is neither letter nor digit, that is counted in one piece, in characters. The
 * time of a piece grows with its square; no word of any language is as long, and what is cut costs one token more at
 * most. Signs and blanks are one kind here: the encoding has pieces of both, such as a sign with slashes and line breaks.
 */
const MAX_RUN_CHARACTERS = 256

const RUN = new RegExp(
  ["[\\p{L}\\p{M}'’]", '[^\\p{L}\\p{N}]'].map(one => `${one}{${MAX_RUN_CHARACTERS}}`).join('|'),
  'gu',
)

const cutLongRuns = (text: string): readonly string[] => {
  const pieces: string[] = []
  let start = 0
  for (const { index, 0: run } of text.matchAll(RUN)) {
    pieces.push(text.slice(start, index + run.length))
    start = index + run.length
  }
  return [...pieces, text.slice(start)]
}

/** Characters that are counted at once: a few milliseconds' work. */
const MAX_PIECE_CHARACTERS = 16_384
/** How far on the end of a word is looked for, at which a piece may end without a token being cut. */
const MAX_WORD_CHARACTERS = 1_024

/** The end of a word: behind a letter and before what belongs to no word. No token of the encoding reaches across. */
const WORD_END = /\p{L}(?=[^\p{L}\p{M}\p{N}'’])/u

const endOfPiece = (text: string, start: number): number => {
  const least = start + MAX_PIECE_CHARACTERS
  if (least >= text.length) return text.length
  const found = WORD_END.exec(text.slice(least, least + MAX_WORD_CHARACTERS))
  return found === null ? least : least + found.index + found[0].length
}

/** How many tokens a model reads the text as, in TOKEN_ENCODING. Text that looks like a control token is text. */
export const countTokens = async (text: string): Promise<number> => {
  // Loaded with the first text: its tables take some 40 MB.
  const { encoding } = await import('./encoding.ts')
  const options = { disallowedSpecial: new Set<string>() }
  const pause = createPause()
  let sum = 0
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start)
    for (const run of cutLongRuns(text.slice(start, end))) sum += encoding.countTokens(run, options)
    start = end
    if (start < text.length) await pause()
  }
  return sum
}
