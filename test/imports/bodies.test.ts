import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { bodyTool, readParts, render, toolOf } from './reading.ts'

const text = { type: 'string' }

/** Returns the tool for an operation whose body has these media types. */
const contentTool = (content: JsonObject, required = true) =>
  toolOf({ requestBody: { required, content } }, { method: 'post' })

const reasonOf = async (content: JsonObject): Promise<string | undefined> => {
  const paths = { '/items': { post: { requestBody: { required: true, content }, responses: {} } } }
  const [operation] = await readParts({ paths })
  return operation !== undefined && 'reason' in operation ? operation.reason : undefined
}

describe('a JSON body', () => {
  it('has a parameter for each member of an object', async () => {
    const tool = await bodyTool({
      type: 'object',
      required: ['name'],
      properties: { name: text, 'a"b': { type: 'integer' } },
    })
    expect(tool.tool.body).toBe('{"name": {{name}}, "a\\"b": {{integer:a_b?}}}')
    expect(render(tool, { name: 'Ann' }).body).toBe('{"name": "Ann"}')
  })

  it('keeps braces in the name of a member', async () => {
    const tool = await bodyTool({ type: 'object', properties: { 'a{{b}}': text } })
    expect(render(tool, { a_b: 'x' }).body).toBe('{"a{{b}}": "x"}')
  })

  it.each([
    [
      'has more than 30 members',
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`m${i}`, text])) },
    ],
    ['accepts other members', { type: 'object', properties: { name: text }, additionalProperties: text }],
    [
      'has alternatives',
      {
        oneOf: [
          { type: 'object', properties: { a: text } },
          { type: 'object', properties: { b: text } },
        ],
      },
    ],
    ['is an array', { type: 'array', items: text }],
    ['has no described members', { type: 'object' }],
  ])('is one parameter if it %s', async (_, schema) => {
    expect((await bodyTool(schema)).tool.body).toBe('{{json:body}}')
  })

  it('is one parameter if it may be missing but has required members', async () => {
    const schema = { type: 'object', required: ['name'], properties: { name: text } }
    const tool = await bodyTool(schema, { required: false })
    expect(tool.tool.body).toBe('{{json:body?}}')
    expect(render(tool).body).toBeUndefined()
  })

  it('leaves out members that the API sets', async () => {
    const id = { type: 'integer', readOnly: true }
    expect((await bodyTool({ type: 'object', properties: { id, name: text } })).tool.body).toBe('{"name": {{name?}}}')
  })

  it('takes null where it clears a value, in PATCH only', async () => {
    const schema = { type: 'object', properties: { name: { type: ['string', 'null'], maxLength: 9 } } }
    const patch = await bodyTool(schema, { method: 'patch' })
    expect(patch.tool.parameters.name?.schema).toEqual({ anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] })
    expect(render(patch, { name: null }).body).toBe('{"name": null}')
    const post = await bodyTool(schema)
    expect(post.tool.parameters.name?.schema).toEqual({ type: 'string', maxLength: 9 })
  })

  it('is sent as the type that is described, and JSON is preferred to other types', async () => {
    const schema = { type: 'object', properties: { name: text } }
    const merge = await contentTool({ 'application/merge-patch+json': { schema } })
    expect(merge.tool.headers).toEqual([{ name: 'Content-Type', value: 'application/merge-patch+json' }])
    const both = await contentTool({ 'application/xml': { schema }, 'application/json': { schema } })
    expect(both.tool.headers).toEqual([])
  })

  it('in a GET request is sent with a note', async () => {
    const tool = await bodyTool({ type: 'object', properties: { name: text } }, { method: 'get' })
    expect(tool.notes).toEqual(['It is a GET request with a body, which some servers ignore.'])
  })
})

