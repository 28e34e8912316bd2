import { describe, expect, it } from 'vitest'
import { importPostman } from '../../../src/imports/postman/import-postman.ts'
import type { JsonValue } from '../../../src/lib/kernel/json.ts'
import { collectionOf, importItems, importRequest } from '../postman-collection.ts'
import { onlyTool, requestOf, sourceOf, toolsOf } from '../sent-request.ts'

const BASE = 'https://api.kiosk.example/v1'

const get = (query: JsonValue[], path = ['orders']): JsonValue => ({
  method: 'GET',
  url: { raw: '', host: ['{{baseUrl}}'], path, query },
})

const post = (body: JsonValue, header: JsonValue[] = []): JsonValue => ({
  method: 'POST',
  header,
  url: { raw: '{{baseUrl}}/orders', host: ['{{baseUrl}}'], path: ['orders'] },
  body,
})

const raw = (text: string, language = 'json'): JsonValue => ({ mode: 'raw', raw: text, options: { raw: { language } } })

describe('the URL of a request', () => {
  it.each<[string, JsonValue, string]>([
    ['a text', '{{baseUrl}}/orders/:id?expand=lines', `${BASE}/orders/7?expand=lines`],
    [
      'an object of parts',
      { protocol: 'https', host: ['other', 'example'], port: '8443', path: ['a b', 'c?d'], query: [] },
      'https://other.example:8443/a%20b/c%3Fd',
    ],
    ['an object of 2.0', { protocol: 'https', host: 'other.example', path: '/x/:id' }, 'https://other.example/x/7'],
    [
      'an object of 2.0 with several segments in one',
      { protocol: 'http', host: 'other.example', path: ['v1', 'x/:id'], variable: [{ id: 'id', value: '{}' }] },
      'http://other.example/v1/x/7',
    ],
    ['without a scheme', 'other.example/x', 'https://other.example/x'],
    ['of this machine', 'localhost:3000/x', 'http://localhost:3000/x'],
    ['with variables in the host', 'https://{{region}}.kiosk.example/x', 'https://eu.kiosk.example/x'],
    ['with a variable for the scheme', '{{scheme}}://kiosk.example/x', 'https://kiosk.example/x'],
    ['without a path', '{{baseUrl}}', BASE],
    ['with a variable for several segments', '{{baseUrl}}/{{folder}}/x', `${BASE}/a/b%20c/x`],
    ['with an encoded segment', '{{baseUrl}}/a%2Fb/{{tenant}}.json', `${BASE}/a%2Fb/acme.json`],
  ])('can be %s', async (_, url, expected) => {
    const variable = [
      { key: 'baseUrl', value: `${BASE}/` },
      { key: 'region', value: 'eu' },
      { key: 'scheme', value: 'https' },
      { key: 'tenant', value: 'acme' },
      { key: 'folder', value: 'a/b c' },
    ]
    const source = await importRequest({ method: 'GET', url }, { variable })
    expect(requestOf(onlyTool(source), source, { id: 7 }).url).toBe(expected)
  })

  it('is a global that requests with the same start share, whatever their variables are called', async () => {
    const urls = ['{{baseUrl}}/a', '{{api}}/b', 'https://auth.other.example/token']
    const variable = [
      { key: 'baseUrl', value: BASE },
      { key: 'api', value: '{{baseUrl}}' },
    ]
    const items = urls.map(url => ({ name: url, request: { method: 'GET', url } }))
    const source = await importItems(items, { variable })
    expect(source.globals).toEqual([
      { key: 'base_url', isSecret: false, value: BASE, origins: [] },
      { key: 'other_base_url', isSecret: false, value: 'https://auth.other.example', origins: [] },
    ])
    expect([...toolsOf(source).values()].map(tool => requestOf(tool, source).url)).toEqual([
      `${BASE}/a`,
      `${BASE}/b`,
      'https://auth.other.example/token',
    ])
  })

  it('is a global without a value if its variable has none', async () => {
    const source = await importRequest({ method: 'GET', url: '{{baseUrl}}/x' }, { variable: [] })
    expect(source.globals).toEqual([{ key: 'base_url', isSecret: false, value: undefined, origins: [] }])
  })
})

