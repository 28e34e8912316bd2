import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type RequestsSource, readRequests } from '../../../src/imports/read-requests.ts'
import { collectionOf } from '../postman-collection.ts'

const bytesOf = (text: string): Uint8Array => Buffer.from(text)

const nested = (depth: number): string => {
  const folder = '{"name": "f", "item": ['
  return `{"info": {"name": "x"}, "item": [${folder.repeat(depth)}${']}'.repeat(depth)}]}`
}

const readError = async (source: RequestsSource): Promise<string> => {
  const read = await readRequests(source)
  return read.ok ? `${read.value.operations.length} operations` : read.error
}

describe('a source that is something else', () => {
  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', bytesOf(''), /not valid JSON/],
    ['a page', bytesOf('<!doctype html><title>Sign in</title>'), /page or an XML document/],
    ['a zip archive', bytesOf('PK\u0003\u0004…'), /zip archive/],
    ['bytes', Uint8Array.from([0xff, 0xd8, 0xff, 0]), /image/],
    ['JSON with an error', bytesOf('{"info": {,}}'), /line 1, column/],
    ['other JSON', bytesOf('{"openapi": "3.1.0"}'), /not a Postman collection/],
    ['a number', bytesOf('1'), /not a Postman collection/],
    ['a collection in the format 1', bytesOf('{"id": "1", "name": "x", "order": [], "requests": []}'), /format 1/],
    ['JSON that is too deep', bytesOf('['.repeat(200_000)), /nested more than 100 levels/],
    ['folders that are too deep', bytesOf(nested(5_000)), /nested more than 100 levels/],
    ['too much, compressed', gzipSync(Buffer.alloc(40 * 1_024 * 1_024, ' ')), /more than .* unpacked/],
  ])('is refused with what it is: %s', async (_, bytes, error) => {
    expect(await readError({ kind: 'postman', bytes })).toMatch(error)
  })

  it('is refused in place of an environment', async () => {
    const bytes = bytesOf(JSON.stringify(collectionOf([])))
    const environments = [bytesOf('{"name": "x"}')]
    expect(await readError({ kind: 'postman', bytes, environments })).toMatch(/environment/)
  })
})

describe('a collection with parts that are wrong', () => {
  it.each<[string, string]>([
    [
      'items',
      '[null, 1, "x", [], {}, {"name": {}, "item": {}}, {"request": 5}, {"request": {"url": 5}}, {"request": "a.example"}]',
    ],
    ['URLs', '[{"request": {"url": {"host": [null], "path": [{}], "query": [null, {"key": 1}]}}}, {"request": ""}]'],
    ['bodies', '[{"request": {"method": "POST", "url": "a.example", "body": {"mode": "raw", "raw": {}}}}]'],
    [
      'methods',
      '[{"request": {"method": "GET / HTTP", "url": "a.example"}}, {"request": {"method": "TRACE", "url": "a.example"}}]',
    ],
    ['headers', '[{"request": {"url": "a.example", "header": [{"key": "a b", "value": "\\n"}, null]}}]'],
    ['auth', '[{"request": {"url": "a.example", "auth": {"type": "basic", "basic": [{"key": 1}]}}, "auth": 7}]'],
    ['NUL characters', '[{"request": {"url": "a.example/\\u0000x?\\u0000=\\u0000", "header": "A: \\u0000"}}]'],
    ['braces', '[{"request": {"url": "a.example/{{/}}/{{{x}}}/\\\\{{y?q={{", "method": "POST"}}]'],
    ['prototypes', '[{"request": {"url": "a.example/:__proto__?__proto__=1&constructor=2", "method": "GET"}}]'],
  ])('is read as far as possible: %s', async (_, item) => {
    const bytes = bytesOf(`{"info": {"name": "x"}, "item": ${item}}`)
    const read = await readRequests({ kind: 'postman', bytes })
    expect(read.ok).toBe(true)
  })
})

describe('a collection of 20 MB', () => {
  it('is read, with what is no request left out', async () => {
    const item = '{"name":"x","request":"a.example/:id?a=1"},'
    const text = `{"info":{"name":"x"},"item":[${item.repeat(20)}${`{"name":"${'x'.repeat(1_000)}"},`.repeat(20_000)}{}]}`
    const read = await readRequests({ kind: 'postman', bytes: bytesOf(text) })
    expect(read.ok && read.value.operations).toHaveLength(20)
    expect(read.ok && read.value.notes).toEqual(['20,001 items without a request were left out.'])
  })
})
