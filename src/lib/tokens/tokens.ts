import { createPause } from '../worker/pause.ts'

/** The encoding of GPT-4o and later models. The counts of other vendors differ by a few percent. */
export const TOKEN_ENCODING = 'o200k_base'

/**
 * Longest run of letters, or of characters that are neither letters nor digits, that is encoded at once. The time grows
 * with the square of the run's length. No word of any language is this long, and each cut adds at most one token.
 * Punctuation and spaces count as one kind, because a token may contain both, such as a slash and line breaks.
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

/** Characters counted between two pauses: a few milliseconds of work. */
const MAX_PIECE_CHARACTERS = 16_384
/** How far to look for the end of a word, where a piece can end without splitting a token. */
const MAX_WORD_CHARACTERS = 1_024

/**
 * Matches the end of a word: a letter followed by a character that cannot be part of a word. No token of the encoding
 * spans it.
 */
const WORD_END = /\p{L}(?=[^\p{L}\p{M}\p{N}'’])/u

const endOfPiece = (text: string, start: number): number => {
  const least = start + MAX_PIECE_CHARACTERS
  if (least >= text.length) return text.length
  const found = WORD_END.exec(text.slice(least, least + MAX_WORD_CHARACTERS))
  return found === null ? least : least + found.index + found[0].length
}

/** Counts the tokens of a text in TOKEN_ENCODING. Text that looks like a control token is counted as ordinary text. */
export const countTokens = async (text: string): Promise<number> => {
  // Loaded on first use, because its tables take about 40 MB.
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
