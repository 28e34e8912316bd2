import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeJsonFault, findJsonFault } from '../../../src/lib/kernel/json-fault.ts'

const FAULTS: readonly (readonly [text: string, where: string])[] = [
  ['{"a": 1,}', 'line 1, column 8: a comma too many: } follows'],
  ['{\n  "a": [1, 2,\n  ]\n}', 'line 2, column 13: a comma too many: ] follows'],
  ['[1,,2]', 'line 1, column 4: a comma too many'],
  ['{"a" 1}', 'line 1, column 6: a colon is missing after the key'],
  ['{"a": 1 "b": 2}', 'line 1, column 9: a comma is missing'],
  ["{'a': 1}", 'line 1, column 2: texts stand in double quotes'],
  ['{a: 1}', 'line 1, column 2: a key in double quotes or } is missing'],
  ['{"a": [1}', 'line 1, column 9: ] is needed to close what is open, not }'],
  ['{"a": 1', 'line 1, column 8: it ends too early: } is missing'],
  ['{"😀": 1,}', 'line 1, column 8: a comma too many: } follows'],
  ['"a\nb"', 'line 1, column 3: the text is not closed: write a line break in it as \\n'],
  ['"a', 'line 1, column 1: the text that begins here is not closed with "'],
  ['"\\x"', 'line 1, column 2: no such escape: \\ is written \\\\'],
  ['{"a": 01}', 'line 1, column 7: a value is missing'],
  ['{} {}', 'line 1, column 4: nothing may follow: the JSON has ended before'],
  ['', 'line 1, column 1: a value is missing'],
]

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a text that is no JSON', () => {
  it.each(FAULTS)('%j says where and why', (text, where) => {
    const fault = findJsonFault(text)
    expect(fault && describeJsonFault(fault)).toBe(where)
  })

  it('is found wrong exactly where JSON.parse refuses it, however it was broken', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.nat(3), fc.constantFrom('', ',', '"', '}', ']', '{', ':', '\\', '\n', '-', '0'))
      .map(([text, at, cut, put]) => {
        const from = at % (text.length + 1)
        return text.slice(0, from) + put + text.slice(from + cut)
      })
    fc.assert(
      fc.property(broken, text => {
        expect(findJsonFault(text) === undefined).toBe(isJson(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('costs no stack and little time, however deep or long it is', () => {
    expect(findJsonFault('['.repeat(500_000))).toMatchObject({ column: 500_001 })
    expect(findJsonFault(`["${'\\n'.repeat(500_000)}"]`)).toBeUndefined()
  })
})
