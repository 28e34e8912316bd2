import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/kernel/json.ts'
import type { ParameterMeta } from '../../src/templates/check-value.ts'
import { compileParameterCheck, compileParameters } from '../../src/templates/compile-parameters.ts'
import { inputSchemaOf } from '../../src/templates/input-schema.ts'
import type { ParameterType } from '../../src/templates/template.ts'
import { compileSchema } from '../../src/tools/schemas/compile-schema.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { compiled } from './compiling.ts'

const problemsOf = (type: ParameterType, meta: ParameterMeta) => {
  const check = compileParameterCheck(type, meta)
  return check.ok ? [] : check.error
}

const propertiesOf = (url: string, metas: Record<string, ParameterMeta>): JsonObject => {
  const parameters = compileParameters(compiled({ url: `https://api.example.com/${url}` }).parameters, metas)
  if (!parameters.ok) throw new Error(JSON.stringify(parameters.error))
  const { properties } = inputSchemaOf(parameters.value)
  return isJsonObject(properties) ? properties : {}
}

describe('the schema of a parameter', () => {
  it.each<[ParameterType, JsonObject]>([
    ['string', { minLength: 1 }],
    ['string', { type: ['string', 'null'] }],
    ['string', { enum: ['a', 1] }],
    ['integer', { type: 'number', multipleOf: 5 }],
    ['number', { type: 'integer' }],
    ['boolean', { const: true }],
    ['url', { type: 'string', maxLength: 100 }],
    ['json', { type: 'array', items: { type: 'integer' } }],
    ['json', { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { a: {} }, $ref: '#/$defs/a' }],
    ['json', { properties: { $id: { type: 'string' }, $anchor: {} }, const: { $ref: 'other' } }],
  ])('of type %s may be %j', (type, schema) => {
    expect(problemsOf(type, { schema })).toEqual([])
  })

  it.each<[ParameterType, ParameterMeta, string]>([
    [
      'integer',
      { schema: { type: 'string' } },
      "the schema accepts no value of this parameter's type: integer in the template, but string in the schema",
    ],
    ['string', { schema: { type: ['array', 'null'] } }, 'string in the template, but array or null in the schema'],
    ['url', { schema: { type: 'object' } }, 'url in the template, but object in the schema'],
    ['integer', { schema: { enum: ['1', 1.5] } }, 'but no value of enum in the schema is an integer'],
    ['boolean', { schema: { const: 'true' } }, 'but no value of const in the schema is true or false'],
    ['json', { schema: { items: { $ref: 'https://a.example/b' } } }, 'has a "$ref" that does not start with "#/"'],
    ['json', { schema: { $ref: '#there', $defs: { a: {} } } }, 'has a "$ref" that does not start with "#/"'],
    ['json', { schema: { $defs: { a: { $anchor: 'there' } } } }, 'the schema has "$anchor"'],
    ['json', { schema: { anyOf: [{ $id: 'https://a.example/b' }] } }, 'the schema has "$id"'],
    ['json', { schema: { items: { $recursiveRef: '#' } } }, 'the schema has "$recursiveRef"'],
    [
      'integer',
      { minimum: 1, schema: { minimum: 2 } },
      'the schema and the parameter both have "minimum". Remove one of them',
    ],
  ])('of type %s may not be part of %j', (type, meta, message) => {
    expect(problemsOf(type, meta)).toEqual([{ key: 'schema', message: expect.stringContaining(message) }])
  })

  it('is a property of the input schema, with the description and the default of the parameter', () => {
    const schema = {
      type: 'array',
      description: 'Of the API',
      items: { $ref: '#/$defs/id' },
      $defs: { id: { minimum: 1 } },
    }
    const meta = { description: 'Which ones', default: [1], schema }
    expect(propertiesOf('?ids={{json:ids}}&n={{integer:n?}}', { ids: meta, n: { schema: { multipleOf: 5 } } })).toEqual(
      {
        ids: {
          type: 'array',
          description: 'Which ones',
          default: [1],
          items: { $ref: '#/properties/ids/$defs/id' },
          $defs: { id: { minimum: 1 } },
        },
        n: { type: 'integer', multipleOf: 5 },
      },
    )
  })

  it('accepts the same values in the input schema as alone, whatever it refers to', () => {
    const leaf = fc.constantFrom<JsonObject>({ type: 'integer' }, { minLength: 2 }, { enum: [1, 'ab', null] }, {})
    const reference = fc.constantFrom<JsonObject>({ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { $ref: '#' })
    const { schemas } = fc.letrec<{ schemas: JsonObject }>(tie => ({
      schemas: fc.oneof(
        { maxDepth: 3 },
        leaf,
        reference,
        fc.record({ items: tie('schemas') }),
        fc.record({ properties: fc.record({ a: tie('schemas'), $ref: tie('schemas') }) }),
        fc.record({ anyOf: fc.array(tie('schemas'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ not: tie('schemas') }),
      ),
    }))
    // The root and the definitions are containers, because a reference that leads back to itself never ends.
    const roots = fc.record({
      items: schemas,
      $defs: fc.record({ a: fc.record({ items: schemas }), b: fc.record({ properties: fc.record({ a: schemas }) }) }),
    })
    const values = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(roots, fc.array(values), (schema: JsonObject, items) => {
        const value: JsonValue = JSON.parse(JSON.stringify(items))
        const alone = compileSchema(schema)
        const inside = compileSchema({ type: 'object', properties: propertiesOf('{{json:x=1}}', { x: { schema } }) })
        if (!alone.ok || !inside.ok) throw new Error('does not compile')
        expect(inside.value({ x: value })).toBe(alone.value(value))
      }),
      { numRuns: runsOf(500) },
    )
  })
})