describe('a segment such as :id', () => {
  it('is a parameter with the value as example and its description', async () => {
    const variable = [{ key: 'id', value: '42', description: 'The **number** of the order.' }]
    const url = { host: ['{{baseUrl}}'], path: ['orders', ':id'], variable }
    const source = await importRequest({ method: 'GET', url })
    const { tool, key } = onlyTool(source)
    expect(key).toBe('GET /orders/{id}')
    expect(tool.parameters.id).toEqual({ description: 'The number of the order.', example: 42 })
    expect(requestOf(onlyTool(source), source, { id: 43 }).url).toBe(`${BASE}/orders/43`)
  })
})

describe('the query', () => {
  it('has the enabled values as defaults, and optional parameters for those that are disabled', async () => {
    const source = await importRequest(
      get([
        { key: 'limit', value: '20', description: 'How many' },
        { key: 'q', value: 'caf%C3%A9 au lait' },
        { key: 'empty', value: '' },
        { key: 'flag', value: null },
        { key: 'page', value: '2', disabled: true },
      ]),
    )
    const tool = onlyTool(source)
    expect(requestOf(tool, source).url).toBe(`${BASE}/orders?limit=20&q=caf%C3%A9%20au%20lait&empty=&flag`)
    expect(requestOf(tool, source, { limit: 5, page: 3 }).url).toContain('limit=5')
    expect(requestOf(tool, source, { limit: 5, page: 3 }).url).toContain('page=3')
    expect(tool.tool.parameters).toMatchObject({
      limit: { default: 20, description: 'How many' },
      page: { example: 2 },
    })
  })

  it('has a list for a key with several values', async () => {
    const source = await importRequest(
      get([
        { key: 'tag', value: 'a' },
        { key: 'tag', value: 'b' },
        { key: 'tag', value: 'c', disabled: true },
      ]),
    )
    expect(requestOf(onlyTool(source), source).url).toBe(`${BASE}/orders?tag=a&tag=b`)
    expect(requestOf(onlyTool(source), source, { tag: ['x'] }).url).toBe(`${BASE}/orders?tag=x`)
  })

  it('has typed parameters for values such as <integer>, required if the description says so', async () => {
    const source = await importRequest(
      get([
        { key: 'id', value: '<integer>', description: '(Required) The id' },
        { key: 'sort', value: '<string>', description: 'The order' },
        { key: 'fields', value: '%7B%7D' },
      ]),
    )
    const { tool } = onlyTool(source)
    expect(tool.url).toBe('{{url:base_url}}/orders?id={{integer:id}}&sort={{sort?}}&fields={{fields?}}')
    expect(tool.parameters).toMatchObject({ id: { description: 'The id' }, sort: { description: 'The order' } })
  })

  it('fills in variables in keys, where a tool has no parameters', async () => {
    const variable = [
      { key: 'baseUrl', value: BASE },
      { key: 'name', value: 'filter[a]' },
    ]
    const pairs = [
      { key: '{{name}}', value: '1' },
      { key: '{{unknown}}', value: '2' },
    ]
    const source = await importRequest(get(pairs), { variable })
    expect(requestOf(onlyTool(source), source).url).toBe(`${BASE}/orders?filter[a]=1`)
    expect(onlyTool(source).notes).toEqual(['A name that is a variable without a value was left out, with its value.'])
  })
})

