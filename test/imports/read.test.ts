import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { descriptionOf, document, isTool, readAll, refusalOf } from './reading.ts'

const PATHS = { '/a': { get: { operationId: 'a' } } }
const JSON_TEXT = JSON.stringify(descriptionOf({ paths: PATHS }))
const YAML_TEXT = `openapi: 3.1.0
info: &info {title: Test, version: 1}
x-copy: *info
paths:
  /a:
    get:
      operationId: a
`

const namesOf = async (bytes: Uint8Array) =>
  (await readAll([{ name: 'given', bytes }])).operations.filter(isTool).map(({ tool }) => tool.name)

const utf16 = (text: string): Uint8Array => Buffer.from(`\ufeff${text}`, 'utf16le')

describe('a description', () => {
  it.each([
    ['JSON', Buffer.from(JSON_TEXT)],
    ['YAML', Buffer.from(YAML_TEXT)],
    ['JSON with a byte order mark', Buffer.from(`\ufeff${JSON_TEXT}`)],
    ['YAML in UTF-16', utf16(YAML_TEXT)],
    ['YAML that begins with a comment', Buffer.from(`# Group of APIs\n${YAML_TEXT}`)],
    ['gzip', gzipSync(JSON_TEXT)],
    [
      'JSON with comments and trailing commas',
      Buffer.from(`{"openapi": "3.1.0", # why not\n"paths": {"/a": {"get": {"operationId": "a",}}},}`),
    ],
    ['YAML with a version that is a number', Buffer.from(YAML_TEXT.replace('3.1.0', '3.1'))],
    [
      'YAML with merge keys',
      Buffer.from(`openapi: 3.1.0\nx: &x {operationId: a}\npaths:\n  /a:\n    get: {<<: *x, deprecated: true}\n`),
    ],
  ])('is read as %s', async (_, bytes) => {
    expect(await namesOf(bytes)).toEqual(['a'])
  })

  it.each([
    ['nothing', '  \n', 'It is empty.'],
    ['HTML', '<!DOCTYPE html>\n<html></html>', 'It is an HTML page.'],
    ['XML', '<?xml version="1.0"?><a/>', 'It is an XML document.'],
    ['RAML', '#%RAML 1.0\ntitle: x', 'It is a RAML document.'],
    ['an API Blueprint', 'FORMAT: 1A\n# Group A', 'It is an API Blueprint.'],
    ['GraphQL', 'type Query {\n  a: String\n}', 'It is a GraphQL schema.'],
    ['a curl command', 'curl https://example.com', 'It is a curl command.'],
    ['a zip', 'PK\u0003\u0004aaaa', 'It is a zip archive.'],
    ['a PDF', '%PDF-1.7', 'It is a PDF document.'],
    ['bytes', Buffer.from([1, 0, 2, 0]), 'It is a binary file.'],
    ['text in another encoding', Buffer.from([0x61, 0xe9, 0x61]), 'It is not text in UTF-8.'],
    ['damaged gzip', gzipSync(JSON_TEXT).subarray(0, 40), 'It is compressed with gzip, but the file is damaged.'],
    ['AsyncAPI', 'asyncapi: 3.0.0', 'It is an AsyncAPI description'],
    ['a Postman collection', JSON.stringify({ info: { _postman_id: 'x' }, item: [] }), 'It is a Postman collection'],
    ['a HAR file', JSON.stringify({ log: { entries: [] } }), 'It is a HAR file'],
    ['a client configuration', JSON.stringify({ mcpServers: {} }), 'It is the configuration of an MCP client.'],
    ['Swagger 1', JSON.stringify({ swaggerVersion: '1.2', apis: [] }), 'It is a Swagger 1.x description.'],
    ['an unknown version', 'openapi: 4.0.0', 'It is written in OpenAPI 4.0.0.'],
    ['a JSON Schema', JSON.stringify({ $schema: 'https://json-schema.org/x', properties: {} }), 'It is a JSON Schema.'],
    ['a list', '[]', 'It is not an API description.'],
    ['another object', '{"a": 1}', 'It has neither "openapi" nor "swagger" at the top.'],
  ])('that is %s is refused with what it is', (_, content, message) => {
    expect(refusalOf(content)).toContain(message)
  })

  it('with a mistake is refused with the line', () => {
    expect(refusalOf('openapi: 3.1.0\npaths:\n  /a: [1\n  b: {')).toMatch(/^It is not valid YAML: line \d: /)
    expect(refusalOf('a: 1\nb: 2\n\ta: 3')).toMatch(/^It is not valid YAML: line 3: /)
    expect(refusalOf('{\n  "openapi": "3.1.0",\n  "paths": {"a" 1}\n}')).toMatch(
      /^It is not valid JSON: line 3, column /,
    )
  })
})

