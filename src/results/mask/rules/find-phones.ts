import type { Range } from '../find-secrets.ts'
import { isDigitAt, isWordAt, isWordBefore } from './boundaries.ts'

/** Most digits of an international number (ITU-T E.164 §6). */
const MAX_DIGITS = 15
/** Characters in which a number fits, with its separators. */
const WINDOW = 48

const START = /[+＋(\d]|%2B/gi
const NOT_DIGITS = /\D/g
const digitsOf = (text: string): string => text.replace(NOT_DIGITS, '')

/** Country codes (ITU-T E.164 assigned codes). */
const COUNTRY =
  /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-69]\d|3[578]\d|42\d|5[09]\d|6[7-9]\d|8[0578]\d|9[679]\d)/

const SPACE = '[ \\u00a0\\u202f]'
const DASH = '[-\\u2010\\u2011\\u2013]'
const BETWEEN = `${SPACE}?(?:[(./)]|${DASH})?${SPACE}?[()]?${SPACE}?`
const EXTENSION = `(?:${SPACE}?(?:x|ext\\.?)${SPACE}?\\d{1,6})?`

const INTERNATIONAL = new RegExp(`^(?:[+＋]|%2B)${SPACE}?\\(?\\d{1,15}(?:${BETWEEN}\\d{1,14}){0,8}`, 'i')
/** Amounts such as `+20 000 000`. */
const ROUND_AMOUNT = /^[+＋]\d{1,3}(?:[ .\u00a0\u202f]\d{3})*[ .\u00a0\u202f]000$/
const LAST_GROUP = /\D+\d+$/

/** National forms that are complete as written. */
const COMPLETE: readonly RegExp[] = [
  // North America: (415) 555-2671, 415-555-2671, 1-415-555-2671.
  new RegExp(
    `^(?:1(?:${SPACE}|${DASH})?)?\\(\\d{3}\\)(?:${SPACE}|${DASH})?\\d{3}(?:${SPACE}|${DASH}|\\.)\\d{4}${EXTENSION}`,
    'i',
  ),
  new RegExp(`^(?:1${DASH})?[1-9]\\d{2}(${DASH})\\d{3}\\1\\d{4}${EXTENSION}`, 'i'),
  new RegExp(`^(?:1\\.)?[2-9]\\d{2}\\.\\d{3}\\.\\d{4}${EXTENSION}`, 'i'),
  // China: 138 1234 5678.
  /^1[3-9]\d([ -])\d{4}\1\d{4}/,
]

/** France and others: 01 23 45 67 89, but no longer list of bytes. */
const PAIRS = /^0[1-9]([ .\u00a0\u202f-])\d{2}(?:\1\d{2}){3}(?!\1\d)/
const IN_PAIRS = /\d[ .\u00a0\u202f-]$/

/** A trunk prefix: 030 123456, 0151/2345678, 020 7946 0958, 03-1234-5678. */
const TRUNK = new RegExp(
  `^0[1-9]\\d{0,4}(?:${SPACE}?(?:/|${DASH})${SPACE}?|${SPACE})\\d{2,10}(?:(?:${SPACE}|${DASH})\\d{2,8}){0,4}`,
)
/** An area code in parentheses: (030) 123456, (11) 98765-4321. */
const PARENTHESES = new RegExp(`^\\(\\d{2,5}\\)${SPACE}?\\d{3,9}(?:(?:${SPACE}|${DASH})\\d{2,5}){0,2}`)
const TRUNK_DIGITS: readonly [least: number, most: number] = [9, 12]

/** Dates, the years of `(2024) 123 456`, ZIP codes and social security numbers of the United States. */
const NOT_A_PHONE =
  /^(?:\d{2}\D\d{2}\D\d{2}(?:\d{2})?(?!\d)|\((?:19|20)\d{2}\)|\d{5}-\d{4}(?!\d)|\d{3}-\d{2}-\d{4}(?!\d))/

/** Characters that join a national number to what is before it: a path, an id, a price, a decimal fraction. */
const JOINED_BEFORE = './-+@#$€£¥%=*'
const JOINED_AFTER = '%€$£¥=+/'

const isFreeAfter = (text: string, end: number): boolean => {
  if (isWordAt(text, end)) return false
  const next = text.charAt(end)
  if (next !== '' && JOINED_AFTER.includes(next)) return false
  return !('-.,:'.includes(next) && isWordAt(text, end + 1))
}

/** Returns the beginning of a candidate, as long as `fits` accepts it, without its last groups of digits. */
const shortenUntil = (candidate: string, fits: (shorter: string) => boolean): string | undefined => {
  for (let rest = candidate; rest !== ''; rest = LAST_GROUP.test(rest) ? rest.replace(LAST_GROUP, '') : '') {
    if (fits(rest)) return rest
  }
  return undefined
}

