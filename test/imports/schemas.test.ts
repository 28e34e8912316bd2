import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { itemSchema, readSchema } from './read-schema.ts'
import { bodyTool, toolOf } from './reading.ts'

const text = { type: 'string' }

describe('a schema', () => {
  it('has its references replaced', async () => {
    const A = { type: 'object', properties: { b: { $ref: '#/components/schemas/B', description: 'Of the member' } } }
    expect(await readSchema({ $ref: '#/components/schemas/A' }, { A, B: { ...text, description: 'Of B' } })).toEqual({
      type: 'object',
      properties: { b: { type: 'string', description: 'Of the member' } },
    })
  })

  it('has the parts of allOf merged, also what is required elsewhere', async () => {
    const Base = { type: 'object', properties: { id: { type: 'integer' }, name: text } }
    const allOf = [
      { $ref: '#/components/schemas/Base' },
      { required: ['id'], properties: { name: { maxLength: 5 }, x: text } },
    ]
    expect(await readSchema({ allOf }, { Base })).toEqual({
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 5 }, x: text },
      required: ['id'],
    })
  })

  it('has anyOf instead of oneOf and of lists of types', async () => {
    expect(await readSchema({ oneOf: [text, { type: 'integer' }] })).toEqual({ anyOf: [text, { type: 'integer' }] })
    expect(await readSchema({ type: ['string', 'integer', 'null'] })).toEqual({ anyOf: [text, { type: 'integer' }] })
    expect(await readSchema({ anyOf: [{ type: 'null' }, text] })).toEqual(text)
  })

  it('says for each alternative by which value of the discriminator it is chosen', async () => {
    const animal = (name: string) => ({ type: 'object', properties: { kind: text, [name]: text } })
    const schema = {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { feline: '#/components/schemas/Cat' } },
    }
    expect(await readSchema(schema, { Cat: animal('purr'), Dog: animal('bark') })).toMatchObject({
      anyOf: [
        { properties: { kind: { enum: ['feline'] } }, required: ['kind'] },
        { properties: { kind: { enum: ['Dog'] } }, required: ['kind'] },
      ],
    })
  })

  it('that contains itself is expanded twice, and then only named', async () => {
    const Node = { type: 'object', properties: { value: text, next: { $ref: '#/components/schemas/Node' } } }
    const { schema, notes } = await itemSchema({ $ref: '#/components/schemas/Node' }, { Node })
    const named = { type: 'object', description: 'Node' }
    const second = { type: 'object', properties: { value: text, next: named } }
    expect(schema).toEqual({ type: 'object', properties: { value: text, next: second } })
    expect(notes).toEqual(['Node contains itself and is described 2 levels deep.'])
  })

  it('is cut at the same level everywhere if it is too large', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 4 }, (_, level) => {
        const inner = level === 3 ? text : { $ref: `#/components/schemas/L${level + 1}` }
        const properties = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`p${index}`, inner]))
        return [`L${level}`, { type: 'object', properties }]
      }),
    )
    const { schema, notes } = await itemSchema({ $ref: '#/components/schemas/L0' }, schemas)
    expect(notes).toEqual(['The schema is large: its inner levels are left out, and any value is accepted there.'])
    const named = { type: 'object', description: 'L2' }
    const second = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`p${i}`, named])),
    }
    expect(schema).toEqual({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`p${i}`, second])),
    })
  })

  it('has shorter descriptions rather than fewer levels if only its texts are long', async () => {
    const long = { ...text, description: 'A sentence that explains one more detail of the member. '.repeat(5) }
    const inner = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`p${i}`, long])),
    }
    const { schema, notes } = await itemSchema({ type: 'object', properties: { inner } })
    expect(JSON.stringify(schema).length).toBeLessThan(16_384)
    expect(schema).toMatchObject({ properties: { inner: { properties: { p79: { type: 'string' } } } } })
    expect(notes).toEqual([])
  })

  it('has no values that JSON Schema 2020-12 does not allow', async () => {
    const odd = {
      type: 'string',
      minLength: -1,
      maxLength: '5',
      pattern: 7,
      enum: [],
      required: 'x',
      format: 3,
      multipleOf: 0,
    }
    expect(await readSchema(odd)).toEqual(text)
  })

  it('has no patterns that RE2 cannot read', async () => {
    const { schema, notes } = await itemSchema({ ...text, pattern: '^(?!a)b$' })
    expect(schema).toEqual(text)
    expect(notes).toEqual(['A pattern that cannot be checked in linear time was left out.'])
    expect(await readSchema({ ...text, pattern: '^a+$' })).toEqual({ ...text, pattern: '^a+$' })
  })

  it('has the values of an enum in the declared type', async () => {
    expect(await readSchema({ type: 'string', enum: [1, true, 'a', null, 'a'] })).toEqual({
      ...text,
      enum: ['1', 'true', 'a'],
    })
    expect(await readSchema({ type: 'integer', enum: ['1', 2, 'x'] })).toEqual({ type: 'integer', enum: [1, 2] })
    expect(await readSchema({ const: 'fixed' })).toEqual({ type: 'string', enum: ['fixed'] })
  })

  it('accepts any value behind a reference that leads nowhere, with a note', async () => {
    const { schema, notes } = await itemSchema({ $ref: '#/components/schemas/None' })
    expect(schema).toEqual({})
    expect(notes).toEqual(['A reference leads nowhere, so any value is accepted: #/components/schemas/None'])
  })
})

