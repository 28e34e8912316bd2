import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { compileSchema } from '../../src/tools/schemas/compile-schema.ts'
import { toListedOutputSchema } from '../../src/tools/schemas/listed-output-schema.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { branching } from '../support/hostile-schema.ts'
import { openSchemaChecks } from '../support/jobs.ts'

let checks: ReturnType<typeof openSchemaChecks>
beforeAll(() => {
  checks = openSchemaChecks()
})
afterAll(() => checks.close())

const trim = (schema: JsonObject, value: JsonValue) =>
  checks.createTrim(
    schema,
    { rootName: 'the result', schemaName: 'outputSchema' },
    { owner: 'one', group: 'one' },
  )(value, undefined)

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })
const TEXT = { type: 'string' }
const USER = object({ name: TEXT, age: { type: 'integer' } })
const USERS = object({ users: { type: 'array', items: USER }, total: { type: 'integer' } })

/** A large schema, which is checked in a process of its own. */
const enlarge = (schema: JsonObject): JsonObject => ({
  ...schema,
  $defs: Object.fromEntries(Array.from({ length: 1_300 }, (_, id) => [`a${id}`, { type: 'string', title: 'x' }])),
})

describe('a value that does not match a schema', () => {
  it.each<[string, JsonObject, JsonValue, JsonValue | undefined, string[]]>([
    ['a member of another type', object({ a: TEXT }), { a: 1, b: 2 }, { b: 2 }, ['a must be string']],
    [
      'a member of items',
      USERS,
      { total: 2, users: [{ name: 'Ada', age: 1 }, { name: 7, age: 2 }, { name: 8 }] },
      { total: 2, users: [{ name: 'Ada', age: 1 }, { age: 2 }, {}] },
      ['users[].name must be string'],
    ],
    ['an item, with its list', USERS, { total: 1, users: ['Ada'] }, { total: 1 }, ['users[] must be object']],
    [
      'an object that lacks a member',
      object({ user: { ...USER, required: ['name'] }, id: TEXT }),
      { id: 'a', user: { age: 1 } },
      { id: 'a' },
      ["user must have required property 'name'"],
    ],
    [
      'one after the other, if the first makes the second fail',
      object({ a: object({ b: object({ c: TEXT }, { required: ['c'] }) }, { required: ['b'] }), d: TEXT }),
      { a: { b: { c: 1 } }, d: 'd' },
      { d: 'd' },
      ['a.b.c must be string'],
    ],
    [
      'nothing, if a member is missing at the root',
      object({ a: TEXT }, { required: ['id'] }),
      { a: 'a' },
      { a: 'a' },
      ["it must have required property 'id'"],
    ],
    [
      'a member that must not be there',
      object({ a: TEXT }, { additionalProperties: false }),
      { a: 'a', 'b.c': 1 },
      { a: 'a' },
      ['["b.c"] is not in the schema'],
    ],
    [
      'a member of which no branch matches',
      object({ a: { anyOf: [object({ b: TEXT }), { type: 'null' }] }, c: TEXT }),
      { a: { b: 1 }, c: 'c' },
      { c: 'c' },
      ['a must match a schema in anyOf'],
    ],
  ])('loses %s', async (_what, schema, value, left, mismatches) => {
    const expected = { kind: 'trimmed', value: left, mismatches, unmasked: mismatches }
    expect(await trim(schema, value)).toEqual(expected)
    expect(await trim(enlarge(schema), value)).toEqual(expected)
    expect(checks.sandboxed.at(-1)).toBe('trim')
  })

  it.each<[string, JsonObject, JsonValue]>([
    ['the whole is of another type', object({}), [1]],
    ['items of a list at the root do not match', { type: 'array', items: TEXT }, ['a', 1]],
    ['a rule at the root needs more', object({}, { minProperties: 1, properties: { a: TEXT } }), { a: 1 }],
    ['it lacks a member, and the root has other rules', object({}, { required: ['a'], not: { required: ['b'] } }), {}],
  ])('has nothing left if %s', async (_what, schema, value) => {
    expect(await trim(schema, value)).toMatchObject({ kind: 'trimmed', mismatches: [expect.any(String)] })
    expect(await trim(schema, value)).not.toHaveProperty('value')
  })

  it('says which mismatches are not about a masked text', async () => {
    const schema = object({ a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'string', maxLength: 3 } })
    const trimmed = await trim(schema, { a: '•••', b: 'x', c: 'Card •••' })
    expect(trimmed).toMatchObject({ value: {}, mismatches: { length: 3 }, unmasked: ['b must be integer'] })
  })

  it('lists at most ten mismatches', async () => {
    const names = Array.from({ length: 50 }, (_, id) => `a${id}`)
    const schema = object(Object.fromEntries(names.map(name => [name, TEXT])))
    const trimmed = await trim(schema, Object.fromEntries(names.map(name => [name, 1])))
    expect(trimmed).toMatchObject({ value: {}, mismatches: { length: 10 } })
  })

  it('is not checked if that would take long', async () => {
    expect(await trim(branching(40), {})).toMatchObject({ kind: 'unchecked', message: expect.stringMatching(/250 ms/) })
  })
})

const schemas = fc.letrec<{ schema: JsonObject }>(tie => {
  const named = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 3 })
  const required = fc.subarray(['a', 'b', 'c'])
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('string', 'integer', 'boolean', ['string', 'null']).map((type): JsonObject => ({ type })),
      fc.record({ type: fc.constant('object'), properties: named, required }),
      fc.record({ type: fc.constant('object'), properties: named, additionalProperties: fc.boolean() }),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    ),
  }
}).schema
const values = fc.letrec<{ value: JsonValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>('x', 1, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 4 }),
  ),
})).value

describe('an output schema as clients see it', () => {
  it('accepts whatever is left of any value, and an object without members', async () => {
    await fc.assert(
      fc.asyncProperty(schemas, values, async (schema, value) => {
        const listed = compileSchema(toListedOutputSchema(schema))
        const own = compileSchema(schema)
        if (!listed.ok || !own.ok) throw new Error('the schema is not valid')
        const trimmed = await trim(schema, value)
        expect(trimmed.kind).toBe(own.value(value) ? 'match' : 'trimmed')
        const left = trimmed.kind === 'trimmed' ? (trimmed.value ?? {}) : value
        expect([listed.value(left), listed.value({})]).toEqual([true, true])
      }),
      { numRuns: runsOf(300) },
    )
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['requires nothing at its root', object({ a: TEXT }, { required: ['a'] }), object({ a: TEXT })],
    ['stays the same if the builder requires nothing', USERS, USERS],
    [
      'has an alternative if its root has other rules, and its pointers follow',
      { type: 'object', anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: object({ b: { $ref: '#' } }) } },
      {
        type: 'object',
        anyOf: [
          { maxProperties: 0 },
          {
            type: 'object',
            anyOf: [{ $ref: '#/anyOf/1/$defs/a' }],
            $defs: { a: object({ b: { $ref: '#/anyOf/1' } }) },
          },
        ],
      },
    ],
    [
      'has an alternative if it is no object',
      { type: 'array' },
      { anyOf: [{ type: 'object', maxProperties: 0 }, { type: 'array' }] },
    ],
  ])('%s', (_what, schema, listed) => {
    expect(toListedOutputSchema(schema)).toEqual(listed)
  })
})
