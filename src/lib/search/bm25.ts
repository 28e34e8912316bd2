/** Robertson's k1: how quickly repetitions of a word saturate. */
const K1 = 1.2

/** Returns the inverse document frequency of a word that occurs in `holding` of `total` texts. */
export const rarityOf = (holding: number, total: number): number =>
  Math.log(1 + (total - holding + 0.5) / (holding + 0.5))

/**
 * Returns the number of occurrences of a word relative to the length of the text. `b` is the weight of the length, from
 * 0 to 1.
 */
export const relativeCount = (count: number, length: number, meanLength: number, b: number): number =>
  count / (1 - b + (b * length) / meanLength)

/** Returns the BM25 factor of a relative count. It approaches 2.2 for very frequent words. */
export const saturate = (count: number): number => (count * (K1 + 1)) / (count + K1)
