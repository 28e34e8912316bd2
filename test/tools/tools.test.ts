import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { runPatchbay } from '../support/world.ts'

const Problem = z.object({
  status: z.int(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

const WEATHER = {
  name: 'get_forecast',
  title: 'Forecast',
  description: 'The weather of a town.',
  method: 'post',
  url: 'https://api.example.com/{{town}}?days={{integer:days=3}}&units={{units?}}',
  headers: [{ name: 'X-Key', value: '{{key}}' }],
  body: '{\n  "town": "{{town}}",\n  "extra": {{json:extra?}}\n}',
  timeoutMs: 5_000,
  parameters: {
    town: { description: 'Name of the town', example: 'Turin', pattern: '^[A-Z]' },
    units: { enum: ['metric', 'imperial'], default: 'metric' },
    days: { minimum: 1, maximum: 14 },
  },
  inputSchema: { type: 'object', properties: { town: { type: 'string', maxLength: 40 } }, required: ['town'] },
  outputSchema: { type: 'object', properties: { degrees: { type: 'number' } } },
  annotations: { readOnlyHint: true },
  allowedOrigins: ['https://API.example.com/'],
}

const MINIMAL = { name: 'tool', method: 'GET', url: 'https://api.example.com/items' }

describe('a tool', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_TOOL_TIMEOUT_MS: '400000' } })
  let ada: ApiClient
  let toolkitId: string
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
    toolkitId = (await ada.create('/toolkits', { title: 'Toolkit' })).id
  })
  let made = 0
  const create = (definition: object) =>
    ada.create(`/toolkits/${toolkitId}/tools`, { ...definition, name: `tool_${++made}` })
  const refuse = async (method: string, path: string, body: object) => {
    const answer = await ada.send(method, path, body)
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    return Problem.parse(answer.body)
  }

  it('is returned as it was created, with its extracted parameters', async () => {
    const answer = await ada.send('POST', `/toolkits/${toolkitId}/tools`, WEATHER)
    expect(answer.status).toBe(201)
    const { parameters, ...rest } = WEATHER
    expect(answer.body).toEqual({
      ...rest,
      id: expect.any(String),
      toolkitId,
      method: 'POST',
      allowedOrigins: ['https://api.example.com'],
      response: null,
      pagination: null,
      retries: null,
      cacheSeconds: null,
      callPrice: null,
      cacheShared: null,
      problem: null,
      parameters: {
        town: {
          type: 'string',
          required: true,
          places: [
            { kind: 'path', field: 'url', line: 1, column: 25 },
            { kind: 'json-string', name: 'town', field: 'body', line: 2, column: 12 },
          ],
          ...parameters.town,
        },
        days: {
          type: 'integer',
          required: false,
          places: [{ kind: 'query', name: 'days', field: 'url', line: 1, column: 39 }],
          default: 3,
          minimum: 1,
          maximum: 14,
        },
        units: {
          type: 'string',
          required: false,
          places: [{ kind: 'query', name: 'units', field: 'url', line: 1, column: 64 }],
          ...parameters.units,
        },
        key: {
          type: 'string',
          required: true,
          places: [{ kind: 'header', name: 'X-Key', field: 'headers[0].value', line: 1, column: 1 }],
        },
        extra: {
          type: 'json',
          required: false,
          places: [{ kind: 'json', name: 'extra', field: 'body', line: 3, column: 12 }],
        },
      },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    const { id } = z.object({ id: z.string() }).parse(answer.body)
    expect((await ada.send('GET', `/tools/${id}`)).body).toEqual(answer.body)
  })

  it('with only the required fields has null for the others', async () => {
    expect(await create(MINIMAL)).toMatchObject({
      title: null,
      description: null,
      headers: [],
      body: null,
      timeoutMs: null,
      retries: null,
      parameters: {},
      inputSchema: null,
      outputSchema: null,
      annotations: null,
      allowedOrigins: null,
      response: null,
    })
  })

  it('loses fields that are set to null, and keeps fields that are left out', async () => {
    const { id } = await create(WEATHER)
    const without = {
      title: null,
      description: null,
      timeoutMs: null,
      inputSchema: null,
      outputSchema: null,
      annotations: null,
      allowedOrigins: null,
      response: null,
    }
    const { body } = await ada.send('PATCH', `/tools/${id}`, without)
    expect(body).toMatchObject({ ...without, url: WEATHER.url, body: WEATHER.body, headers: WEATHER.headers })
    expect(body).toHaveProperty('parameters.town.description', 'Name of the town')
    const bodiless = (await ada.send('PATCH', `/tools/${id}`, { body: null })).body
    expect(bodiless).toMatchObject({ body: null, parameters: { town: { description: 'Name of the town' } } })
    expect(bodiless).not.toHaveProperty('parameters.extra')
  })

  it.each(['name', 'method', 'url', 'headers', 'parameters'])('cannot lose its %s in a change', async field => {
    const { id } = await create(MINIMAL)
    expect((await refuse('PATCH', `/tools/${id}`, { [field]: null })).errors).toMatchObject([{ path: field }])
  })

  it('accepts its own response as input, edited or not', async () => {
    const { id } = await create(WEATHER)
    const { body } = await ada.send('GET', `/tools/${id}`)
    const same = await ada.send('PATCH', `/tools/${id}`, body)
    expect(same.status).toBe(200)
    expect({ ...z.looseObject({}).parse(same.body), updatedAt: '' }).toEqual({
      ...z.looseObject({}).parse(body),
      updatedAt: '',
    })
    const edited = { ...z.looseObject({}).parse(body), title: 'Better', url: `${WEATHER.url}&lang={{lang=en}}` }
    expect(await ada.send('PATCH', `/tools/${id}`, edited)).toMatchObject({
      status: 200,
      body: { title: 'Better', parameters: { lang: { default: 'en' }, days: { default: 3 } } },
    })
  })

  it('cannot change its toolkit or id', async () => {
    const { id } = await create(MINIMAL)
    const other = await ada.create('/toolkits', { title: 'Other' })
    const problem = await refuse('PATCH', `/tools/${id}`, { id: other.id, toolkitId: other.id, title: 'x' })
    expect(problem.errors?.map(({ path }) => path)).toEqual(['id', 'toolkitId'])
    expect((await ada.send('GET', `/tools/${id}`)).body).toMatchObject({ toolkitId, title: null })
  })

  it('loses the metadata of a parameter that its edited URL no longer has', async () => {
    const { id } = await create({ ...MINIMAL, url: 'https://a.example/{{x}}', parameters: { x: { description: 'X' } } })
    const { body } = await ada.expectOk('PATCH', `/tools/${id}`, { url: 'https://a.example/{{y}}' })
    expect(body).toMatchObject({ parameters: { y: { required: true } } })
    expect(body).not.toHaveProperty('parameters.x')
  })

  it('can have a timeout up to the setting; the error names the setting', async () => {
    expect(await create({ ...MINIMAL, timeoutMs: 400_000 })).toMatchObject({ timeoutMs: 400_000 })
    const problem = await refuse('POST', `/toolkits/${toolkitId}/tools`, { ...MINIMAL, timeoutMs: 400_001 })
    expect(problem.detail).toContain('PATCHBAY_MAX_TOOL_TIMEOUT_MS')
    expect(problem.errors).toMatchObject([{ path: 'timeoutMs' }])
    const { id } = await create(MINIMAL)
    expect((await refuse('PATCH', `/tools/${id}`, { timeoutMs: 400_001 })).detail).toContain('400000')
  })

  it.each([
    ['a placeholder without an end', { url: 'https://a.example/\n{{x' }, 'url', /line 2, column 1/],
    ['an unknown type', { url: 'https://a.example/{{date:x}}' }, 'url', /line 1, column 19.*"date"/],
    ['a placeholder for the port', { url: 'https://a.example:{{port}}/' }, 'url', /line 1, column 19/],
    ['a scheme that is not http', { url: 'ftp://a.example/' }, 'url', /line 1/],
    ['a header that cannot be set', { headers: [{ name: 'Host', value: 'x' }] }, 'headers[0].name', /Host/i],
    [
      'a placeholder in a header name',
      { headers: [{ name: '{{n}}', value: 'x' }] },
      'headers[0].name',
      /line 1, column 1/,
    ],
    [
      'two types for one parameter',
      { method: 'POST', url: 'https://a.example/{{integer:x}}', body: '{\n "x": {{boolean:x}}}' },
      'body',
      /line 2, column 7.*integer in url, line 1, column 19.*boolean in body, line 2, column 7/,
    ],
    ['a reserved parameter name', { url: 'https://a.example/{{__proto__}}' }, 'url', /__proto__/],
    [
      'two defaults',
      { url: 'https://a.example/{{integer:x=1}}', parameters: { x: { default: 2 } } },
      'parameters.x.default',
      /default/,
    ],
    [
      'a default that is not allowed in the path',
      { url: 'https://a.example/{{x}}', parameters: { x: { default: '..' } } },
      'parameters.x.default',
      /^x: the default must not be .*path/,
    ],
    [
      'a default that is not allowed in a header',
      { headers: [{ name: 'X-Place', value: '{{x}}' }], parameters: { x: { default: '\u20ac' } } },
      'parameters.x.default',
      /^x: the default must not contain .*header/,
    ],
    [
      'metadata of an unknown parameter',
      { parameters: { nobody: { description: 'x' } } },
      'parameters.nobody',
      /no parameter named/,
    ],
    [
      'a pattern that needs backtracking',
      { url: 'https://a.example/{{x}}', parameters: { x: { pattern: '(?=a)' } } },
      'parameters.x.pattern',
      /pattern/,
    ],
    ['an invalid output schema', { outputSchema: { type: 'wrong' } }, 'outputSchema', /JSON Schema/],
    [
      'an output schema of another dialect',
      { outputSchema: { $schema: 'http://json-schema.org/draft-07/schema#' } },
      'outputSchema',
      /^has a "\$schema" of another dialect than JSON Schema 2020-12\. Remove/,
    ],
    ['an output schema with a broken reference', { outputSchema: { $ref: '#/$defs/gone' } }, 'outputSchema', /\$defs/],
    ['an input schema that is not of an object', { inputSchema: { type: 'array' } }, 'inputSchema', /object/],
    [
      'an input schema with an unknown parameter',
      { inputSchema: { type: 'object', properties: { nobody: {} } } },
      'inputSchema.properties.nobody',
      /no parameter named/,
    ],
    ['an origin with a path', { allowedOrigins: ['https://a.example/x'] }, 'allowedOrigins[0]', /origin/],
    ['an origin with a query', { allowedOrigins: ['https://a.example?x'] }, 'allowedOrigins[0]', /origin/],
    ['an origin with a user', { allowedOrigins: ['https://u:p@a.example'] }, 'allowedOrigins[0]', /origin/],
    ['a name that clients would reject', { name: 'not a name' }, 'name', /A-Z/],
    ['an empty method', { method: ' ' }, 'method', /./],
    ['a method that is not a token', { method: 'GE T' }, 'method', /./],
    ['a timeout of 0', { timeoutMs: 0 }, 'timeoutMs', /./],
    ['four retries', { retries: 4 }, 'retries', /must be a whole number from 0 to 3/],
    ['half a retry', { retries: 0.5 }, 'retries', /must be a whole number from 0 to 3/],
    ['retries of a POST', { method: 'POST', retries: 1 }, 'retries', /only applies to the methods GET, HEAD, PUT/],
  ])('with %s is refused at save, saying where', async (_what, wrong, path, message) => {
    const whole = { ...MINIMAL, ...wrong }
    const { errors } = await refuse('POST', `/toolkits/${toolkitId}/tools`, whole)
    expect(errors).toContainEqual({ path, message: expect.stringMatching(message) })
    const { id } = await create(MINIMAL)
    const changed = await refuse('PATCH', `/tools/${id}`, wrong)
    expect(changed.errors).toContainEqual({ path, message: expect.stringMatching(message) })
    expect((await ada.send('GET', `/tools/${id}`)).body).toMatchObject({ url: MINIMAL.url, outputSchema: null })
  })

  it('with the default of its template repeated is rejected when created, but accepted in a change, because responses include it', async () => {
    const url = 'https://a.example/{{integer:x=1}}'
    const again = { ...MINIMAL, url, parameters: { x: { default: 1 } } }
    expect(await refuse('POST', `/toolkits/${toolkitId}/tools`, again)).toMatchObject({
      errors: [{ path: 'parameters.x.default' }],
    })
    const { id } = await create({ ...MINIMAL, url })
    expect((await ada.send('PATCH', `/tools/${id}`, { parameters: { x: { default: 1 } } })).status).toBe(200)
  })

  it('with several errors reports all of them at once', async () => {
    const wrong = { ...MINIMAL, url: 'https://a.example/{{a', headers: [{ name: 'Host', value: '{{b' }] }
    const { errors = [] } = await refuse('POST', `/toolkits/${toolkitId}/tools`, wrong)
    expect(errors.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['url', 'headers[0].name', 'headers[0].value']),
    )
  })
})

