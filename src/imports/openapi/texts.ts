import { hasSecretFormat, looksSecret } from '../../tools/secret-looks.ts'

/** Longer texts are cut before the expressions below, some of which take quadratic time, clean them. */
const MAX_CLEANED_CHARS = 8_000
/** A text is cut between sentences if at least this share of the limit stays. */
const MIN_SENTENCES = 0.4
/** Long names in camel case have a digit or two. Random texts of 32 characters have more. */
const MIN_DIGITS = 4

const REMOVED_SECRET = '[secret removed]'

const isSecret = (word: string): boolean =>
  hasSecretFormat(word) || (looksSecret(word) && word.replaceAll(/\D/g, '').length >= MIN_DIGITS)

/** Returns whether a text is a secret, or contains one. */
export const holdsSecret = (text: string): boolean => withoutSecrets(text) !== text

/** Removes what looks like a key, a token or a password from a text, such as an example of a request. */
export const withoutSecrets = (text: string): string =>
  text
    .replaceAll(
      /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)/g,
      REMOVED_SECRET,
    )
    .replaceAll(/([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#:@]{1,200}:[^\s/?#@]{1,200}@/gi, `$1${REMOVED_SECRET}@`)
    .replaceAll(/[A-Za-z0-9_-][A-Za-z0-9_.-]{10,2000}[A-Za-z0-9_-]/g, word => (isSecret(word) ? REMOVED_SECRET : word))

/** Turns Markdown and HTML into plain text in one line. Code keeps its text, but not its marks. */
const toPlainText = (text: string): string =>
  text
    .replaceAll(/```[^`]*```/g, ' ')
    .replaceAll(/<\/?[a-z][^<>]*>/gi, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)\s]*\)/g, ' ')
    .replaceAll(/\[([^\][]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[ \t]*(?:[#>*+-]+|\d+\.)[ \t]+/gm, '')
    .replaceAll(/[*`]+/g, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()

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

/** Returns a text of the description as models see it: plain, without secrets, at most `maxChars` long. */
export const plainText = (text: string, maxChars: number): string =>
  cutText(withoutSecrets(toPlainText(text.slice(0, MAX_CLEANED_CHARS))), maxChars)
