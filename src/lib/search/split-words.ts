import type { Span } from './matcher.ts'

const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** Matches the same as WORD in ASCII text, in a third of the time. */
const ASCII_WORD = /[a-z0-9]+/g
const IS_ASCII = /^[ -~\s]*$/

/** Returns the runs of letters and digits, in lower case. */
export const splitWords = (text: string): readonly string[] => {
  const lower = text.toLowerCase()
  return lower.match(IS_ASCII.test(lower) ? ASCII_WORD : WORD) ?? []
}

export const wordSpansOf = (text: string): readonly Span[] =>
  Array.from(text.matchAll(WORD), match => ({ start: match.index, end: match.index + match[0].length }))

/** Matches the boundaries between words in names such as `listSites`, `HTTPServer`, `sha256`. */
const NAME_BORDER =
  /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/gu
const APOSTROPHE = /(?<=\p{L})['’](?=\p{L})/gu

/** Returns the words of a text or name in lower case without accents: `createDnsZone` gives `create`, `dns`, `zone`. */
export const splitNames = (text: string): readonly string[] =>
  splitWords(
    text
      .replaceAll(APOSTROPHE, '')
      .replaceAll(NAME_BORDER, ' ')
      .normalize('NFKD')
      .replaceAll(/\p{M}+/gu, ''),
  )

/** Returns the same form for the singular and the plural of an English word. Apply it to both sides of a comparison. */
export const foldPlural = (word: string): string => {
  if (word.length <= 3 || !word.endsWith('s') || word.endsWith('ss') || word.endsWith('us') || word.endsWith('is')) {
    return word
  }
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return /(?:[sxz]|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}