const isInternational = (candidate: string): boolean => {
  const digits = digitsOf(candidate.replace(/^%2B/i, ''))
  const [country] = COUNTRY.exec(digits) ?? []
  if (country === undefined || ROUND_AMOUNT.test(candidate)) return false
  if (candidate.split('.').length === 2) return false
  return country === '1' ? digits.length === 11 : digits.length >= 8 && digits.length <= MAX_DIGITS
}

const findInternational = (text: string, at: number): number => {
  const before = text.charAt(at - 1)
  if (isWordBefore(text, at) || (before !== '' && '+/'.includes(before))) return -1
  const [candidate = ''] = INTERNATIONAL.exec(text.slice(at, at + WINDOW)) ?? []
  const found = shortenUntil(candidate, rest => isInternational(rest) && isFreeAfter(text, at + rest.length))
  return found === undefined ? -1 : at + found.length
}

const isTrunk = (candidate: string): boolean => {
  const { length } = digitsOf(candidate)
  return length >= TRUNK_DIGITS[0] && length <= TRUNK_DIGITS[1] && !NOT_A_PHONE.test(candidate)
}

const findNational = (text: string, at: number): number => {
  const before = text.charAt(at - 1)
  if (isWordBefore(text, at) || (before !== '' && JOINED_BEFORE.includes(before))) return -1
  const slice = text.slice(at, at + WINDOW)
  for (const form of COMPLETE) {
    const [found] = form.exec(slice) ?? []
    if (found !== undefined && isFreeAfter(text, at + found.length)) return at + found.length
  }
  const [pairs] = PAIRS.exec(slice) ?? []
  if (pairs !== undefined && isFreeAfter(text, at + pairs.length)) {
    return IN_PAIRS.test(text.slice(Math.max(0, at - 2), at)) ? -1 : at + pairs.length
  }
  const [candidate = ''] = TRUNK.exec(slice) ?? PARENTHESES.exec(slice) ?? []
  const found = shortenUntil(candidate, rest => isTrunk(rest) && isFreeAfter(text, at + rest.length))
  return found === undefined ? -1 : at + found.length
}

const PHONE = '(?:(?:tele)?phones?|tel|telefon|mobiles?|cell(?:phone)?|fax|msisdn|whatsapp)'
/** A label before a number: `tel:`, `Phone number = `. */
const LABEL = new RegExp(`(?:^|[^a-z])${PHONE}(?:[ _-]?(?:number|no|nr))?\\.?["']?[ ]?[:=.][ ]?["']?$`, 'i')
const LABEL_CHARACTERS = 32
const NAME = new RegExp(`(?:^|_)${PHONE}(?:_(?:numbers?|no|nr|e164))?_?\\d*$`)
const LABELLED = /^\(?\d(?:[ ()./-]{0,3}\d){6,14}(?![ ()./-]{0,3}\d)/
const WHOLE = /^\s*[+(]?\d[\d ()./-]{5,22}\d\s*$/

/** Returns whether the value of a member with this name is a phone number: `phone`, `mobileNumber`, `fax_no`. */
const namesPhone = (name: string): boolean =>
  NAME.test(
    name
      .replace(/(?<=[a-z\d])(?=[A-Z])/g, '_')
      .replace(/[\s.-]/g, '_')
      .toLowerCase(),
  )

const findLabelled = (text: string, at: number): number => {
  if (!LABEL.test(text.slice(Math.max(0, at - LABEL_CHARACTERS), at))) return -1
  const [found] = LABELLED.exec(text.slice(at, at + WINDOW)) ?? []
  return found === undefined || isWordAt(text, at + found.length) ? -1 : at + found.length
}

const isWholePhone = (text: string): boolean => {
  if (text.length > WINDOW || !WHOLE.test(text)) return false
  const { length } = digitsOf(text)
  return length >= 7 && length <= MAX_DIGITS
}

/**
 * Finds phone numbers in linear time: international ones (ITU-T E.164), and national ones in common forms. Digits without
 * `+` and separators are a phone number only after a label such as `tel:`, or if `name`, the member of JSON whose value
 * this text is, says so.
 */
export const findPhones = (text: string, name?: string): Range[] => {
  if (name !== undefined && isWholePhone(text) && namesPhone(name)) return [[0, text.length]]
  const ranges: Range[] = []
  let from = 0
  for (const { index, 0: sign } of text.matchAll(START)) {
    if (index < from) continue
    const isPlus = sign !== '(' && !isDigitAt(sign, 0)
    if (!isPlus && isWordBefore(text, index)) continue
    let end = isPlus ? findInternational(text, index) : findNational(text, index)
    if (end === -1 && !isPlus) end = findLabelled(text, index)
    if (end === -1) continue
    ranges.push([index, end])
    from = end
  }
  return ranges
}