describe('the limits of a description', () => {
  it('refuse what is nested too deeply, in JSON and in YAML', () => {
    expect(refusalOf(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).toContain('nested more than 100 levels')
    expect(refusalOf('['.repeat(200))).toMatch(/valid JSON/)
    expect(refusalOf(`a: ${'['.repeat(150)}${']'.repeat(150)}`)).toMatch(/line 1: /)
  })

  it('refuse a file that unpacks to more than 32 MiB', () => {
    expect(refusalOf(gzipSync(Buffer.alloc(33 * 1_024 * 1_024, 32)))).toBe('It has more than 33.6 MB unpacked.')
  })

  it('count aliases each time they are used', () => {
    const lines = ['openapi: 3.1.0', 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
    for (let level = 1; level < 9; level++) {
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`)
    }
    expect(refusalOf(lines.join('\n'))).toBe('It has more than 5,000,000 values, counting repeated aliases.')
  })

  it('refuse an alias that contains itself', () => {
    expect(refusalOf('openapi: 3.1.0\npaths: &p\n  x: *p\n')).toBe(
      'It has an alias (*) that is part of what it refers to.',
    )
  })

  it('refuse more than 15,000 operations', () => {
    const paths = Object.fromEntries(Array.from({ length: 15_001 }, (_, index) => [`/p${index}`, { get: {} }]))
    expect(refusalOf(JSON.stringify(descriptionOf({ paths })))).toContain('15,001 operations; at most 15,000')
  })

  it('refuse more than 50 documents', async () => {
    await expect(readAll(Array.from({ length: 51 }, () => document('{}')))).rejects.toThrow('at most 50 documents')
  })
})

describe('a description of several documents', () => {
  const MAIN = { openapi: '3.0.3', info: {}, paths: { '/users': { $ref: 'paths/users.yaml' } } }
  const USERS = `get:
  operationId: listUsers
  parameters: [{$ref: '../parameters.yaml#/limit'}]
post:
  operationId: addUser
  requestBody:
    required: true
    content: {application/json: {schema: {$ref: '../schemas/user.yaml'}}}
`
  const PARAMETERS = 'limit: {name: limit, in: query, schema: {type: integer, nullable: true}}'
  const USER = `type: object
properties:
  boss: {$ref: 'user.yaml'}
  home: {$ref: '#/definitions/place'}
  evil: {$ref: 'http://169.254.169.254/latest'}
  file: {$ref: 'file:///etc/passwd'}
definitions:
  place: {type: string, enum: [here, there]}
`
  const all = (base: string) => [
    document(MAIN, `${base}openapi.json`),
    document(USERS, `${base}paths/users.yaml`),
    document(PARAMETERS, `${base}parameters.yaml`),
    document(USER, `${base}schemas/user.yaml`),
  ]

  it.each(['', 'spec/', 'https://api.example.com/spec/'])('finds its parts by their names in %s', async base => {
    const { operations } = await readAll(all(base))
    const [list, add] = operations.filter(isTool)
    expect(list?.tool.url).toBe('{{url:base_url}}/users?limit={{integer:limit?}}')
    expect(add?.tool.parameters.home?.schema).toEqual({ type: 'string', enum: ['here', 'there'] })
    expect(add?.tool.parameters.boss?.schema).toMatchObject({ properties: { home: { enum: ['here', 'there'] } } })
  })

  it('reports the documents that are missing, but nothing that could never be fetched', async () => {
    const { outcome, operations } = await readAll(all('https://api.example.com/'))
    expect(outcome.missing).toEqual(['http://169.254.169.254/latest'])
    expect(operations.filter(isTool)[1]?.notes).toEqual([
      expect.stringContaining('http://169.254.169.254/latest'),
      expect.stringContaining('file:///etc/passwd'),
      expect.stringContaining('user.yaml contains itself'),
    ])
  })

  it('is read as far as it goes without the others', async () => {
    const { outcome, operations } = await readAll([document(MAIN, 'spec/openapi.json')])
    expect(outcome.missing).toEqual(['spec/paths/users.yaml'])
    expect(operations).toEqual([
      expect.objectContaining({ path: '/users', reason: 'Its reference leads nowhere: paths/users.yaml' }),
    ])
  })

  it('cannot reach a document above the given ones', async () => {
    const paths: JsonObject = { '/a': { $ref: '../../../etc/passwd' } }
    const { outcome } = await readAll([document(descriptionOf({ paths }))])
    expect(outcome.missing).toEqual(['etc/passwd'])
  })

  it('does not look for references in examples', async () => {
    const example = { $ref: 'https://nowhere.example/x.json', value: { $ref: '#/nowhere' } }
    const content = {
      'application/json': { schema: { type: 'object', properties: { a: { type: 'string', example } } }, example },
    }
    const paths = { '/a': { post: { requestBody: { required: true, content } } } }
    const { outcome, operations } = await readAll([document(descriptionOf({ paths }))])
    expect(outcome.missing).toEqual([])
    expect(operations.filter(isTool).flatMap(({ notes }) => notes)).toEqual([])
  })

  it('names the document that cannot be read', async () => {
    await expect(readAll([document(MAIN), document('a: [', 'other.yaml')])).rejects.toThrow(
      /^other\.yaml: It is not valid YAML: line 1/,
    )
  })
})