describe('a form', () => {
  const schema = {
    type: 'object',
    properties: {
      name: text,
      tags: { type: 'array', items: text },
      ids: { type: 'array', items: { type: 'integer' } },
      meta: { type: 'object', properties: { a: text } },
      range: { type: 'object', properties: { from: text } },
    },
  }
  const encoding = { ids: { style: 'form', explode: false }, range: { style: 'deepObject', explode: true } }

  it('follows the encodings; other arrays repeat, and other objects are JSON', async () => {
    const tool = await contentTool({ 'application/x-www-form-urlencoded': { schema, encoding } })
    const { body, headers } = render(tool, {
      name: 'a b',
      tags: ['x', 'y'],
      ids: [1, 2],
      meta: { a: 'z' },
      range: { from: '1' },
    })
    expect(body).toBe('name=a%20b&tags=x&tags=y&ids=1,2&meta=%7B%22a%22%3A%22z%22%7D&range%5Bfrom%5D=1')
    expect(headers).toEqual([['Content-Type', 'application/x-www-form-urlencoded']])
  })

  it('without described fields takes any', async () => {
    const tool = await contentTool({ 'application/x-www-form-urlencoded': { schema: { type: 'object' } } })
    expect(render(tool, { body: { a: 'b' } }).body).toBe('a=b')
  })

  it('with alternatives has the fields of all of them', async () => {
    const oneOf = [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }]
    const tool = await contentTool({ 'application/x-www-form-urlencoded': { schema: { type: 'object', oneOf } } })
    expect(tool.tool.body).toBe('a={{a?}}&b={{b?}}')
    expect(tool.notes).toEqual(['The body has alternatives: their fields are all optional parameters.'])
  })
})

describe('a multipart form', () => {
  const file = { type: 'string', format: 'binary' }
  const multipart = (schema: JsonObject, more: JsonObject = {}) => ({ 'multipart/form-data': { schema, ...more } })

  const fieldsOf = async (tool: Awaited<ReturnType<typeof contentTool>>, values: Parameters<typeof render>[1]) => {
    const { body = '', headers } = render(tool, values)
    const data = await new Response(body, { headers: headers.map(([name, value]) => [name, value]) }).formData()
    return [...data]
  }

  it('has a part for each value, and none for what is missing', async () => {
    const properties = { name: text, note: text, tags: { type: 'array', items: text }, meta: { type: 'object' } }
    const tool = await contentTool(multipart({ type: 'object', required: ['name'], properties }))
    expect(await fieldsOf(tool, { name: 'Ann', tags: ['x', 'y'] })).toEqual([
      ['name', 'Ann'],
      ['tags', 'x'],
      ['tags', 'y'],
    ])
    const [, meta] = await fieldsOf(tool, { name: 'Ann', meta: { a: 1 } })
    expect(meta).toEqual(['meta', '{"a":1}'])
  })

  it('leaves out optional files', async () => {
    const tool = await contentTool(multipart({ type: 'object', properties: { name: text, avatar: file } }))
    expect(Object.keys(tool.tool.parameters)).toEqual(['base_url', 'name'])
    expect(tool.notes).toEqual(['The file avatar was left out, because tools cannot send files yet.'])
  })

  it('with a required file cannot be imported', async () => {
    const schema = { type: 'object', required: ['doc'], properties: { doc: file } }
    expect(await reasonOf(multipart(schema))).toBe('It sends a file (doc), which tools cannot do yet.')
  })
})

describe('another body', () => {
  it('is one text if it is XML', async () => {
    const tool = await contentTool({ 'application/xml': { schema: { type: 'object', properties: { a: text } } } })
    expect(tool.notes).toEqual(['The body is XML: the model writes it as one text.'])
    expect(render(tool, { body: '<a>1</a>' }).body).toBe('<a>1</a>')
  })

  it('is one text if it is text', async () => {
    const tool = await contentTool({ 'text/csv': {} })
    expect(render(tool, { body: 'a,b' })).toMatchObject({ body: 'a,b', headers: [['Content-Type', 'text/csv']] })
  })

  it('cannot be imported if it is bytes', async () => {
    const binary = { schema: { type: 'string', format: 'binary' } }
    expect(await reasonOf({ 'application/octet-stream': binary })).toContain(
      'It sends a file (application/octet-stream)',
    )
    expect(await reasonOf({ 'image/png': {} })).toContain('It sends a file (image/png)')
  })

  it('is the first type that tools can send', async () => {
    const tool = await contentTool({ 'application/octet-stream': {}, 'text/plain': {} })
    expect(tool.tool.headers).toEqual([{ name: 'Content-Type', value: 'text/plain' }])
  })
})
