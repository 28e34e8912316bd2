import { STATUS_CODES } from 'node:http'

/** Lowercases a word unless it is an abbreviation such as `OK`, `URI` or `HTTP`. */
const lowerWord = (word: string): string => (word === word.toUpperCase() ? word : word.toLowerCase())

const toSentenceCase = (phrase: string): string => {
  const text = phrase.split(' ').map(lowerWord).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const PHRASES = new Map(
  Object.entries({ ...STATUS_CODES, 500: 'Server error' }).map(([status, phrase = '']) => [
    Number(status),
    toSentenceCase(phrase),
  ]),
)

/**
 * Returns a status with its registered reason phrase in sentence case, such as `404 Not found`, and shortens that of 500
 * to `Server error`. A status without a registered phrase stands alone (RFC 9110 §15).
 */
export const statusWithPhrase = (status: number): string => {
  const phrase = PHRASES.get(status)
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
