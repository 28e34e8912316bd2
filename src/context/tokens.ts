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

/** How many tokens a model reads the text as, in TOKEN_ENCODING. Text that looks like a control token is text. */
export const countTokens = async (text: string): Promise<number> => {
  // Loaded with the first text: its tables take some 40 MB.
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base')
  const options = { disallowedSpecial: new Set<string>() }
  return cutLongRuns(text).reduce((sum, piece) => sum + count(piece, options), 0)
}
