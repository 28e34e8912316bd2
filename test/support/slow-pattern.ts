/** Its machine has more states than it meets twice: each character is as dear as the pattern is long. */
export const SLOW_PATTERN = '(?:[ab]?[ab]?){499}a(?:a|b){400}c?$'

/** The longest that a pattern is held against: `a` and `b` in an order that never repeats (Thue and Morse). */
export const slowValue = (): string =>
  Array.from({ length: 10_000 }, (_, index) =>
    index.toString(2).replaceAll('0', '').length % 2 === 0 ? 'a' : 'b',
  ).join('')
