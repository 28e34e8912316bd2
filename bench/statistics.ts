const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

/** Of an empty list: NaN, which no figure passes with. */
export const median = (values: readonly number[]): number => {
  const sorted = ascending(values)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

/** `share` between 0 and 1: 0.99 is the 99th percentile. Of an empty list: NaN. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = ascending(values)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
