import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { document, isTool, onlyTool, readAll, readParts, render, toolOf } from './reading.ts'

describe('Swagger 2.0', () => {
  const read = async (operation: JsonObject, more: JsonObject = {}) => {
    const paths = {
      '/a/{id}': { parameters: [{ name: 'id', in: 'path', required: true, type: 'string' }], post: operation },
    }
    const spec = {
      swagger: '2.0',
      info: { title: 'Test', version: '1' },
      host: 'api.example.com',
      basePath: '/v1',
      schemes: ['https'],
      paths,
      ...more,
    }
    const { operations, summary } = await readAll([document(spec)])
    return { tool: onlyTool(operations), summary }
  }

  it('has its host, definitions and parameters', async () => {
    const body = { name: 'user', in: 'body', required: true, schema: { $ref: '#/definitions/User' } }
    const User = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
    const { tool, summary } = await read({ parameters: [body] }, { definitions: { User } })
    expect(summary).toMatchObject({ format: 'Swagger 2.0', baseUrl: { value: 'https://api.example.com/v1' } })
    expect(tool.tool).toMatchObject({ url: '{{url:base_url}}/a/{{id}}', body: '{"name": {{name}}}' })
  })

  it('has forms, and all formats of collections', async () => {
    const list = (name: string, collectionFormat: string, place = 'query') => ({
      name,
      in: place,
      type: 'array',
      items: { type: 'string' },
      collectionFormat,
    })
    const formats = ['csv', 'ssv', 'tsv', 'pipes', 'multi']
    const parameters = [...formats.map(format => list(format, format)), list('f', 'multi', 'formData')]
    const { tool } = await read({ consumes: ['application/x-www-form-urlencoded'], parameters })
    const values = Object.fromEntries([...formats, 'f'].map(name => [name, ['1', '2']]))
    const { url, body } = render(tool, { ...values, id: 'x' })
    expect(url.split('?')[1]).toBe('csv=1,2&ssv=1%202&tsv=1%092&pipes=1%7C2&multi=1&multi=2')
    expect(body).toBe('f=1&f=2')
  })

  it('loses no more than the parts that have the wrong type', async () => {
    const parameters = [{ name: 'q', in: 'query', type: 'string' }]
    const responses = { 200: null, 404: { description: 'x' } }
    const { tool } = await read(
      { produces: 7, consumes: null, responses, parameters },
      { securityDefinitions: { a: null } },
    )
    expect(tool.tool.url).toBe('{{url:base_url}}/a/{{id}}?q={{q?}}')
  })

  it('has a body and fields of a form that several operations share', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } }
    const shared = {
      User: { name: 'user', in: 'body', required: true, schema },
      Name: { name: 'name', in: 'formData', required: true, type: 'string' },
    }
    const json = await read({ parameters: [{ $ref: '#/parameters/User' }] }, { parameters: shared })
    expect(json.tool.tool.body).toBe('{"name": {{name?}}}')
    const consumes = ['application/x-www-form-urlencoded']
    const form = await read({ consumes, parameters: [{ $ref: '#/parameters/Name' }] }, { parameters: shared })
    expect(form.tool.tool.body).toBe('name={{name}}')
  })

  it('with broken operations and parameters loses only these', async () => {
    const { tool } = await read({ parameters: [null, 7, { name: 'x' }, { name: 'q', in: 'query', type: 'string' }] })
    expect(tool.tool.url).toContain('?q={{q?}}')
  })
})

describe('OpenAPI 3.0', () => {
  it('has nullable values and exclusive limits as in 3.1', async () => {
    const schema = { type: 'integer', nullable: true, minimum: 1, exclusiveMinimum: true }
    const tool = await toolOf({ parameters: [{ name: 'q', in: 'query', schema }] }, { version: '3.0.3' })
    expect(tool.tool.parameters.q?.schema).toEqual({ type: 'integer', exclusiveMinimum: 1 })
  })
})

describe('OpenAPI 3.2', () => {
  const text = { type: 'string' }

  it('has the method QUERY, which reads', async () => {
    const content = { 'application/json': { schema: { type: 'object', properties: { q: text } } } }
    const tool = await toolOf({ requestBody: { required: true, content } }, { method: 'query', version: '3.2.0' })
    expect(tool.tool).toMatchObject({ method: 'QUERY', annotations: { readOnlyHint: true, idempotentHint: true } })
  })

  it('has additional operations', async () => {
    const additionalOperations = { LINK: { operationId: 'link' }, TRACK: { operationId: 'track' } }
    const operations = await readParts({ paths: { '/a': { additionalOperations } } }, '3.2.0')
    expect(operations.map(one => (isTool(one) ? one.tool.method : one.reason))).toEqual([
      'LINK',
      'Tools cannot send TRACK requests.',
    ])
  })

  it('has a whole query string that is a form', async () => {
    const schema = { type: 'object', required: ['a'], properties: { a: text, tags: { type: 'array', items: text } } }
    const parameters = [
      { name: 'all', in: 'querystring', content: { 'application/x-www-form-urlencoded': { schema } } },
    ]
    const tool = await toolOf({ parameters }, { version: '3.2.0' })
    expect(render(tool, { a: 'x y', tags: ['1', '2'] }).url).toBe('https://api.example.com/items?a=x%20y&tags=1&tags=2')
  })

  it('has cookies in the style of cookies', async () => {
    const schema = { type: 'array', items: text }
    const tool = await toolOf(
      { parameters: [{ name: 'c', in: 'cookie', style: 'cookie', schema }] },
      { version: '3.2.0' },
    )
    expect(render(tool, { c: ['1', '2'] }).headers).toEqual([['Cookie', 'c=1; c=2']])
  })

  it('has streams of items, as text', async () => {
    const content = { 'application/jsonl': { itemSchema: { type: 'object' } } }
    const tool = await toolOf({ requestBody: { required: true, content } }, { method: 'post', version: '3.2.0' })
    expect(tool.notes).toEqual(['The body is application/jsonl: the model writes all items as one text.'])
    expect(render(tool, { body: '{}\n{}' }).body).toBe('{}\n{}')
  })
})
