import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMayHold } from '../../../src/results/mask/may-hold.ts'

const letters = fc.constantFrom('a', 'b', 'c', 'é', 'ş', '日', '\ud83d', '\ude00')
const text = (minLength: number, maxLength: number) => fc.string({ unit: letters, minLength, maxLength })
const needles = fc.array(text(2, 8), { minLength: 1, maxLength: 6 })

it('whatever holds one of the needles may hold one, and nothing else of a text so short that near misses are free', () => {
  fc.assert(
    fc.property(needles, text(0, 60), (all, content) => {
      expect(createMayHold(all)(content)).toBe(all.some(needle => content.includes(needle)))
    }),
    { numRuns: 5_000 },
  )
})

it('a needle is found wherever it stands', () => {
  const other = fc.string({ maxLength: 400 })
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 300 }), { minLength: 1 }), other, other, (all, a, b) => {
      const mayHold = createMayHold(all)
      for (const needle of all) expect(mayHold(a + needle + b)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

it.each([
  ['no needle', [], 'abc', false],
  ['a needle of one character', ['a', 'long needle'], 'xyz', true],
  ['a needle that is the whole text', ['abc'], 'abc', true],
  ['a text shorter than every needle', ['abcd'], 'abc', false],
  ['a long text of nothing but near misses', ['xaaaaaaa'], 'a'.repeat(200_000), true],
])('of %s it is known', (_what, all, content, expected) => {
  expect(createMayHold(all)(content)).toBe(expected)
})
