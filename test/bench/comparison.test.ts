import { describe, expect, it } from 'vitest'
import { type Comparison, compare, summarizeComparison } from '../../bench/comparison.ts'
import { medianInterval } from '../../bench/statistics.ts'

const countTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)
const repeat = (value: number): number[] => Array.from({ length: 5 }, () => value)

describe('the interval of a median', () => {
  // Ranks of the 95 % confidence interval of a median, as printed in statistical tables.
  it.each([
    [1, 1, 1],
    [5, 1, 5],
    [8, 1, 8],
    [9, 2, 8],
    [11, 2, 10],
    [12, 3, 10],
    [15, 4, 12],
    [20, 6, 15],
    [30, 10, 21],
  ])('spans the tabulated ranks for %i values: %i to %i', (count, low, high) => {
    expect(medianInterval(countTo(count).toReversed())).toEqual({ low, high })
  })

  it('is unknown without values, and when a value is missing', () => {
    expect(medianInterval([])).toEqual({ low: Number.NaN, high: Number.NaN })
    expect(medianInterval([1, Number.NaN, 3])).toEqual({ low: Number.NaN, high: Number.NaN })
  })
})

describe('a comparison of two checkouts', () => {
  const comparison: Comparison = {
    title: 'calls: CPU per request',
    unit: 'us',
    here: [104, 105, 106, 110, 104],
    other: repeat(100),
    reference: [50, 51, 50, 52, 50],
  }

  it('divides this checkout by the other, round by round', () => {
    const { ratio, interval } = compare({ ...comparison, here: [200, 90, 60], other: [100, 100, 50] })
    expect(ratio).toBe(1.2)
    expect(interval).toEqual({ low: 0.9, high: 2 })
  })

  it('is worse if every round lies above 1.03', () => {
    const compared = compare(comparison)
    expect(compared.verdict).toBe('worse')
    expect(summarizeComparison([compared])).toEqual(['worse: calls: CPU per request: 1.050 (1.040 to 1.100)'])
  })

  it.each([
    { why: 'one round does not', here: [104, 105, 106, 110, 103] },
    { why: 'it is faster', here: repeat(80) },
  ])('is not worse if $why', ({ here }) => {
    const compared = compare({ ...comparison, here })
    expect(compared.verdict).toBe('not worse')
    expect(summarizeComparison([compared])).toEqual(['nothing is worse'])
  })

  it('is not judged if the floor varies by more than 10 %', () => {
    expect(compare({ ...comparison, reference: [50, 50, 50, 50, 55] }).verdict).toBe('worse')
    const compared = compare({ ...comparison, reference: [50, 50, 50, 50, 55.1] })
    expect(compared.verdict).toBe('not judged')
    expect(summarizeComparison([compared])).toEqual([
      "not judged: calls: CPU per request: the floor's spread is 10.2 %",
    ])
  })

  it('is not judged if a round failed', () => {
    const failed = { ...comparison, here: [104, 105, Number.NaN, 110, 104] }
    expect(summarizeComparison([compare(failed)])).toEqual(['not judged: calls: CPU per request: a round failed'])
    const floorFailed = { ...comparison, reference: [50, Number.NaN, 50, 50, 50] }
    expect(compare(floorFailed).verdict).toBe('not judged')
  })

  it('is not judged after fewer than five rounds', () => {
    const short = { ...comparison, here: [110, 110, 110, 110], other: repeat(100), reference: [50, 50, 50, 50] }
    expect(summarizeComparison([compare(short)])).toEqual([
      'not judged: calls: CPU per request: it takes at least 5 rounds',
    ])
  })

  it('is not judged without a floor', () => {
    const { reference: _, ...printed } = comparison
    const compared = compare(printed)
    expect(compared.verdict).toBeUndefined()
    expect(summarizeComparison([compared])).toEqual([])
  })
})
