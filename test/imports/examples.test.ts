import { describe, expect, it } from 'vitest'
import type { MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { bodyTool, document, onlyTool, readAll, toolOf } from './reading.ts'

const examplesOf = ({ tool }: MappedOperation): JsonObject =>
  Object.fromEntries(
    Object.entries(tool.parameters).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
  )

const TEXT = { type: 'string' }
const PASSWORD = { ...TEXT, format: 'password' }

const parameter = (parts: JsonObject, version = '3.1.0') =>
  toolOf({ parameters: [{ name: 'city', in: 'query', schema: TEXT, ...parts }] }, { version })

const bodyOf = (media: JsonObject, type = 'application/json') =>
  toolOf({ requestBody: { required: true, content: { [type]: media } } }, { method: 'post' })

const ORDER = {
  type: 'object',
  required: ['id', 'city'],
  properties: {
    id: { type: 'integer', readOnly: true, examples: [7] },
    city: { type: 'string', examples: ['Oslo'] },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string', example: 'A-1' } } } },
  },
}

describe('the example of a parameter', () => {
  it.each<[string, string, JsonObject, JsonValue]>([
    ['of the parameter', '3.0.3', { example: 'Oslo' }, 'Oslo'],
    ['of a list of them', '3.1.0', { examples: { first: { value: 'Oslo' }, other: { value: 'Bergen' } } }, 'Oslo'],
    ['of a list of OpenAPI 3.2', '3.2.0', { examples: { first: { dataValue: 'Oslo' } } }, 'Oslo'],
    ['of its schema in 3.0', '3.0.3', { schema: { ...TEXT, example: 'Oslo' } }, 'Oslo'],
    ['of its schema in 3.1', '3.1.0', { schema: { ...TEXT, examples: ['Oslo'] } }, 'Oslo'],
    ['of its items', '3.1.0', { schema: { type: 'array', items: { ...TEXT, examples: ['Oslo'] } } }, ['Oslo']],
    ['of a list as it is sent', '3.0.3', { schema: { type: 'array', items: TEXT }, example: 'a,b' }, ['a', 'b']],
    ['of its content', '3.1.0', { schema: {}, content: { 'application/json': { example: { a: 1 } } } }, { a: 1 }],
    ['by its default, if it is required', '3.1.0', { required: true, schema: { ...TEXT, default: 'Oslo' } }, 'Oslo'],
    ['as its type', '3.1.0', { schema: { type: 'integer' }, example: '7' }, 7],
    [
      'that fits, before others',
      '3.1.0',
      { schema: { enum: ['a', 'b'] }, example: 'c', examples: { x: { value: 'b' } } },
      'b',
    ],
  ])('is the one %s', async (_, version, parts, expected) => {
    expect(examplesOf(await parameter(parts, version))).toEqual({ city: expected })
  })

  it.each<[string, JsonObject]>([
    ['has another type', { schema: { type: 'integer' }, example: 'seven' }],
    ['is not one of the values', { schema: { enum: ['a', 'b'] }, example: 'c' }],
    ['does not match the pattern', { schema: { ...TEXT, pattern: '^[a-z]+$' }, example: 'Oslo' }],
    ['is too long', { example: 'Oslo '.repeat(200) }],
    ['only repeats the name', { example: 'City' }],
    ['is the default of an optional one', { schema: { ...TEXT, default: 'Oslo' } }],
    ['is elsewhere', { examples: { first: { externalValue: 'https://example.com' } } }],
    ['is a reference that leads nowhere', { examples: { first: { $ref: '#/components/examples/none' } } }],
    ['is a token by its format', { example: 'ghp_0123456789abcdefghijABCDEFGHIJ' }],
    ['is a password by its schema', { schema: { ...TEXT, format: 'password' }, example: 'hunter2' }],
    ['is a secret by its name', { name: 'client_secret', example: 'hunter2' }],
    ['contains a secret', { schema: { type: 'object' }, example: { user: { password: 'hunter2' } } }],
    ['contains a secret as JSON', { schema: { type: 'object' }, example: '{"user":{"password":"hunter2"}}' }],
    ['is JSON with a secret', { example: '{"password":"hunter2"}' }],
    ['is XML with a secret', { example: '<user><password>hunter2</password></user>' }],
    ['is a URL with a secret', { example: 'https://example.com/x?api_key=hunter2' }],
    ['is a credential of a header', { example: 'Basic hunter2' }],
    ['is a password by a part of its name', { name: 'new_password', example: 'hunter2' }],
    ['names a secret', { schema: { type: 'object' }, example: { env: [{ name: 'DB_PASSWORD', value: 'hunter2' }] } }],
    ['is a list of passwords', { schema: { type: 'array', items: PASSWORD }, example: 'hunter2,hunter3' }],
    ['has any passwords', { schema: { type: 'object', additionalProperties: PASSWORD }, example: { a: 'hunter2' } }],
    ['is the default of a password', { required: true, schema: { ...PASSWORD, default: 'hunter2' } }],
  ])('is left out if it %s', async (_, parts) => {
    const operation = await parameter(parts)
    expect(examplesOf(operation)).toEqual({})
    expect(JSON.stringify(operation)).not.toMatch(/hunter2|ghp_/)
  })

  it('is left out if it would lead to another page', async () => {
    const query = ['cursor', 'q'].map(name => ({ name, in: 'query', schema: TEXT, example: 'abc' }))
    expect(examplesOf(await toolOf({ parameters: query }))).toEqual({ q: 'abc' })
  })

  it('is limited together with those of the others', async () => {
    const parameters = [1, 2, 3, 4, 5, 6].map(number => ({
      name: `text${number}`,
      in: 'query',
      schema: TEXT,
      example: 'Oslo '.repeat(90),
    }))
    expect(Object.keys(examplesOf(await toolOf({ parameters })))).toHaveLength(4)
  })
})

describe('the examples of a body', () => {
  it('are those of its members', async () => {
    expect(examplesOf(await bodyTool(ORDER))).toEqual({ city: 'Oslo', lines: [{ sku: 'A-1' }] })
  })

  it('are taken from the example of the whole body first', async () => {
    const example = { id: 1, city: 'Bergen' }
    expect(examplesOf(await bodyOf({ schema: ORDER, example }))).toMatchObject({ city: 'Bergen' })
    expect(examplesOf(await bodyOf({ schema: { ...ORDER, examples: [example] } }))).toMatchObject({ city: 'Bergen' })
  })

  it('are one for a body that is one parameter, without what only responses have', async () => {
    const schema = { ...ORDER, additionalProperties: { type: 'string' } }
    expect(examplesOf(await bodyOf({ schema, examples: { a: { value: { id: 1, city: 'Bergen' } } } }))).toEqual({
      body: { city: 'Bergen' },
    })
    expect(examplesOf(await bodyOf({ schema }))).toEqual({ body: { city: 'Oslo', lines: [{ sku: 'A-1' }] } })
  })

  it('have only the required members if all of them are too long', async () => {
    const text = { type: 'string', examples: ['Oslo '.repeat(40)] }
    const schema = {
      ...ORDER,
      additionalProperties: true,
      properties: { ...ORDER.properties, a: text, b: text, c: text },
    }
    expect(examplesOf(await bodyOf({ schema }))).toEqual({ body: { city: 'Oslo' } })
  })

  it('are those of a form', async () => {
    const schema = { type: 'object', properties: { city: TEXT, tags: { type: 'array', items: TEXT } } }
    const example = { city: 'Oslo', tags: ['a', 'b'] }
    expect(examplesOf(await bodyOf({ schema, example }, 'application/x-www-form-urlencoded'))).toEqual(example)
    expect(examplesOf(await bodyOf({ schema, example }, 'multipart/form-data'))).toEqual(example)
  })

  it('are the text of a text', async () => {
    expect(examplesOf(await bodyOf({ schema: TEXT, example: 'Oslo,7' }, 'text/csv'))).toEqual({ body: 'Oslo,7' })
  })

  it('end where a type contains itself', async () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string', example: 'n' }, next: { $ref: '#/components/schemas/Node' } },
    }
    const { example } =
      (await bodyTool({ $ref: '#/components/schemas/Node' }, { components: { schemas: { Node: node } } })).tool
        .parameters.next ?? {}
    expect(JSON.stringify(example).length).toBeLessThan(500)
    expect(example).toMatchObject({ name: 'n' })
  })
})

it('reads the examples of Swagger 2.0', async () => {
  const operation = {
    consumes: ['application/json'],
    parameters: [
      { name: 'city', in: 'query', type: 'string', 'x-example': 'Oslo' },
      { name: 'token', in: 'query', type: 'string', 'x-example': 'hunter2' },
      {
        name: 'order',
        in: 'body',
        required: true,
        schema: { type: 'object', properties: { note: { type: 'string', example: 'Fragile' } } },
      },
    ],
    responses: {},
  }
  const form = {
    consumes: ['application/x-www-form-urlencoded'],
    parameters: [{ name: 'city', in: 'formData', type: 'string', 'x-example': 'Oslo' }],
    responses: {},
  }
  const description = (one: JsonObject): JsonObject => ({
    swagger: '2.0',
    info: { title: 'Test', version: '1' },
    host: 'api.example.com',
    paths: { '/orders': { post: one } },
  })
  const { operations } = await readAll([document(description(operation))])
  expect(examplesOf(onlyTool(operations))).toEqual({ city: 'Oslo', note: 'Fragile' })
  expect(JSON.stringify(operations)).not.toContain('hunter2')
  expect(examplesOf(onlyTool((await readAll([document(description(form))])).operations))).toEqual({ city: 'Oslo' })
})
