import { formatNumber } from './format.ts'

/** Returns the rule for a whole number, worded to follow the number's name in a sentence. */
export const wholeNumberRule = (unit: string, least: number, most: number): string =>
  `must be a whole number ${unit && `of ${unit} `}from ${formatNumber(least)} to ${formatNumber(most)}`

/** Matches a number with commas between groups of three digits. `0,005` is not one: it would become 5. */
const GROUPED = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/
const PLAIN = /^[\d.]{1,40}(?:e[+-]?\d{1,3})?$/

/**
 * Parses a number as people type it, such as `1,200.5`. Returns undefined for empty text, and NaN for any other text
 * that is not a number of 0 or more, so that the schema reports the error.
 */
export const readNumber = (text: string): number | undefined => {
  const typed = text.trim()
  if (typed === '') return undefined
  const plain = GROUPED.test(typed) ? typed.replaceAll(',', '') : typed
  return PLAIN.test(plain) ? Number(plain) : Number.NaN
}

/**
 * Parses a whole number as people type it, such as `8,000`. Returns undefined for empty text, and NaN for any other
 * text that is not a whole number, so that the schema reports the error.
 */
export const readWholeNumber = (text: string): number | undefined => {
  const digits = text.trim().replaceAll(/[,_ ]/g, '')
  if (digits === '') return undefined
  return /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN
}
