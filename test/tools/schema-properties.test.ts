import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/kernel/json.ts'
import { measureSchema } from '../../src/tools/schemas/measure-schema.ts'
import { countInstructions, estimateInstructions } from '../../src/tools/schemas/pattern-size.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { openSchemaChecks } from '../support/jobs.ts'

const NAMES = ['a', 'b', 'c']
const name = fc.constantFrom(...NAMES)
const count = fc.integer({ min: 0, max: 3 })
const PATTERNS = ['^a', '[ab]{2}', 'c?$']

const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 2.5, '', 'a', 'ab', 'abc'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

/** Keywords without subschemas. */
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object').map(type => ({ type })),
  value.map(constant => ({ const: constant })),
  fc
    .uniqueArray(value, { minLength: 1, maxLength: 3, selector: one => JSON.stringify(one) })
    .map(one => ({ enum: one })),
  fc.constantFrom(...PATTERNS).map(pattern => ({ pattern })),
  fc
    .constantFrom('minimum', 'maxLength', 'minItems', 'maxProperties')
    .chain(key => count.map(limit => ({ [key]: limit }))),
  fc.uniqueArray(name).map(required => ({ required })),
  fc.constant({ uniqueItems: true }),
  fc.constant({}),
)

/** A schema that refers only to the given definitions. */
const schemaWith = (definitions: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.letrec<{ schema: JsonObject }>(tie => {
    const part: fc.Arbitrary<JsonValue> = fc.oneof({ weight: 5, arbitrary: tie('schema') }, fc.boolean())
    const parts = fc.array(part, { minLength: 1, maxLength: 3 })
    const named = fc.dictionary(name, part, { maxKeys: 3, noNullPrototype: true })
    const references = definitions.map(one => fc.constant<JsonObject>({ $ref: `#/$defs/${one}` }))
    const branch: fc.Arbitrary<JsonObject> = fc.oneof(
      ...references,
      fc.constantFrom('anyOf', 'oneOf', 'allOf', 'prefixItems').chain(key => parts.map(all => ({ [key]: all }))),
      fc
        .constantFrom('not', 'items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedProperties')
        .chain(key => part.map(one => ({ [key]: one }))),
      fc.dictionary(fc.constantFrom('if', 'then', 'else'), part, { noNullPrototype: true }),
      fc.constantFrom('properties', 'dependentSchemas').chain(key => named.map(all => ({ [key]: all }))),
      fc
        .dictionary(fc.constantFrom(...PATTERNS), part, { maxKeys: 2, noNullPrototype: true })
        .map(patternProperties => ({ patternProperties })),
    )
    const both = fc.tuple(leaf, branch).map(([one, other]): JsonObject => ({ ...one, ...other }))
    return { schema: fc.oneof({ maxDepth: 3 }, leaf, branch, both) }
  }).schema

/** Each definition refers only to those after it, so that references can be expanded. */
const schema: fc.Arbitrary<JsonObject> = fc
  .tuple(schemaWith(NAMES), schemaWith(['b', 'c']), schemaWith(['c']), schemaWith([]))
  .map(([root, a, b, c]) => ({ ...root, $defs: { a, b, c } }))

/** Unused definitions make a schema large without changing what it means. */
const enlarge = ({ $defs, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  $defs: { ...(isJsonObject($defs) ? $defs : {}), large: { enum: Array.from({ length: 2_600 }, (_, one) => one) } },
})

let checks: ReturnType<typeof openSchemaChecks>
beforeAll(() => {
  checks = openSchemaChecks()
})
afterAll(() => checks.close())

const SEED = 16
const NAMED = { rootName: 'the value', schemaName: 'the schema' }
const TENANT = { owner: 'one', group: 'one' }

it('the main thread, the sandbox and the plain library agree on random schemas and values', async () => {
  const plainly = new Ajv2020({ strict: false, logger: false })
  let [matches, mismatches] = [0, 0]
  const property = fc.asyncProperty(schema, fc.array(value, { minLength: 1, maxLength: 4 }), async (one, values) => {
    const plain = plainly.compile(one)
    const here = checks.createCheck(one, NAMED, TENANT)
    const there = checks.createCheck(enlarge(one), NAMED, TENANT)
    for (const each of values) {
      const outcome = await there(each, undefined)
      expect(outcome.kind).toBe(plain(each) ? 'match' : 'mismatch')
      expect(await here(each, undefined)).toEqual(outcome)
      if (outcome.kind === 'match') matches++
      else mismatches++
    }
  })
  await fc.assert(property, { seed: SEED, numRuns: runsOf(500) })
  const total = matches + mismatches
  expect(Math.min(matches, mismatches)).toBeGreaterThan(total / 10)
  expect(checks.sandboxed.length).toBeGreaterThanOrEqual(total)
  expect(checks.sandboxed.length).toBeLessThan(total * 1.2)
})

/** Replaces each reference by what it refers to. `allOf` with one schema counts like the reference. */
const expand = (one: JsonValue, definitions: JsonObject): JsonValue => {
  if (Array.isArray(one)) return one.map(each => expand(each, definitions))
  if (!isJsonObject(one)) return one
  const { $ref, const: constant, enum: choices, ...rest } = one
  const data = {
    ...(constant === undefined ? {} : { const: constant }),
    ...(choices === undefined ? {} : { enum: choices }),
  }
  const members = Object.entries(rest).map(([key, member]) => [key, expand(member, definitions)])
  const expanded: JsonObject = { ...data, ...Object.fromEntries(members) }
  const target = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined
  // A schema that has both keywords would need a third one, which these schemas never have.
  return target === undefined ? expanded : { ...expanded, contentSchema: expand(target, definitions) }
}

describe('the measure', () => {
  it('of random schemas is that of the schema with every reference really expanded', () => {
    const property = fc.property(schema, ({ $defs, ...root }) => {
      const expanded = expand(root, isJsonObject($defs) ? $defs : {})
      if (!isJsonObject(expanded)) throw new Error('a schema expands to an object')
      expect(JSON.stringify(expanded)).not.toContain('$ref')
      expect(measureSchema({ ...root, $defs: $defs ?? {} }, countInstructions).nodes).toBe(
        measureSchema(expanded, countInstructions).nodes,
      )
    })
    fc.assert(property, { seed: SEED, numRuns: runsOf(2_000) })
  })

  it('of random patterns is never below the instructions of the compiled program', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '[a-f]',
      '\\d',
      '(',
      ')',
      '(?:',
      '|',
      '*',
      '+?',
      '{3}',
      '{2,}',
      '{0,40}',
      '^',
      '$',
    )
    const pattern = fc.array(piece, { maxLength: 20 }).map(pieces => pieces.join(''))
    const valid = pattern.filter(one => {
      try {
        RE2JS.compile(one)
        return true
      } catch {
        return false
      }
    })
    fc.assert(
      fc.property(valid, one => estimateInstructions(one) >= countInstructions(one)),
      { seed: SEED, numRuns: runsOf(2_000) },
    )
  })
})
