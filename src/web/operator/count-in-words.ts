import { formatCount } from '../../lib/http/pages/format.ts'

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** Formats a number for use in a sentence: `five`, `1,204`. */
export const numberInWords = (count: number): string => WORDS[count] ?? count.toLocaleString('en')

/** Formats a number with its noun: `two servers`, `1,204 servers`. */
export const countInWords = (count: number, one: string): string =>
  WORDS[count] === undefined ? formatCount(count, one) : `${WORDS[count]} ${count === 1 ? one : `${one}s`}`
