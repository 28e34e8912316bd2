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
  // A piece is not divided again when it is counted on its own.
  if (least + MAX_WORD_CHARACTERS >= text.length) return text.length
  const found = WORD_END.exec(text.slice(least, least + MAX_WORD_CHARACTERS))
  return found === null ? least : least + found.index + found[0].length
}

/** Splits a text at ends of words. The tokens of the pieces add up to those of the text. */
export function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start)
    yield text.slice(start, end)
    start = end
  }
}

/** Counts the tokens of a text in TOKEN_ENCODING. Text that looks like a control token is counted as ordinary text. */
export const countTokens = async (text: string): Promise<number> => {
  // Loaded on first use, because its tables take about 40 MB.
  const { encoding } = await import('./encoding.ts')
  const options = { disallowedSpecial: new Set<string>() }
  const pause = createPause()
  let sum = 0
  for (const piece of piecesOf(text)) {
    if (sum > 0) await pause()
    for (const run of cutLongRuns(piece)) sum += encoding.countTokens(run, options)
  }
  return sum
}

const SLICES = 16
const SLICE_CHARACTERS = 4_096

/**
 * Tokens of a text. If `isEstimated`, they were counted in samples of it: within about 1 % if the text is alike
 * throughout, but without a limit if it is not. They say how long a text is, not whether it fits.
 */
export type TokenEstimate = { tokens: number; isEstimated: boolean }

/**
 * Counts the tokens of a text, or estimates them if it is longer than the samples. Counting takes more than a second per
 * megabyte, and the samples less than a tenth of one.
 */
export const estimateTokens = async (text: string): Promise<TokenEstimate> => {
  if (text.length <= SLICES * SLICE_CHARACTERS) return { tokens: await countTokens(text), isEstimated: false }
  const step = (text.length - SLICE_CHARACTERS) / (SLICES - 1)
  let counted = 0
  for (let index = 0; index < SLICES; index++) {
    const start = Math.floor(index * step)
    counted += await countTokens(text.slice(start, start + SLICE_CHARACTERS))
  }
  return { tokens: Math.round((counted * text.length) / (SLICES * SLICE_CHARACTERS)), isEstimated: true }
}
