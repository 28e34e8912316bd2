import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { createSchemaCheck, schemaProblem } from '../../src/tools/json-schema.ts'

const TOO_LONG = 'takes too long to check'

/** Each step tries the next one twice, so 2^steps in all, none of which matches. */
const branching = (steps: number): JsonObject => ({
  type: 'object',
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    Array.from({ length: steps + 1 }, (_, step) => {
      const next = { $ref: `#/$defs/a${step + 1}` }
      return [`a${step}`, step === steps ? false : { anyOf: [next, next] }]
    }),
  ),
})

describe('a JSON Schema of a tool', () => {
  it('that branches without end fails with a time limit each time, and others still work', () => {
    const check = createSchemaCheck(branching(40), 'the whole')
    expect([check({}), check({})]).toEqual([`the whole ${TOO_LONG}`, `the whole ${TOO_LONG}`])
    const other = createSchemaCheck({ type: 'object', required: ['city'] }, 'the whole')
    expect([other({ city: 'Oslo' }), other({})]).toEqual([undefined, "the whole must have required property 'city'"])
  })

  it('that compares every pair of items in a long list fails with a time limit', () => {
    const check = createSchemaCheck({ type: 'array', uniqueItems: true }, 'the whole')
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id }))
    expect(check(items)).toBe(`the whole ${TOO_LONG}`)
    expect(check([{ id: 1 }, { id: 1 }])).toContain('must NOT have duplicate items')
  })

  it('that takes too long to compile is rejected before it is saved', () => {
    const allOf = Array.from({ length: 40_000 }, (_, index) => ({
      properties: { [`p${index}`]: { minLength: index } },
    }))
    expect(schemaProblem({ type: 'object', allOf })).toBe(TOO_LONG)
    expect(schemaProblem({ type: 'object', allOf: allOf.slice(0, 10) })).toBeUndefined()
    expect(schemaProblem({ type: 'thing' })).toMatch(/^is not a valid JSON Schema 2020-12: /)
    expect(schemaProblem({ $ref: '#/$defs/none' })).toMatch(/^cannot be compiled: /)
  })
})
