import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { readObjectSchema, readSchema } from './read-schema.ts'
import { bodyTool } from './reading.ts'

const text = { type: 'string' }

describe('the schema of a type from which others are derived', () => {
  const derived = (base: string, properties: JsonObject, more: JsonObject = {}) => ({
    ...more,
    allOf: [{ $ref: `#/components/schemas/${base}` }, { type: 'object', properties }],
  })
  const discriminator = { propertyName: 'kind', mapping: { feline: '#/components/schemas/Cat' } }
  const Animal = { type: 'object', required: ['kind'], properties: { kind: text, name: text }, discriminator }
  const TYPES = {
    Animal,
    Cat: derived('Animal', { purr: text }),
    Dog: derived('Animal', { bark: text }, { 'x-ms-discriminator-value': 'canine' }),
    Puppy: derived('Dog', { age: { type: 'integer' } }),
  }
  const branch = (value: string, ...names: string[]) => ({
    type: 'object',
    properties: {
      ...Object.fromEntries(['kind', 'name', ...names].map(name => [name, expect.anything()])),
      kind: { type: 'string', enum: [value] },
    },
    required: ['kind'],
  })

  it.each([
    ['a reference', { $ref: '#/components/schemas/Animal' }],
    ['a text around a reference', { allOf: [{ $ref: '#/components/schemas/Animal' }], description: 'Animal' }],
  ])('says which members each of them has: %s', async (_, schema) => {
    expect(await readSchema(schema, TYPES)).toEqual({
      type: 'object',
      ...('allOf' in schema && { description: 'Animal' }),
      anyOf: [branch('Animal'), branch('feline', 'purr'), branch('canine', 'bark'), branch('Puppy', 'bark', 'age')],
    })
  })

  it('lists the types of a derived type too, if it has any', async () => {
    expect(await readSchema({ $ref: '#/components/schemas/Dog' }, TYPES)).toMatchObject({
      anyOf: [branch('canine', 'bark'), branch('Puppy', 'bark', 'age')],
    })
    const { anyOf, properties } = await readObjectSchema({ $ref: '#/components/schemas/Puppy' }, TYPES)
    expect([anyOf, Object.keys(Object(properties))]).toEqual([undefined, ['kind', 'name', 'bark', 'age']])
  })

  it('takes the value of each type from those that the base type lists', async () => {
    const kind = { type: 'string', enum: ['animal', 'cat', 'dog'] }
    const base = { ...Animal, properties: { kind }, discriminator: { propertyName: 'kind' } }
    const { Puppy: _Puppy, Dog: _Dog, ...others } = TYPES
    expect(await readSchema({ $ref: '#/components/schemas/Animal' }, { ...others, Animal: base })).toMatchObject({
      anyOf: [{ properties: { kind: { enum: ['animal'] } } }, { properties: { kind: { enum: ['cat'] } } }],
    })
  })

  it('does not repeat the types in a derived type if the base type lists them', async () => {
    const refs = ['Cat', 'Dog'].map(name => ({ $ref: `#/components/schemas/${name}` }))
    const listed = { ...TYPES, Animal: { ...Animal, oneOf: refs } }
    const { anyOf } = await readObjectSchema({ $ref: '#/components/schemas/Animal' }, listed)
    expect(anyOf).toEqual([branch('feline', 'purr'), branch('canine', 'bark')])
  })

  it('ends if a type contains others of its kind', async () => {
    const friends = { type: 'array', items: { $ref: '#/components/schemas/Animal' } }
    const types = { ...TYPES, Animal: { ...Animal, properties: { kind: text, friends } } }
    const schema = await readSchema({ $ref: '#/components/schemas/Animal' }, types)
    expect(JSON.stringify(schema).length).toBeLessThan(4_000)
  })

  it('accepts any members if there are too many types', async () => {
    const many = Array.from({ length: 100 }, (_, index) => [`Type${index}`, derived('Animal', { [`p${index}`]: text })])
    const schema = await readSchema({ $ref: '#/components/schemas/Animal' }, { Animal, ...Object.fromEntries(many) })
    expect(schema).toMatchObject({ properties: { kind: text, name: text }, additionalProperties: {} })
  })

  it('makes one parameter of a body', async () => {
    const { tool } = await bodyTool({ $ref: '#/components/schemas/Animal' }, { components: { schemas: TYPES } })
    expect(tool.body).toBe('{{json:body}}')
  })
})
