import { hasSecretFormat, looksSecret } from '../../tools/secret-looks.ts'

/** Longer texts are cut before the expressions below, some of which take quadratic time, clean them. */
const MAX_CLEANED_CHARS = 8_000
/** How much longer than its text Markdown may be. */
const MARKUP_FACTOR = 10
/** A text is cut between sentences if at least this share of the limit stays. */
const MIN_SENTENCES = 0.4
/** Long names in camel case have a digit or two. Random texts of 32 characters have more. */
const MIN_DIGITS = 4

/** Names such as `Api20100401AvailablePhoneNumberCountry` have at most this many numbers. */
const MAX_NUMBERS = 2
/** At least this share of the letters of a name is in words, which have this many letters on average. */
const MIN_IN_WORDS = 0.75
const MEAN_WORD_CHARS = 4.5

/** What is in a text in place of a secret. */
export const REMOVED_SECRET = '[secret removed]'

/** Returns whether a text consists of words. Of 100,000 random texts of 32 letters and digits, one or two seem to. */
const consistsOfWords = (text: string): boolean => {
  if (/^[0-9a-f]+$/i.test(text) || (text.match(/\d+/g) ?? []).length > MAX_NUMBERS) return false
  const words = (text.match(/[A-Z]?[a-z]{2,}/g) ?? []).filter(word => word.length > 2 && /[aeiouy]/i.test(word))
  const chars = words.join('').length
  const letters = text.replaceAll(/[^A-Za-z]/g, '').length
  return chars >= letters * MIN_IN_WORDS && words.length > 1 && chars >= words.length * MEAN_WORD_CHARS
}

const isSecret = (word: string): boolean =>
  hasSecretFormat(word) ||
  (looksSecret(word) && word.replaceAll(/\D/g, '').length >= MIN_DIGITS && !consistsOfWords(word))

/** Returns whether a text is a secret, or contains one. */
export const holdsSecret = (text: string): boolean => withoutSecrets(text) !== text

const withoutKeys = (text: string): string =>
  text.replaceAll(
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)/g,
    REMOVED_SECRET,
  )

const withoutPasswords = (text: string): string =>
  text.replaceAll(/([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#:@]{1,200}:[^\s/?#@]{1,200}@/gi, `$1${REMOVED_SECRET}@`)

/**
 * Removes what looks like a key, a token or a password from a text, such as an example of a request. Few texts have
 * what the slower expressions look for.
 */
export const withoutSecrets = (text: string): string => {
  const first = text.includes('PRIVATE KEY') ? withoutKeys(text) : text
  const second = first.includes('://') && first.includes('@') ? withoutPasswords(first) : first
  return second.replaceAll(/[\w.-]{12,2000}/g, word => {
    const token = word.replaceAll(/^[.-]+|[.-]+$/g, '')
    return isSecret(token) ? word.replace(token, () => REMOVED_SECRET) : word
  })
}

/** Matches text that is plain already: words with single spaces, and no mark that means anything in Markdown. */
const PLAIN = /^(?![-\d])(?:[a-z\d,.;:()'"/?!-]+ )*[a-z\d,.;:()'"/?!-]+$/i

/** Turns Markdown and HTML into plain text in one line. Code keeps its text, but not its marks. */
const toPlainText = (text: string): string => {
  if (PLAIN.test(text)) return text
  return text
    .replaceAll(/```[^`]*```/g, ' ')
    .replaceAll(/<\/?[a-z][^<>]*>/gi, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)\s]*\)/g, ' ')
    .replaceAll(/\[([^\][]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[ \t]*(?:[#>*+-]+|\d+\.)[ \t]+/gm, '')
    .replaceAll(/\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/g, ' ')
    .replaceAll(/(^|\s)_{1,2}(?=[^\s_])([^\n]{1,500}?)_{1,2}(?=$|[\s.,;:)])/gm, '$1$2')
    .replaceAll(/[*`]+/g, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** Cuts a text after a sentence, or else after a word. */
const cutText = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const end = Math.max(text.lastIndexOf('. ', maxChars - 1), text.lastIndexOf('! ', maxChars - 1))
  if (end > maxChars * MIN_SENTENCES) return text.slice(0, end + 1)
  return `${text
    .slice(0, maxChars - 1)
    .replace(/\s+\S*$/, '')
    .toWellFormed()}…`
}

/** Texts that are remembered, for each limit: at most 5 MB. */
const MAX_KNOWN_TEXTS = 5_000
const MAX_KNOWN_CHARS = 500

/**
 * The plain texts of short texts, by the limit and the text. Many operations have the same schemas, whose texts take longer
 * to clean than anything else.
 */
const knownTexts = new Map<number, Map<string, string>>()

const cleanText = (text: string, maxChars: number): string =>
  cutText(withoutSecrets(toPlainText(text.slice(0, Math.min(MAX_CLEANED_CHARS, maxChars * MARKUP_FACTOR)))), maxChars)

/** Returns a text of the description as models see it: plain, without secrets, at most `maxChars` long. */
export const plainText = (text: string, maxChars: number): string => {
  if (text.length > MAX_KNOWN_CHARS) return cleanText(text, maxChars)
  const ofLimit = knownTexts.get(maxChars) ?? new Map<string, string>()
  const known = ofLimit.get(text) ?? cleanText(text, maxChars)
  if (ofLimit.size >= MAX_KNOWN_TEXTS) ofLimit.clear()
  knownTexts.set(maxChars, ofLimit.set(text, known))
  return known
}
