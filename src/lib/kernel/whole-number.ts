/** What such a number must be, as the end of a sentence that begins with its name. */
export const wholeNumberRule = (unit: string, least: number, most: number): string =>
  `must be a whole number ${unit && `of ${unit} `}from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`

/**
 * A whole number as people type it, `8,000` too; undefined where nothing is typed. What is none is NaN, which the schema
 * of the number refuses in its own words.
 */
export const readWholeNumber = (text: string): number | undefined => {
  const digits = text.trim().replaceAll(/[,_ ]/g, '')
  if (digits === '') return undefined
  return /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN
}
