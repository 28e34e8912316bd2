import { formatCount } from '../platform/http/index.ts'

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** `five`, `1,204`: a number inside a sentence. */
export const numberInWords = (count: number): string => WORDS[count] ?? count.toLocaleString('en')

/** `two servers`, `1,204 servers`. */
export const countInWords = (count: number, one: string): string =>
  WORDS[count] === undefined ? formatCount(count, one) : `${WORDS[count]} ${count === 1 ? one : `${one}s`}`
