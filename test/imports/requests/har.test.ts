import { describe, expect, it } from 'vitest'
import { importHar } from '../../../src/imports/har/import-har.ts'
import type { JsonObject, JsonValue } from '../../../src/lib/kernel/json.ts'
import { onlyTool, requestOf, sourceOf, toolNamed, toolsOf } from '../sent-request.ts'

const BASE = 'https://shop.example/api/orders'
const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const named = (values: Record<string, string>): JsonValue =>
  Object.entries(values).map(([name, value]) => ({ name, value }))

type Given = {
  method?: string
  headers?: Record<string, string>
  json?: JsonValue
  form?: string
  type?: string
  mime?: string
}

const entry = (
  url: string,
  { method = 'GET', headers = {}, json, form, type, mime = 'application/json' }: Given = {},
) => {
  const postData: JsonObject | undefined =
    json !== undefined
      ? { mimeType: 'application/json', text: JSON.stringify(json) }
      : form !== undefined
        ? { mimeType: 'application/x-www-form-urlencoded', text: form }
        : undefined
  return {
    request: { method, url, httpVersion: 'HTTP/2', headers: named(headers), ...(postData && { postData }) },
    response: { status: 200, content: { mimeType: mime } },
    ...(type && { _resourceType: type }),
  }
}

const importEntries = (entries: JsonValue[], title?: string) =>
  sourceOf(importHar({ log: { version: '1.2', entries, ...(title !== undefined && { pages: [{ title }] }) } }))

describe('a HAR file', () => {
  it('has a tool for each method, origin and path, with what varies as parameters', async () => {
    const source = await importEntries([
      entry(`${BASE}/17?expand=lines&page=1`),
      entry(`${BASE}/18?expand=lines&page=2&q=x`),
      entry(`${BASE}/18`, { method: 'DELETE' }),
      entry('https://other.example/api/orders/17'),
    ])
    expect(source.operations.map(({ key }) => key)).toEqual([
      'GET /api/orders/{order_id}',
      'DELETE /api/orders/{order_id}',
      'GET /api/orders/{order_id} (2)',
    ])
    const tool = toolNamed(source, 'get_order')
    expect(tool.tool.url).toBe(`${BASE}/{{integer:order_id}}?expand={{expand}}&page={{integer:page}}&q={{q?}}`)
    expect(tool.tool.parameters).toMatchObject({
      expand: { default: 'lines' },
      page: { example: 1 },
      q: { example: 'x' },
    })
    expect(requestOf(tool, source, { order_id: 3, page: 9 }).url).toBe(`${BASE}/3?expand=lines&page=9`)
  })

  it('has the values of a single request as defaults and examples', async () => {
    const source = await importEntries([
      entry(`${BASE}?limit=5&tag=a&tag=b`, { method: 'POST', json: { name: 'Ada' } }),
    ])
    expect(requestOf(onlyTool(source), source, { name: 'Bo', tag: ['c'] })).toMatchObject({
      url: `${BASE}?limit=5&tag=c`,
      body: '{"name": "Bo"}',
    })
  })

  it('combines JSON bodies: members that some lack are optional', async () => {
    const source = await importEntries([
      entry(BASE, { method: 'POST', json: { kind: 'x', count: 1, note: 'n' } }),
      entry(BASE, { method: 'POST', json: { kind: 'x', count: 2.5 } }),
    ])
    const tool = onlyTool(source)
    expect(JSON.parse(requestOf(tool, source, { count: 3 }).body ?? '')).toEqual({ kind: 'x', count: 3 })
    expect(JSON.parse(requestOf(tool, source, { count: 3, note: 'm' }).body ?? '')).toEqual({
      kind: 'x',
      count: 3,
      note: 'm',
    })
  })

  it('combines forms', async () => {
    const source = await importEntries([
      entry(BASE, { method: 'POST', form: 'a=1&b=x%20y' }),
      entry(BASE, { method: 'POST', form: 'a=2' }),
    ])
    expect(requestOf(onlyTool(source), source, { a: 3, b: 'z&' }).body).toBe('a=3&b=z%26')
  })

  it('keeps the queries of GraphQL, which have a tool each', async () => {
    const graphql = (operationName: string, variables: JsonObject) =>
      entry('https://shop.example/graphql', {
        method: 'POST',
        json: { operationName, query: `query ${operationName} { a }`, variables },
      })
    const source = await importEntries([
      graphql('Orders', { id: 1 }),
      graphql('Orders', { id: 2 }),
      graphql('Users', {}),
    ])
    expect([...toolsOf(source).keys()]).toEqual(['orders', 'users'])
    expect(JSON.parse(requestOf(toolNamed(source, 'orders'), source, { variables: { id: 3 } }).body ?? '')).toEqual({
      operationName: 'Orders',
      query: 'query Orders { a }',
      variables: { id: 3 },
    })
  })

  it('leaves out the parts of pages, and what no tool can send', async () => {
    const source = await importEntries([
      entry('https://shop.example/', { type: 'document', mime: 'text/html' }),
      entry('https://shop.example/app.js', { mime: 'application/javascript' }),
      entry('https://shop.example/logo', { mime: 'image/png' }),
      entry('https://shop.example/font.woff2', { mime: '' }),
      entry(BASE, { method: 'OPTIONS' }),
      entry('wss://shop.example/live'),
      {
        request: {
          method: 'POST',
          url: BASE,
          headers: [],
          postData: { mimeType: 'application/octet-stream', text: 'x' },
        },
      },
      { request: 5 },
      entry(BASE, { type: 'fetch' }),
    ])
    expect(source.operations.map(({ key }) => key)).toEqual(['GET /api/orders'])
    expect(source.notes).toEqual(['6 entries of pages were left out.', '2 entries could not be read.'])
  })
})

