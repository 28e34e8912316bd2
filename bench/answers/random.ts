/** Helpers for generating results from a fixed seed. */

export type Random = (below: number) => number

/** Returns pseudorandom integers from 0 to `below` - 1 (mulberry32). */
export const createRandom = (seed: number): Random => {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export const pick = (random: Random, from: readonly string[]): string => from[random(from.length)] ?? ''

export const padded = (value: number, digits: number): string => String(value).padStart(digits, '0')