describe('a body', () => {
  const patchbay = runPatchbay()
  let ada: ApiClient
  let ids: Record<'toolkit' | 'tool' | 'server' | 'instance', string>
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
    const toolkit = await ada.create('/toolkits', { title: 'Toolkit' })
    const tool = await ada.create(`/toolkits/${toolkit.id}/tools`, MINIMAL)
    const server = await ada.create('/servers', { name: 'Server' })
    const instance = await ada.create(`/servers/${server.id}/instances`, { toolId: tool.id, name: 'tool' })
    ids = { toolkit: toolkit.id, tool: tool.id, server: server.id, instance: instance.id }
  })

  const writes = (): [string, string, object][] => [
    ['POST', '/toolkits', { title: 'x' }],
    ['PATCH', `/toolkits/${ids.toolkit}`, {}],
    ['POST', `/toolkits/${ids.toolkit}/tools`, { ...MINIMAL, name: 'more' }],
    ['PATCH', `/tools/${ids.tool}`, {}],
    ['POST', `/tools/${ids.tool}/test`, {}],
    ['POST', '/servers', { name: 'x' }],
    ['PATCH', `/servers/${ids.server}`, {}],
    ['PUT', `/servers/${ids.server}/globals/key`, { value: 'x' }],
    ['POST', `/servers/${ids.server}/instances`, { toolId: ids.tool, name: 'more' }],
    ['PATCH', `/instances/${ids.instance}`, {}],
    ['POST', `/instances/${ids.instance}/call`, {}],
  ]

  it('with an unknown key is rejected with its name', async () => {
    for (const [method, path, body] of writes()) {
      const answer = await ada.send(method, path, { ...body, colour: 'blue' })
      expect(answer, `${method} ${path}`).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/colour/) },
      })
    }
  })

  it('with the key __proto__ is rejected at any depth, and pollutes nothing', async () => {
    for (const [method, path, body] of writes()) {
      for (const text of ['{"__proto__":{"polluted":true}', '{"deep":{"__proto__":{"polluted":true}}']) {
        const rest = JSON.stringify(body).slice(1)
        const response = await fetch(`${patchbay.origin}/api/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
          body: rest === '}' ? `${text}}` : `${text},${rest}`,
        })
        expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('__proto__')])
      }
    }
    expect({}).not.toHaveProperty('polluted')
  })

  it('that is missing or not an object is rejected', async () => {
    for (const [method, path] of writes()) {
      for (const body of [undefined, [], 'text', 1, null]) {
        expect((await ada.send(method, path, body)).status, `${method} ${path} ${JSON.stringify(body)}`).toBe(400)
      }
    }
  })

  it('with parameters named like object members works like any other', async () => {
    const url = 'https://api.example.com/{{constructor}}/{{toString}}?hasOwnProperty={{hasOwnProperty?}}'
    const tool = await ada.create(`/toolkits/${ids.toolkit}/tools`, {
      ...MINIMAL,
      name: 'inherited',
      url,
      parameters: { constructor: { description: 'C' } },
    })
    const { body } = await ada.expectOk('GET', `/tools/${tool.id}`)
    expect(Object.keys(z.object({ parameters: z.looseObject({}) }).parse(body).parameters).sort()).toEqual([
      'constructor',
      'hasOwnProperty',
      'toString',
    ])
    expect(body).toMatchObject({ parameters: { constructor: { description: 'C', required: true } } })
  })
})
