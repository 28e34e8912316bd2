import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runsOf } from '../support/cases-of-run.ts'

const Fn = z.custom<(input: unknown) => unknown>(value => typeof value === 'function')
const Module = z.object({ readSchema: Fn, writeSchema: Fn })

const name = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), fc.constantFrom('__proto__', 'type'))
const line = fc.string({ minLength: 1, maxLength: 6 }).filter(text => text.trim() !== '' && !/[\r\n]/.test(text))
const annotations = { description: name, title: name, default: fc.jsonValue() }
const few = { minLength: 1, maxLength: 3 }
const { schema } = fc.letrec(tie => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.record(annotations, { requiredKeys: [] }),
    fc.record(
      { ...annotations, type: fc.constant('string'), enum: fc.array(line, few), minLength: fc.nat() },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      { ...annotations, type: fc.constant('string'), format: fc.constantFrom('date', 'uri', 'email') },
      { requiredKeys: ['type', 'format'] },
    ),
    fc.record(
      { ...annotations, type: fc.constant('integer'), enum: fc.array(fc.nat(), few), maximum: fc.nat() },
      { requiredKeys: ['type'] },
    ),
    fc.record({ ...annotations, type: fc.constantFrom('number', 'boolean') }, { requiredKeys: ['type'] }),
    fc.record(
      { ...annotations, type: fc.constant('array'), items: tie('schema'), maxItems: fc.nat() },
      { requiredKeys: ['type'] },
    ),
    fc
      .record(
        {
          ...annotations,
          members: fc.uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), {
            selector: ([one]) => one,
            maxLength: 4,
          }),
          additionalProperties: fc.boolean(),
        },
        { requiredKeys: ['members'] },
      )
      .map(({ members, ...rest }) => ({
        ...rest,
        type: 'object',
        properties: Object.fromEntries(members.map(([key, value]) => [key, value])),
        required: members.flatMap(([key, , required]) => (required ? [key] : [])),
      })),
  ),
}))

describe('a JSON Schema in the table of members', () => {
  let read: (schema: unknown) => unknown
  let write: (value: unknown) => unknown
  beforeAll(async () => {
    const path = join(import.meta.dirname, '../../public/js/schema-members.js')
    const module = Module.parse(await import(pathToFileURL(path).href))
    read = module.readSchema
    write = module.writeSchema
  })

  it('is the same after it is read and written', async () => {
    await fc.assert(
      fc.property(schema, written => {
        const value = read(written)
        // Large ones stay text.
        if (value !== undefined) expect(write(value)).toEqual(written)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it.each([
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    { type: 'array', items: { type: 'object', properties: { day: { type: 'string', format: 'date' } } } },
    { type: 'string', enum: ['a', 'b'], minLength: 1 },
    {},
  ])('is read: %j', written => {
    expect(read(written)).toBeDefined()
  })

  it.each([
    true,
    [],
    { type: ['string', 'null'] },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { enum: ['a'] },
    { type: 'string', enum: ['a\nb'] },
    { type: 'string', enum: ['a', 1] },
    { type: 'boolean', enum: [true] },
    { type: 'array', items: [{ type: 'string' }] },
    { type: 'array', prefixItems: [{ type: 'string' }] },
    { type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: { type: 'string' } } },
    { type: 'object', properties: { a: true } },
    { type: 'object', additionalProperties: { type: 'string' } },
    { type: 'object', required: ['a'] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'a'] },
    { type: 'string', properties: { a: { type: 'string' } } },
    { type: 'string', minimum: 1 },
    { type: 'string', 'x-note': 1 },
    { type: 'string', description: 1 },
  ])('stays text if the table cannot show it: %j', written => {
    expect(read(written)).toBeUndefined()
  })

  it('stays text if it is too large or too deep', () => {
    const many = Array.from({ length: 300 }, (_, index) => [`m${index}`, { type: 'string' }])
    expect(read({ type: 'object', properties: Object.fromEntries(many) })).toBeUndefined()
    let deep: object = { type: 'string' }
    for (let depth = 0; depth < 20; depth++) deep = { type: 'array', items: deep }
    expect(read(deep)).toBeUndefined()
  })
})
