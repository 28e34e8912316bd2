import { formatNumber } from './format.ts'

/** Returns the rule for such a number, as the end of a sentence that begins with its name. */
export const wholeNumberRule = (unit: string, least: number, most: number): string =>
  `must be a whole number ${unit && `of ${unit} `}from ${formatNumber(least)} to ${formatNumber(most)}`

/**
 * Parses a whole number as people type it, including `8,000`. Returns undefined for empty text, and NaN for anything
 * else that is not a number, so that the number's schema reports the error.
 */
export const readWholeNumber = (text: string): number | undefined => {
  const digits = text.trim().replaceAll(/[,_ ]/g, '')
  if (digits === '') return undefined
  return /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN
}
