import type { Range } from '../find-secrets.ts'
import { isDigitAt, isWordAt, isWordBefore } from './boundaries.ts'

const MIN_DIGITS = 13
const MAX_DIGITS = 19

/** Ranges of first digits and lengths that card networks issue (ISO/IEC 7812-1). */
const NETWORKS: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/, // Visa
  /^5[1-5]\d{14}$/, // Mastercard
  /^2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]|095|[689]\d)\d{11,16}$/, // Diners Club
  /^35(?:2[89]|[3-8]\d)\d{12,15}$/, // JCB
  /^(?:5[06-8]|6\d)\d{11,17}$/, // Maestro, Discover, UnionPay, RuPay
  /^8[12]\d{14,17}$/, // UnionPay, RuPay
  /^220[0-4]\d{12,15}$/, // Mir
  /^9792\d{12}$/, // Troy
]

/** Returns whether the check digit is right (Luhn algorithm, ISO/IEC 7812-1 annex B). */
const hasCheckDigit = (digits: string): boolean => {
  let sum = 0
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 0x30
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit
    sum += isDoubled ? doubled : digit
  }
  return sum % 10 === 0
}

const isCardNumber = (digits: string): boolean =>
  digits.length >= MIN_DIGITS &&
  digits.length <= MAX_DIGITS &&
  NETWORKS.some(network => network.test(digits)) &&
  hasCheckDigit(digits)

const SEPARATORS: ReadonlySet<string> = new Set([
  ' ',
  '-',
  '.',
  '\u00a0',
  '\u202f',
  '\u2009',
  '\u2010',
  '\u2011',
  '\u2013',
])
/** Digits of the first group, and the fewest and most of the others. The last may be shorter. */
const FIRST_GROUP = 4
const SHORTEST_GROUP = 3
const LONGEST_GROUP = 7

/** Returns the digits that start at an offset: at most one more than a group may have. */
const groupAt = (text: string, start: number): string => {
  let end = start
  while (end - start <= LONGEST_GROUP && isDigitAt(text, end)) end += 1
  return text.slice(start, end)
}

/** Returns whether the digits are those of a decimal fraction, or have one. */
const isFraction = (text: string, start: number, end: number): boolean =>
  (text.charAt(start - 1) === '.' && isDigitAt(text, start - 2)) ||
  (text.charAt(end) === '.' && isDigitAt(text, end + 1))

/** Returns the end of the longest card number that is written in groups and starts with this one, or -1. */
const endOfGroups = (text: string, start: number): number => {
  const separator = text.charAt(start + FIRST_GROUP)
  if (!SEPARATORS.has(separator)) return -1
  let digits = text.slice(start, start + FIRST_GROUP)
  let end = start + FIRST_GROUP
  let longest = -1
  while (digits.length < MAX_DIGITS && text.charAt(end) === separator) {
    const group = groupAt(text, end + 1)
    if (group.length === 0 || group.length > LONGEST_GROUP) break
    digits += group
    end += 1 + group.length
    if (!isWordAt(text, end) && isCardNumber(digits)) longest = end
    if (group.length < SHORTEST_GROUP) break
  }
  return longest
}

const DIGITS = /\d+/g

/** Finds payment card numbers, written as one number or in groups, in linear time. */
export const findCards = (text: string): Range[] => {
  const ranges: Range[] = []
  let from = 0
  for (const { index: start, 0: digits } of text.matchAll(DIGITS)) {
    if (start < from || isWordBefore(text, start)) continue
    let end = start + digits.length
    if (digits.length === FIRST_GROUP) end = endOfGroups(text, start)
    else if (isWordAt(text, end) || isFraction(text, start, end) || !isCardNumber(digits)) end = -1
    if (end === -1) continue
    ranges.push([start, end])
    from = end
  }
  return ranges
}
