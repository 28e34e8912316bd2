import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/lib/kernel/json.ts'
import { importItems, importRequest } from '../postman-collection.ts'
import { onlyTool, requestOf, toolsOf } from '../sent-request.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
const PASSWORD = 'plum-tree-17'
const URL_TEXT = '{{baseUrl}}/orders'

const pairs = (values: JsonObject): JsonValue => Object.entries(values).map(([key, value]) => ({ key, value }))
const auth = (type: string, attributes: JsonObject): JsonObject => ({ type, [type]: pairs(attributes) })
const variables = (values: JsonObject): JsonObject => ({
  variable: pairs({ baseUrl: 'https://api.kiosk.example', ...values }),
})

describe('credentials', () => {
  it.each<[string, JsonValue, Record<string, string>]>([
    ['a bearer token', auth('bearer', { token: TOKEN }), { Authorization: `Bearer ${TOKEN}` }],
    ['a bearer token of 2.0', { type: 'bearer', bearer: { token: TOKEN } }, { Authorization: `Bearer ${TOKEN}` }],
    ['a variable', auth('bearer', { token: '{{known}}' }), { Authorization: `Bearer ${TOKEN}` }],
    [
      'basic authentication',
      auth('basic', { username: 'ada', password: PASSWORD }),
      { Authorization: `Basic ${btoa(`ada:${PASSWORD}`)}` },
    ],
    ['an API key in a header', auth('apikey', { key: 'X-Kiosk', value: TOKEN }), { 'X-Kiosk': TOKEN }],
    ['OAuth 2', auth('oauth2', { accessToken: TOKEN, addTokenTo: 'header' }), { Authorization: `Bearer ${TOKEN}` }],
    [
      'OAuth 2 with a prefix',
      auth('oauth2', { accessToken: TOKEN, headerPrefix: 'token' }),
      { Authorization: `token ${TOKEN}` },
    ],
  ])('of %s become a secret of the server', async (_, given, headers) => {
    const source = await importRequest({ method: 'GET', url: URL_TEXT, auth: given }, variables({ known: TOKEN }))
    const tool = onlyTool(source)
    expect(requestOf(tool, source).headers).toEqual(headers)
    expect(source.globals.filter(({ isSecret }) => isSecret)).toHaveLength(1)
    expect(JSON.stringify(source.operations)).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`))
  })

  it('in the query become a secret of the server', async () => {
    const given = auth('apikey', { key: 'k', value: TOKEN, in: 'query' })
    const source = await importRequest({ method: 'GET', url: `${URL_TEXT}?a=1`, auth: given })
    expect(requestOf(onlyTool(source), source).url).toContain(`/orders?a=1&k=${TOKEN}`)
    expect(JSON.stringify(source.operations)).not.toContain(TOKEN)
  })

  it('are those of the nearest folder, unless the request has its own or none', async () => {
    const request = { method: 'GET', url: URL_TEXT }
    const source = await importItems(
      [
        {
          name: 'Folder',
          auth: auth('bearer', { token: '{{folder}}' }),
          item: [
            { name: 'inherits', request },
            { name: 'own', request: { ...request, auth: auth('bearer', { token: '{{own}}' }) } },
            { name: 'none', request: { ...request, auth: { type: 'noauth' } } },
          ],
        },
        { name: 'outside', request: { ...request, auth: null } },
      ],
      { ...variables({}), auth: auth('bearer', { token: '{{outer}}' }) },
    )
    const keys = [...toolsOf(source)].map(([name, { globals }]) => [name, globals.filter(key => key !== 'base_url')])
    expect(keys).toEqual([
      ['inherits', ['folder']],
      ['own', ['own']],
      ['none', []],
      ['outside', ['outer']],
    ])
  })

  it('without a value are a secret to be given one, with the owner of the host in its key', async () => {
    const source = await importRequest({ method: 'GET', url: URL_TEXT, auth: { type: 'bearer', bearer: [] } })
    expect(source.globals).toContainEqual({
      key: 'kiosk_access_token',
      isSecret: true,
      value: undefined,
      origins: ['https://api.kiosk.example'],
    })
  })

  it('that no tool can send are left out, and the operation says so', async () => {
    const source = await importRequest({ method: 'GET', url: URL_TEXT, auth: auth('awsv4', { secretKey: TOKEN }) })
    const { notes, unsupportedSecurity } = onlyTool(source)
    expect(notes).toEqual(['AWS signatures cannot be imported, so the tool sends no credentials.'])
    expect(unsupportedSecurity).toEqual(['AWS signatures'])
    expect(JSON.stringify(source)).not.toContain(TOKEN)
  })
})

describe('a secret in a request', () => {
  it.each<[string, JsonObject]>([
    ['a header', { header: pairs({ Authorization: `Bearer ${PASSWORD}` }) }],
    ['a cookie', { header: pairs({ Cookie: `session=${PASSWORD}` }) }],
    ['the query', { url: `${URL_TEXT}?api_key=${PASSWORD}` }],
    ['the user info of the URL', { url: `https://ada:${PASSWORD}@api.kiosk.example/orders` }],
    ['a JSON body', { body: { mode: 'raw', raw: `{"user": {"password": "${PASSWORD}"}, "a": 1}` } }],
    ['a form', { body: { mode: 'urlencoded', urlencoded: pairs({ password: PASSWORD, a: '1' }) } }],
    ['a part', { body: { mode: 'formdata', formdata: pairs({ password: PASSWORD }) } }],
    [
      'XML',
      { body: { mode: 'raw', raw: `<l><password>${PASSWORD}</password></l>`, options: { raw: { language: 'xml' } } } },
    ],
  ])('becomes a global and is nowhere else: in %s', async (_, parts) => {
    const request = { method: 'POST', url: URL_TEXT, description: `Try ${TOKEN} or ${PASSWORD}.`, ...parts }
    const source = await importRequest(request)
    const { url, headers, body } = requestOf(onlyTool(source), source, { a: 1 })
    const sent = [url, ...Object.values(headers), body].join('\n')
    expect(sent).toMatch(new RegExp(`${TOKEN}|${PASSWORD}|${btoa(`ada:${PASSWORD}`)}`))
    expect(source.globals.filter(({ isSecret }) => isSecret)).toHaveLength(1)
    expect(JSON.stringify(source.operations)).not.toContain(PASSWORD)
    expect(JSON.stringify(source.operations)).not.toContain(TOKEN)
  })

  it('is one global, however many requests have it', async () => {
    const header = pairs({ 'X-Api-Key': TOKEN })
    const items = ['a', 'b'].map(name => ({ name, request: { method: 'GET', url: `${URL_TEXT}/${name}`, header } }))
    const source = await importItems(items)
    expect(source.globals.filter(({ isSecret }) => isSecret)).toEqual([
      { key: 'kiosk_x_api_key', isSecret: true, value: TOKEN, origins: ['https://api.kiosk.example'] },
    ])
  })

  it('of a request that cannot be imported is in no list', async () => {
    const body = { mode: 'file' }
    const source = await importRequest({ method: 'PUT', url: URL_TEXT, body, auth: auth('bearer', { token: TOKEN }) })
    expect(source.globals).toEqual([])
    const named = { method: 'GET', url: URL_TEXT, header: pairs({ [`X-${PASSWORD}`]: '1', Cookie: `a=${PASSWORD}` }) }
    const refused = await importRequest(named)
    expect(refused.operations).toEqual([expect.objectContaining({ reason: expect.stringContaining('secret') })])
    expect(JSON.stringify(refused)).not.toContain(PASSWORD)
  })

  it('is in no text about a request that cannot be imported', async () => {
    const request = { method: 'PUT', url: `${URL_TEXT}/${TOKEN}/${PASSWORD}`, body: { mode: 'file' } }
    const tagged = { name: `Folder of ${TOKEN}`, item: [{ name: `Send with ${PASSWORD}`, request }] }
    const header = pairs({ 'X-Api-Key': PASSWORD })
    const source = await importItems([tagged, { name: 'other', request: { method: 'GET', url: URL_TEXT, header } }])
    expect(source.operations).toMatchObject([{ reason: expect.stringContaining('file') }, { tool: {} }])
    expect(JSON.stringify(source.operations)).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`))
  })

  it('is no example of a disabled header', async () => {
    const header = [
      { key: 'X-Api-Key', value: PASSWORD, disabled: true },
      { key: 'X-Trace', value: TOKEN, disabled: true },
      { key: 'X-Page', value: '2', disabled: true },
    ]
    const source = await importRequest({ method: 'GET', url: URL_TEXT, header })
    expect(onlyTool(source).tool.headers.map(({ name }) => name)).toEqual(['X-Page'])
    expect(JSON.stringify(source)).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`))
  })

  it('becomes a global if it is the value of a variable of the path', async () => {
    const url = { host: ['{{baseUrl}}'], path: ['hooks', ':hook'], variable: pairs({ hook: TOKEN }) }
    const source = await importRequest({ method: 'POST', url })
    expect(requestOf(onlyTool(source), source).url).toMatch(new RegExp(`/hooks/${TOKEN}$`))
    expect(JSON.stringify(source.operations)).not.toContain(TOKEN)
  })

  it.each([
    ['oauth2', 'clientSecret'],
    ['awsv4', 'secretKey'],
    ['jwt', 'secret'],
  ])('of authentication with %s is in no text: %s', async (type, attribute) => {
    const request = { method: 'GET', url: URL_TEXT, auth: auth(type, { [attribute]: PASSWORD }) }
    const source = await importItems([{ name: 'a', request: { ...request, description: `Uses ${PASSWORD}.` } }], {
      info: { name: `Kiosk with ${PASSWORD}` },
    })
    expect(onlyTool(source).tool.description).toBe('Uses ….')
    expect(source.title).toBe('Kiosk with …')
  })

  it('has another global than a variable of the same name', async () => {
    const items = [PASSWORD, '{{access_token}}'].map((token, at) => ({
      name: `request ${at}`,
      request: { method: 'GET', url: '{{host}}/orders', auth: auth('bearer', { token }) },
    }))
    const source = await importItems(items, variables({ access_token: TOKEN }))
    const host = { key: 'base_url', isSecret: false, value: 'https://api.kiosk.example', origins: [] }
    const globals = [...source.globals, host]
    const sent = [...toolsOf(source).values()].map(tool => requestOf(tool, { globals }).headers.Authorization)
    expect(sent).toEqual([`Bearer ${PASSWORD}`, `Bearer ${TOKEN}`])
  })

  it('that is only a word, such as password, is hidden in its place and nowhere else', async () => {
    const body = { mode: 'raw', raw: '{"password": "password", "hint": "the password"}' }
    const source = await importRequest({ method: 'POST', url: URL_TEXT, body, description: 'Changes the password.' })
    const { tool } = onlyTool(source)
    expect(tool.description).toBe('Changes the password.')
    expect(JSON.parse(requestOf(onlyTool(source), source, { hint: 'h' }).body ?? '')).toEqual({
      password: 'password',
      hint: 'h',
    })
  })
})

