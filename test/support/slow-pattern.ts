/**
 * A pattern that is slow even though matching takes linear time: its automaton rarely revisits a set of states, so
 * matching each character takes time proportional to the number of states.
 */
export const SLOW_PATTERN = '(?:[ab]?[ab]?){499}a(?:a|b){400}c?$'

/** Returns the longest text that a pattern is matched with: `a` and `b` in an order that never repeats (Thue-Morse). */
export const slowValue = (): string =>
  Array.from({ length: 10_000 }, (_, index) =>
    index.toString(2).replaceAll('0', '').length % 2 === 0 ? 'a' : 'b',
  ).join('')
