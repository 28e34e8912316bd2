/**
 * Histograms of durations. Bucket 0 has the durations up to `FIRST_MS`, each following one those up to `RATIO` times as
 * long, and the last one all that are longer than three minutes. Stored sums are counted in these buckets, so neither
 * number may change.
 */
export const BUCKETS = 40
const FIRST_MS = 0.5
const RATIO = 1.4

/** The longest duration of each bucket, in milliseconds. */
const LONGEST_MS: readonly number[] = Array.from({ length: BUCKETS }, (_, bucket) => FIRST_MS * RATIO ** bucket)

/** The columns of `CallSum` with the calls of each bucket: d00 to d39. */
export const DURATION_COLUMNS: readonly string[] = LONGEST_MS.map((_, bucket) => `d${String(bucket).padStart(2, '0')}`)

/** Numbers of calls by bucket. */
export type Histogram = number[]

export const emptyHistogram = (): Histogram => Array<number>(BUCKETS).fill(0)

/** Returns the bucket of a duration in milliseconds. */
export const bucketOf = (durationMs: number): number => {
  const bucket = LONGEST_MS.findIndex(longest => durationMs <= longest)
  return bucket === -1 ? BUCKETS - 1 : bucket
}

/** Returns the shortest and the longest duration of a bucket, in milliseconds. */
export const boundsOf = (bucket: number): { fromMs: number; toMs: number } => ({
  fromMs: LONGEST_MS[bucket - 1] ?? 0,
  toMs: LONGEST_MS[bucket] ?? 0,
})

export const addDuration = (histogram: Histogram, durationMs: number): void => {
  const bucket = bucketOf(durationMs)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

/** Adds the calls of another histogram. */
export const addHistogram = (histogram: Histogram, added: readonly number[]): void => {
  added.forEach((calls, bucket) => {
    histogram[bucket] = (histogram[bucket] ?? 0) + calls
  })
}

/**
 * Returns a percentile in milliseconds, or undefined if there are no calls. `share` is 0.95 for p95. The exact value is
 * the smallest duration that at least this share of calls does not exceed. The result is in the same bucket, at most
 * 40 % away from it: within a bucket, durations count as evenly distributed.
 */
export const percentileOf = (histogram: readonly number[], share: number): number | undefined => {
  const total = histogram.reduce((sum, calls) => sum + calls, 0)
  const rank = Math.max(1, Math.ceil(share * total))
  let before = 0
  for (const [bucket, calls] of histogram.entries()) {
    if (calls > 0 && before + calls >= rank) {
      const { fromMs, toMs } = boundsOf(bucket)
      return fromMs + ((toMs - fromMs) * (rank - before)) / calls
    }
    before += calls
  }
  return undefined
}
