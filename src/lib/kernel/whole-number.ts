import { formatNumber } from './format.ts'

/** Returns the rule for a whole number, worded to follow the number's name in a sentence. */
export const wholeNumberRule = (unit: string, least: number, most: number): string =>
  `must be a whole number ${unit && `of ${unit} `}from ${formatNumber(least)} to ${formatNumber(most)}`

/**
 * Parses a whole number as people type it, such as `8,000`. Returns undefined for empty text, and NaN for any other
 * text that is not a whole number, so that the schema reports the error.
 */
export const readWholeNumber = (text: string): number | undefined => {
  const digits = text.trim().replaceAll(/[,_ ]/g, '')
  if (digits === '') return undefined
  return /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN
}