describe('a body', () => {
  it('of JSON has a parameter for each member, with the value as example', async () => {
    const source = await importRequest(
      post(raw('{"name": "Ada", "age": 36, "ok": true, "tags": ["a"], "at": {"city": "Bern"}, "note": null}')),
    )
    const tool = onlyTool(source)
    const args = { name: 'Bo "B"', age: 37, ok: false, tags: [], at: {}, note: 'n' }
    expect(JSON.parse(requestOf(tool, source, args).body ?? '')).toEqual(args)
    expect(requestOf(tool, source, args).headers['Content-Type']).toBe('application/json')
    expect(tool.tool.parameters).toMatchObject({
      name: { example: 'Ada' },
      age: { example: 36 },
      tags: { example: ['a'], schema: { type: 'array' } },
      at: { example: { city: 'Bern' }, schema: { type: 'object' } },
    })
  })

  it('of JSON has a schema with the parts of a value that is too long for an example', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => ({
      sku: `s${index}`,
      count: index,
      tags: ['a'],
      note: null,
    }))
    const source = await importRequest(post(raw(JSON.stringify({ lines }))))
    const tool = onlyTool(source)
    expect(tool.tool.parameters.lines).toEqual({
      schema: {
        type: 'array',
        items: {
          type: ['object', 'null'],
          properties: {
            sku: { type: ['string', 'null'] },
            count: { type: ['number', 'null'] },
            tags: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
            note: {},
          },
        },
      },
    })
    expect(requestOf(tool, source, { lines: [{ sku: 'x' }] }).body).toBe('{"lines": [{"sku":"x"}]}'.replace(': ', ':'))
  })

  it('of JSON keeps variables where they are, in strings and in place of values', async () => {
    const text = '{ // comment\n "user": "u-{{userId}}", "count": {{count}}, "list": [{{count}}, "x"], "kind": "a" }'
    const source = await importRequest(post(raw(text)))
    const sent = requestOf(onlyTool(source), source, { userId: '7"', count: 3, kind: 'b' })
    expect(JSON.parse(sent.body ?? '')).toEqual({ user: 'u-7"', count: 3, list: [3, 'x'], kind: 'b' })
  })

  it('of JSON is one parameter if it is a list, has many members, or is not valid', async () => {
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`m${index}`, index])))
    for (const text of ['[1, 2]', many, '{"a": }']) {
      const source = await importRequest(post(raw(text)))
      expect(requestOf(onlyTool(source), source, { body: { b: 1 } }).body).toBe('{"b":1}')
    }
  })

  it('of a form has the values as examples, and optional parameters for disabled ones', async () => {
    const urlencoded = [
      { key: 'name', value: 'Ada' },
      { key: 'user', value: '{{userId}}' },
      { key: 'note', value: 'x', disabled: true },
      { key: 'plus', value: '+1 %20' },
    ]
    const source = await importRequest(post({ mode: 'urlencoded', urlencoded }))
    const tool = onlyTool(source)
    const args = { name: 'a&b', userId: '1', plus: '+2' }
    expect(requestOf(tool, source, args).body).toBe('name=a%26b&user=1&plus=%2B2')
    expect(requestOf(tool, source, { ...args, note: 'n' }).body).toBe('name=a%26b&user=1&note=n&plus=%2B2')
    expect(tool.tool.parameters.plus).toEqual({ example: '+1 %20' })
    expect(requestOf(tool, source, args).headers['Content-Type']).toBe('application/x-www-form-urlencoded')
  })

  it('of parts has one parameter per part, with the content of files as text', async () => {
    const formdata = [
      { key: 'title', value: 'Hi', type: 'text' },
      { key: 'file', type: 'file', src: '/home/ada/report.csv' },
      { key: 'note', value: 'x', type: 'text', disabled: true },
    ]
    const source = await importRequest(post({ mode: 'formdata', formdata }))
    const { body, headers } = requestOf(onlyTool(source), source, { title: 'T', file: 'a,b' })
    const boundary = /boundary=(.*)/.exec(headers['Content-Type'] ?? '')?.[1] ?? ''
    const form = await new Response(body, { headers: { 'content-type': headers['Content-Type'] ?? '' } }).formData()
    expect(boundary).not.toBe('')
    expect([form.get('title'), form.get('file') instanceof File, form.has('note')]).toEqual(['T', true, false])
    expect(JSON.stringify(onlyTool(source))).not.toContain('/home/ada')
  })

  it('of GraphQL has the variables as parameters', async () => {
    const graphql = { query: 'query($id: ID!) { order(id: $id) { state } }', variables: '{"id": 3}' }
    const source = await importRequest(post({ mode: 'graphql', graphql }))
    expect(JSON.parse(requestOf(onlyTool(source), source, { id: 4 }).body ?? '')).toEqual({
      query: graphql.query,
      variables: { id: 4 },
    })
  })

  it('of XML or text is one parameter, unless it has variables', async () => {
    const xml = await importRequest(post(raw('<a><b>1</b></a>', 'xml')))
    expect(requestOf(onlyTool(xml), xml, { body: '<a/>' })).toMatchObject({
      body: '<a/>',
      headers: { 'Content-Type': 'application/xml' },
    })
    const text = await importRequest(post(raw('Hello {{userName}}', 'text')))
    expect(requestOf(onlyTool(text), text, { userName: 'Bo' }).body).toBe('Hello Bo')
  })

  it('that is a file makes the request one that cannot be imported', async () => {
    const source = await importRequest(post({ mode: 'file', file: { src: '/tmp/x' } }))
    expect(source.operations).toEqual([
      expect.objectContaining({ key: 'POST /orders', reason: 'Its body is a file, which tools cannot send yet.' }),
    ])
  })

  it('of GET is not sent, unless the request says so', async () => {
    const request = { method: 'GET', url: '{{baseUrl}}/x', body: raw('{"a": 1}') }
    const [pruned, kept] = await Promise.all([
      importItems([{ name: 'x', request }]),
      importItems([{ name: 'x', request, protocolProfileBehavior: { disableBodyPruning: true } }]),
    ])
    expect(requestOf(onlyTool(pruned), pruned).body).toBeUndefined()
    expect(requestOf(onlyTool(kept), kept, { a: 2 }).body).toBe('{"a": 2}')
  })
})

