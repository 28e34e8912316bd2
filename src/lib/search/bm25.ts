/** Robertson's k1: how fast repetitions of a word saturate. */
const K1 = 1.2

/** Returns the inverse document frequency of a word that `holding` of `total` texts contain. */
export const rarityOf = (holding: number, total: number): number =>
  Math.log(1 + (total - holding + 0.5) / (holding + 0.5))

/** Returns how often a word occurs, relative to the length of the text; `b` is how much the length counts, 0 to 1. */
export const relativeCount = (count: number, length: number, meanLength: number, b: number): number =>
  count / (1 - b + (b * length) / meanLength)

/** Returns the BM25 factor of a relative count: up to 2.2 for a word that is everywhere. */
export const saturate = (count: number): number => (count * (K1 + 1)) / (count + K1)