describe('a parameter in a URL', () => {
  const parameterOf = async (schema: JsonObject, style: JsonObject = {}) => {
    const { tool } = await toolOf({ parameters: [{ name: 'p', in: 'query', schema, ...style }] })
    return { url: tool.url.split('?').slice(1).join('?'), schema: tool.parameters.p?.schema }
  }

  it('is a list if a list is one of the alternatives', async () => {
    const { url, schema } = await parameterOf({ oneOf: [text, { type: 'array', items: text }] })
    expect(url).toBe('p={{json:p? | repeat}}')
    expect(schema).toEqual({ type: 'array', items: text })
  })

  it('is a text if it is one of several scalars', async () => {
    expect(await parameterOf({ oneOf: [{ type: 'integer' }, text] })).toEqual({ url: 'p={{p?}}', schema: undefined })
    const closed = {
      oneOf: [
        { type: 'integer', enum: [1] },
        { ...text, enum: ['all'] },
      ],
    }
    expect((await parameterOf(closed)).schema).toEqual({ type: 'string', enum: ['1', 'all'] })
  })

  it('is an object for deepObject, and an array with brackets', async () => {
    const range = { type: 'object', properties: { gt: { type: 'integer' } } }
    const deep = { style: 'deepObject', explode: true }
    expect((await parameterOf({ anyOf: [range, { type: 'integer' }] }, deep)).url).toBe('p{{json:p? | brackets}}')
    expect((await parameterOf({ type: 'array', items: text }, deep)).url).toBe('p[]={{json:p? | repeat}}')
  })

  it('is JSON if its content is', async () => {
    const content = { 'application/json': { schema: { type: 'object' } } }
    const { tool } = await toolOf({ parameters: [{ name: 'p', in: 'query', content }] })
    expect(tool.url).toContain('p={{json:p?}}')
  })
})

describe('a body with very many members', () => {
  const membersOf = async (count: number, description: string) => {
    const properties = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`m${index}`, { ...text, description }]),
    )
    const { tool, notes } = await bodyTool({ type: 'object', description: 'All settings', properties })
    expect(notes).toEqual([expect.stringContaining('The schema is large')])
    return tool.parameters.body
  }

  it('names them if they have room', async () => {
    const body = await membersOf(450, '')
    expect(body?.schema).toMatchObject({ properties: { m0: { type: 'string' }, m449: { type: 'string' } } })
  })

  it('is an object of any kind if they have no room', async () => {
    expect(await membersOf(2_000, 'word '.repeat(60))).toEqual({
      description: 'All settings',
      schema: { type: 'object' },
    })
  })
})

describe('the output schema', () => {
  const outputOf = async (schema: JsonObject, schemas: JsonObject = {}) => {
    const content = { 'application/json': { schema } }
    const tool = await toolOf({ responses: { 200: { description: 'OK', content } } }, { components: { schemas } })
    return tool.outputSchema
  }

  it('requires nothing, has no limits, and allows null everywhere', async () => {
    const schema = {
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'integer', minimum: 1 },
        secret: { ...text, writeOnly: true },
        state: { ...text, enum: ['a'], description: 'Of the order' },
        list: { type: 'array', items: { type: 'object', properties: { x: text } } },
      },
    }
    expect(await outputOf(schema)).toEqual({
      type: 'object',
      properties: {
        id: { type: ['integer', 'null'] },
        state: { type: ['string', 'null'], description: 'Of the order' },
        list: {
          type: ['array', 'null'],
          items: { type: ['object', 'null'], properties: { x: { type: ['string', 'null'] } } },
        },
      },
    })
  })

  it('has at most 8 KiB', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`member${index}`, { ...text, description: 'word '.repeat(60) }]),
    )
    const schema = await outputOf({
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'object', properties } } },
    })
    expect(JSON.stringify(schema).length).toBeLessThanOrEqual(8_192)
    expect(schema).toMatchObject({
      properties: { list: { items: { properties: { member39: { type: ['string', 'null'] } } } } },
    })
  })

  it('is not proposed for a response that is not an object', async () => {
    expect(await outputOf({ type: 'array', items: text })).toBeUndefined()
  })
})
