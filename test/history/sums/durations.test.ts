import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addDuration,
  addHistogram,
  boundsOf,
  bucketOf,
  emptyHistogram,
  percentileOf,
} from '../../../src/history/sums/durations.ts'

const durations = fc.array(fc.double({ min: 0, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 200 })
const share = fc.double({ min: 0.01, max: 1, noNaN: true })

const histogramOf = (values: readonly number[]) => {
  const histogram = emptyHistogram()
  for (const value of values) addDuration(histogram, value)
  return histogram
}

/** The smallest duration that at least this share of the durations does not exceed. */
const exactOf = (values: readonly number[], wanted: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(1, Math.ceil(wanted * sorted.length)) - 1] ?? Number.NaN
}

describe('a histogram of durations', () => {
  it('has a percentile in the same bucket as the exact one', () => {
    fc.assert(
      fc.property(durations, share, (values, wanted) => {
        const percentile = percentileOf(histogramOf(values), wanted)
        const { fromMs, toMs } = boundsOf(bucketOf(exactOf(values, wanted)))
        expect(percentile).toBeGreaterThan(fromMs)
        expect(percentile).toBeLessThanOrEqual(toMs)
      }),
    )
  })

  it('is the same whether durations are added at once or in parts', () => {
    fc.assert(
      fc.property(durations, durations, (some, others) => {
        const parts = histogramOf(some)
        addHistogram(parts, histogramOf(others))
        expect(parts).toEqual(histogramOf([...some, ...others]))
      }),
    )
  })

  it('puts a duration at the end of a bucket into that bucket', () => {
    expect([0, 0.5, 0.500_1, 0.7, 1e9].map(bucketOf)).toEqual([0, 0, 1, 1, 39])
  })

  it('has no percentile without durations', () => {
    expect(percentileOf(emptyHistogram(), 0.5)).toBeUndefined()
  })
})
