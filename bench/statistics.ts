const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

/** Returns NaN, which fails every requirement, if the list is empty or contains NaN. */
export const median = (values: readonly number[]): number => {
  if (values.some(Number.isNaN)) return Number.NaN
  const sorted = ascending(values)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

/** Returns a quantile. `share` is between 0 and 1: 0.99 is the 99th percentile. Returns NaN for an empty list. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = ascending(values)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export type Interval = { low: number; high: number }

/** Maximum probability, on each side, that the true median lies outside the interval. */
const MAX_OUTSIDE = 0.025

/**
 * Returns the 95 % confidence interval of the median from order statistics, which assume nothing about the
 * distribution. For up to 8 values, the interval is their whole range. From 9 values on it drops one outlier on each
 * side, from 12 on two, and so on. Both ends are NaN if the list is empty or contains NaN.
 */
export const medianInterval = (values: readonly number[]): Interval => {
  if (values.length === 0 || values.some(Number.isNaN)) return { low: Number.NaN, high: Number.NaN }
  const sorted = ascending(values)
  const count = sorted.length
  // The number of values below the median is binomial. `chance` is the probability of exactly `dropped` + 1 such
  // values, `outside` that of at most this many.
  let chance = 0.5 ** count * count
  let outside = 0.5 ** count + chance
  let dropped = 0
  while (outside <= MAX_OUTSIDE) {
    dropped++
    chance *= (count - dropped) / (dropped + 1)
    outside += chance
  }
  return { low: sorted[dropped] ?? Number.NaN, high: sorted[count - 1 - dropped] ?? Number.NaN }
}