describe('headers', () => {
  it('are fixed, have the variables as parameters, and are optional if they are disabled', async () => {
    const header = [
      { key: 'X-Version', value: '2' },
      { key: 'X-Tenant', value: '{{tenant}}' },
      { key: 'X-Trace', value: 'abc', disabled: true },
      { key: 'Postman-Token', value: '1' },
      { key: 'Host', value: 'x' },
    ]
    const source = await importRequest({ method: 'GET', url: '{{baseUrl}}/x', header })
    const tool = onlyTool(source)
    expect(requestOf(tool, source, { tenant: 'acme' }).headers).toEqual({ 'X-Version': '2', 'X-Tenant': 'acme' })
    expect(requestOf(tool, source, { tenant: 'a', 'X-Trace': 't' }).headers).toMatchObject({ 'X-Trace': 't' })
  })

  it('can be lines of a text, as in 2.0', async () => {
    const source = await importRequest({ method: 'GET', url: '{{baseUrl}}/x', header: 'X-A: 1\nX-B: {{b}}' })
    expect(requestOf(onlyTool(source), source, { b: '2' }).headers).toEqual({ 'X-A': '1', 'X-B': '2' })
  })
})

describe('a collection', () => {
  it('has folders as tags, and their names of requests in snake case', async () => {
    const request = { method: 'GET', url: '{{baseUrl}}/x' }
    const source = await importItems([
      { name: 'Admin', item: [{ name: 'Users', item: [{ name: 'List all Users', request }] }] },
      { name: 'List all Users', request },
      { name: '列表', request },
    ])
    expect(source.title).toBe('Kiosk')
    expect([...toolsOf(source)].map(([name, { tags, key }]) => [name, tags, key])).toEqual([
      ['list_all_users', ['Admin', 'Users'], 'GET /x'],
      ['list_all_users_2', [], 'GET /x (2)'],
      ['get_x', [], 'GET /x (3)'],
    ])
  })

  it('runs no script, and says how many there are', async () => {
    const event = [{ listen: 'test', script: { exec: ['pm.environment.set("orderId", pm.response.json().id)'] } }]
    const source = await importItems(
      [{ name: 'x', event, request: { method: 'GET', url: '{{baseUrl}}/{{orderId}}' } }],
      {
        variable: [
          { key: 'baseUrl', value: BASE },
          { key: 'orderId', value: '1' },
        ],
        event,
      },
    )
    expect(source.notes).toEqual(["Postman's scripts are not run (2)."])
    expect(onlyTool(source).notes).toEqual(['It has scripts in Postman, which are not run.'])
    // Only a script knows the value, so the model supplies it.
    expect(requestOf(onlyTool(source), source, { orderId: '9' }).url).toBe(`${BASE}/9`)
  })

  it('takes the values of variables from environments, which override its own', async () => {
    const environment = {
      name: 'Staging',
      values: [
        { key: 'baseUrl', value: 'https://staging.kiosk.example', enabled: true },
        { key: 'tenant', value: 'acme' },
        { key: 'off', value: 'x', enabled: false },
      ],
    }
    const globals = { _postman_variable_scope: 'globals', values: [{ key: 'baseUrl', value: 'https://g.example' }] }
    const request = { method: 'GET', url: '{{baseUrl}}/{{tenant}}/{{off}}' }
    const source = await importRequest(request, {}, [environment, globals])
    expect(requestOf(onlyTool(source), source, { off: 'y' }).url).toBe('https://staging.kiosk.example/acme/y')
    expect(source.globals).toContainEqual({ key: 'tenant', isSecret: false, value: 'acme', origins: [] })
  })

  it('may be wrapped, as by the API of Postman', async () => {
    const collection = collectionOf([{ name: 'x', request: '{{baseUrl}}/x' }])
    const source = await sourceOf(importPostman({ collection }))
    expect(requestOf(onlyTool(source), source).url).toBe(`${BASE}/x`)
  })
})
