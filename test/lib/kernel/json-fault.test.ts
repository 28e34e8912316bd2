import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeJsonFault, findJsonFault } from '../../../src/lib/kernel/json-fault.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const FAULTS: readonly (readonly [text: string, where: string])[] = [
  ['{"a": 1,}', 'line 1, column 8: delete this comma: } follows'],
  ['{\n  "a": [1, 2,\n  ]\n}', 'line 2, column 13: delete this comma: ] follows'],
  ['[1,,2]', 'line 1, column 3: delete this comma: , follows'],
  ['{"a" 1}', 'line 1, column 6: a colon is missing after the key'],
  ['{"a": 1 "b": 2}', 'line 1, column 9: a comma is missing'],
  ["{'a': 1}", 'line 1, column 2: unexpected text; write strings and keys in double quotes'],
  ['{a: 1}', 'line 1, column 2: unexpected text; write strings and keys in double quotes'],
  ['{"a": [1}', 'line 1, column 9: a comma or ] is missing'],
  ['{"a": 1', 'line 1, column 8: } is missing'],
  ['{"😀": 1,}', 'line 1, column 8: delete this comma: } follows'],
  ['"a\nb"', 'line 1, column 1: the string that starts here has no closing " on this line; write line breaks as \\n'],
  ['"a', 'line 1, column 1: the string that starts here has no closing " on this line; write line breaks as \\n'],
  ['"\\x"', 'line 1, column 1: the string that starts here has an invalid escape; write \\ as \\\\'],
  ['{"a": 01}', 'line 1, column 7: invalid number'],
  ['{} {}', 'line 1, column 4: unexpected text after the end of the JSON'],
  ['', 'line 1, column 1: a value is missing'],
  ['// none\n1', 'line 1, column 1: comments are not allowed in JSON'],
]

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a text that is not JSON', () => {
  it.each(FAULTS)('%j: the line, the column and what is wrong', (text, where) => {
    const fault = findJsonFault(text)
    expect(fault && describeJsonFault(fault)).toBe(where)
  })

  it('has a fault exactly if JSON.parse rejects it', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.nat(3), fc.constantFrom('', ',', '"', '}', ']', '{', ':', '\\', '\n', '-', '0'))
      .map(([text, at, cut, put]) => {
        const from = at % (text.length + 1)
        return text.slice(0, from) + put + text.slice(from + cut)
      })
    fc.assert(
      fc.property(broken, text => {
        const fault = findJsonFault(text)
        expect(fault === undefined).toBe(isJson(text))
        // This message would mean that our own parser did not find the fault.
        expect(fault?.message).not.toBe('invalid JSON')
      }),
      { numRuns: runsOf(2_000) },
    )
  })

  it('is checked without exhausting the stack', () => {
    expect(findJsonFault('['.repeat(500_000))).toMatchObject({ message: 'nested more than 500 levels deep' })
    expect(findJsonFault(`["${'\\n'.repeat(500_000)}"]`)).toBeUndefined()
  })
})