describe('the headers of a HAR file', () => {
  it('are those of the API, without those of the browser', async () => {
    const browser = {
      ':authority': 'shop.example',
      'user-agent': 'M',
      'sec-fetch-mode': 'cors',
      referer: 'x',
      accept: '*/*',
    }
    const source = await importEntries([
      entry(BASE, { headers: { ...browser, 'x-version': '2', 'x-page': '1' } }),
      entry(BASE, { headers: { ...browser, 'x-version': '2', 'x-page': '2' } }),
    ])
    expect(requestOf(onlyTool(source), source, { 'x-page': '3' }).headers).toEqual({ 'x-version': '2', 'x-page': '3' })
  })

  it('and the bodies contain no secret, which becomes a global with the last value', async () => {
    const given = (token: string): Given => ({
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, Cookie: 'session=plum-tree-17' },
      json: { password: 'walnut-99', note: `see ${TOKEN}` },
    })
    const source = await importEntries([entry(BASE, given('old-token-12345')), entry(BASE, given(TOKEN))])
    const tool = onlyTool(source)
    expect(requestOf(tool, source, { note: 'n' })).toMatchObject({
      headers: { Authorization: `Bearer ${TOKEN}`, Cookie: 'session=plum-tree-17' },
      body: '{"password": "walnut-99", "note": "n"}',
    })
    expect(JSON.stringify(source.operations)).not.toMatch(/old-token|sk-live|plum-tree|walnut/)
    expect(source.globals.map(({ isSecret }) => isSecret)).toEqual([true, true, true])
  })

  it('contain no secret that only an earlier request has', async () => {
    const source = await importEntries([
      entry(`${BASE}?access_token=old-walnut-99`, { headers: { 'x-trace': TOKEN } }),
      entry(`${BASE}?access_token=new-walnut-99`, { headers: { 'x-trace': 'none' } }),
      entry('https://shop.example/search?q=old-walnut-99'),
    ])
    expect(source.operations).toMatchObject([{ tool: {} }, { tool: {} }])
    expect(JSON.stringify(source.operations)).not.toMatch(/sk-live|walnut/)
  })
})

describe('the title of a HAR file', () => {
  it.each([
    ['the host of a page that is named by its URL', 'https://shop.example/cb?code=plum-tree-17', 'shop.example'],
    ['without secrets of the requests', 'Shop of plum-tree-17', 'Shop of …'],
  ])('is %s', async (_, title, expected) => {
    const source = await importEntries([entry(BASE, { headers: { Cookie: 'session=plum-tree-17' } })], title)
    expect(source.title).toBe(expected)
  })
})

describe('a body in a HAR file', () => {
  it('that is nested too deep concerns only its request', async () => {
    const text = `{"a": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const deep = {
      request: { method: 'POST', url: BASE, headers: [], postData: { mimeType: 'application/json', text } },
    }
    const source = await importEntries([deep, entry('https://shop.example/status')])
    expect(source.operations).toMatchObject([{ reason: expect.stringContaining('nested') }, { key: 'GET /status' }])
  })

  it('with a file has a parameter for its content', async () => {
    const params = [{ name: 'note', value: 'recorded', fileName: 'a.txt' }]
    const postData = { mimeType: 'multipart/form-data; boundary=x', params }
    const source = await importEntries([{ request: { method: 'POST', url: BASE, headers: [], postData } }])
    const { body } = requestOf(onlyTool(source), source, { note: 'given' })
    expect(body).toContain('given')
    expect(body).not.toContain('recorded')
  })
})