describe('a variable', () => {
  it('is a secret if its environment says so, or if it is named like one', async () => {
    const values = [
      { key: 'tenant', value: 'acme', type: 'secret' },
      { key: 'adminPassword', value: PASSWORD, type: 'default' },
      { key: 'plain', value: 'x', type: 'default' },
    ]
    const request = { method: 'GET', url: `${URL_TEXT}/{{tenant}}/{{adminPassword}}/{{plain}}` }
    const source = await importRequest(request, variables({}), [{ name: 'Dev', values }])
    expect(source.globals.filter(({ isSecret }) => isSecret).map(({ key }) => key)).toEqual(['tenant', 'adminPassword'])
    expect(JSON.stringify(source.operations)).not.toContain(PASSWORD)
  })

  it('that a request uses as a credential is a secret in all requests', async () => {
    const source = await importItems(
      [
        { name: 'a', request: { method: 'GET', url: `${URL_TEXT}/{{who}}` } },
        { name: 'b', request: { method: 'GET', url: URL_TEXT, auth: auth('bearer', { token: '{{who}}' }) } },
      ],
      variables({ who: 'abc' }),
    )
    expect(source.globals.filter(({ key }) => key === 'who')).toMatchObject([{ isSecret: true, value: 'abc' }])
    const bindings = [...toolsOf(source).values()].map(({ tool }) => tool.parameters.who?.binding)
    expect(bindings).toMatchObject([{ secret: true }, { secret: true }])
  })

  it('with a secret in its value is one, also if it is the start of the URL', async () => {
    const values = { baseUrl: `https://a.example/${TOKEN}`, query: `a=1&key=${TOKEN}` }
    const source = await importRequest({ method: 'GET', url: `${URL_TEXT}/{{query}}` }, variables(values))
    expect(source.globals.map(({ key, isSecret }) => [key, isSecret])).toEqual([
      ['base_url', true],
      ['query', true],
    ])
    expect(JSON.stringify(source.operations)).not.toContain(TOKEN)
  })

  it('that contains itself, or grows without end, has no value', async () => {
    const values = { a: '{{b}}', b: '{{a}}', x0: 'ab'.repeat(10) }
    const growing = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x${at + 1}`, `{{x${at}}}`.repeat(10)]))
    const request = { method: 'GET', url: `${URL_TEXT}/{{a}}/{{x30}}` }
    const source = await importRequest(request, variables({ ...values, ...growing }))
    expect(requestOf(onlyTool(source), source, { a: '1', x30: '2' }).url).toBe('https://api.kiosk.example/orders/1/2')
  })

  it('that Postman generates comes from the model', async () => {
    const source = await importRequest({ method: 'GET', url: `${URL_TEXT}/{{$guid}}` })
    expect(onlyTool(source).tool.parameters.guid?.description).toBe('Postman generates this value ($guid).')
  })
})
