import type { Span } from './matcher.ts'

const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** The same for a text of ASCII alone, where it takes a third of the time. */
const ASCII_WORD = /[a-z0-9]+/g
const IS_ASCII = /^[ -~\s]*$/

/** Runs of letters and digits, in lower case. */
export const wordsOf = (text: string): readonly string[] => {
  const lower = text.toLowerCase()
  return lower.match(IS_ASCII.test(lower) ? ASCII_WORD : WORD) ?? []
}

/** Where they stand. */
export const wordSpansOf = (text: string): readonly Span[] =>
  Array.from(text.matchAll(WORD), match => ({ start: match.index, end: match.index + match[0].length }))

/** One form for the singular and the plural of English words; both sides of a comparison are folded. */
export const foldPlural = (word: string): string => {
  if (word.length <= 3 || !word.endsWith('s') || word.endsWith('ss') || word.endsWith('us') || word.endsWith('is')) {
    return word
  }
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return /(?:[sxz]|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}
