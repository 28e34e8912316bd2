import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseFuzzy } from '../../../src/lib/search/fuzzy.ts'
import { findSpans, type Matcher } from '../../../src/lib/search/matcher.ts'
import { SEARCH_MODES } from '../../../src/lib/search/query.ts'
import { parseRegex } from '../../../src/lib/search/regex.ts'
import { substringMatcher } from '../../../src/lib/search/substring.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { json, search } from './search-support.ts'

const letters = fc.constantFrom('a', 'b', 'c', 'A', 'B', ' ', '\n', '.', 'é', '1', '-')
const shortText = fc.array(letters, { maxLength: 40 }).map(chars => chars.join(''))

/** Patterns that RE2 and RegExp interpret in the same way, without exponential backtracking. */
const atom = fc.constantFrom(
  'a',
  'b',
  'c',
  '1',
  '\\.',
  ' ',
  'ab',
  '[ab]',
  '[^a]',
  '(?:ab|c)',
  '(b)',
  '-',
  '-a',
  '\\d',
  '^',
  '$',
  'bc',
)
const quantifier = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,2}', '*?')
const part = fc
  .tuple(atom, quantifier)
  .map(([one, many]) =>
    one === '^' || one === '$' ? one : `${one.length > 1 && !/^[[(\\]/.test(one) ? `(?:${one})` : one}${many}`,
  )
const sequence = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => parts.join(''))
const safePattern = fc.array(sequence, { minLength: 1, maxLength: 2 }).map(sequences => sequences.join('|'))

const matcherOf = (pattern: string, caseInsensitive: boolean): Matcher => {
  const parsed = parseRegex(pattern, { caseInsensitive })
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

it('a regular expression finds what RegExp finds, for patterns that both support', () => {
  fc.assert(
    fc.property(safePattern, shortText, fc.boolean(), (pattern, content, caseInsensitive) => {
      const matcher = matcherOf(pattern, caseInsensitive)
      const expected = [...content.matchAll(new RegExp(pattern, caseInsensitive ? 'gimu' : 'gmu'))]
      const spans = expected.map(({ index, 0: match }) => ({ start: index, end: index + match.length }))
      expect(matcher.find(content, 1_000)).toEqual(spans)
      expect(matcher.test(content)).toBe(expected.length > 0)
    }),
    { numRuns: runsOf(1_000) },
  )
})

it('a regular expression in any case finds letters with unusual lower-case forms', () => {
  const matcher = matcherOf('sink', true)
  expect(['ſink', 'SINK', 'sin\u212a', 'sing'].map(matcher.test)).toEqual([true, true, true, false])
})

it('text is found where indexOf finds it', () => {
  fc.assert(
    fc.property(shortText, fc.string({ unit: letters, minLength: 1, maxLength: 3 }), (content, pattern) => {
      const expected: number[] = []
      for (let at = content.indexOf(pattern); at !== -1; at = content.indexOf(pattern, at + pattern.length))
        expected.push(at)
      const found = substringMatcher(pattern, { caseInsensitive: false }).find(content, 1_000)
      expect(found.map(({ start }) => start)).toEqual(expected)
      const { found: answer } = search(json([content]), { pattern, mode: 'text', multiline: true })
      expect(answer).toMatchObject({ matches: expected.length > 0 ? 1 : 0 })
    }),
  )
})

it('text is found in any case where an equivalent regular expression finds it', () => {
  fc.assert(
    fc.property(shortText, fc.string({ unit: letters, minLength: 1, maxLength: 3 }), (content, pattern) => {
      const escaped = pattern.replaceAll('.', '\\.')
      const expected = [...content.matchAll(new RegExp(escaped, 'giu'))].map(({ index }) => index)
      const found = substringMatcher(pattern, { caseInsensitive: true }).find(content, 1_000)
      expect(found.map(({ start }) => start)).toEqual(expected)
    }),
  )
})

it('short matches in a long text are found as in one piece', () => {
  const piece = fc.tuple(fc.constantFrom('x', 'y ', 'z\n'), fc.integer({ min: 1, max: 20_000 }))
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('needle', 'n..dle\\b', 'needle$'),
      (pieces, pattern) => {
        const content = pieces.map(([filler, count]) => `${filler.repeat(count)}needle `).join('')
        const matcher = matcherOf(pattern, false)
        expect(findSpans(matcher, content, 1_000, () => false)).toEqual(matcher.find(content, 1_000))
      },
    ),
    { numRuns: 30 },
  )
})

const naiveDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

it('fuzzy search finds the nearest word within the distance, by a naive measure', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(
      word,
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 5 }),
      (pattern, words, most) => {
        const parsed = parseFuzzy(pattern, most)
        if (!parsed.ok) throw new Error(parsed.error)
        const near = parsed.value.find(words.join(' '))
        // Adjacent words are also compared together, because a word may have been split.
        const runs = words.flatMap((each, at) => (at + 1 < words.length ? [each, `${each} ${words[at + 1]}`] : [each]))
        const nearest = Math.min(...runs.map(run => naiveDistance(pattern, run)))
        expect(near?.distance).toBe(nearest <= most ? nearest : undefined)
      },
    ),
    { numRuns: runsOf(300) },
  )
})

it('any search returns a result or explains what is wrong', () => {
  const anyPattern = fc.string({
    unit: fc.constantFrom(
      'a',
      '(',
      ')',
      '[',
      ']',
      '\\',
      '?',
      '*',
      '+',
      '{',
      '}',
      '1',
      ',',
      '|',
      '^',
      '$',
      '<',
      '=',
      '!',
      ':',
    ),
    maxLength: 12,
  })
  const document = json({ list: [{ a: 'aa(1)' }, { a: '[a]\\1' }], text: 'a\n1' })
  fc.assert(
    fc.property(anyPattern, fc.constantFrom(...SEARCH_MODES), fc.boolean(), (pattern, mode, multiline) => {
      try {
        expect(search(document, { pattern, mode, multiline }).found).toHaveProperty('matches')
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
        expect(String(error)).toMatch(/^Error: (?:The pattern|Mode|Look|Backref|Possessive)/)
      }
    }),
    { numRuns: runsOf(1_000) },
  )
})
