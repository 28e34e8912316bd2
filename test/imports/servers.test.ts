import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { descriptionOf, document, isTool, readAll, render } from './reading.ts'

const read = async (parts: JsonObject, name = 'openapi.json') => {
  const paths = { '/a': { get: { operationId: 'a' } } }
  const { operations, summary, outcome } = await readAll([document(descriptionOf({ paths, ...parts }), name)])
  return { tools: operations.filter(isTool), summary, outcome }
}

describe('the base URL', () => {
  it('is the first server, and tools may call all of them', async () => {
    const servers = [{ url: 'https://api.example.com/v1/' }, { url: 'https://eu.example.com' }]
    const { tools, summary } = await read({ servers })
    expect(summary.baseUrl).toMatchObject({ key: 'base_url', value: 'https://api.example.com/v1' })
    expect(tools[0]?.tool.url).toBe('{{url:base_url}}/a')
    expect(tools[0]?.tool.parameters.base_url).toEqual({
      binding: { source: 'server', key: 'base_url', secret: false },
    })
    expect(tools[0]?.tool.allowedOrigins).toEqual(['https://api.example.com', 'https://eu.example.com'])
  })

  it('has the defaults of its variables, which are listed', async () => {
    const variables = {
      region: { default: 'eu', enum: ['eu', 'us'] },
      version: { default: 'v2', description: 'Of the API' },
    }
    const { tools, summary } = await read({ servers: [{ url: 'https://{region}.example.com/{version}', variables }] })
    expect(summary.baseUrl.value).toBe('https://eu.example.com/v2')
    expect(summary.baseUrl.servers[0]?.variables).toEqual([
      { name: 'region', default: 'eu', values: ['eu', 'us'], description: undefined },
      { name: 'version', default: 'v2', values: [], description: 'Of the API' },
    ])
    expect(tools[0]?.tool.allowedOrigins).toBeUndefined()
  })

  it.each([
    ['there is no server', []],
    ['the server is relative to the description, and that is a file', [{ url: '/v1' }]],
    ['a variable has no default', [{ url: 'https://{tenant}.example.com' }]],
    ['the server is not one of HTTP', [{ url: 'ftp://example.com' }]],
  ])('must be entered if %s', async (_, servers) => {
    const { tools, summary } = await read({ servers })
    expect(summary.baseUrl.value).toBeUndefined()
    expect(tools[0]?.tool.url).toBe('{{url:base_url}}/a')
  })

  it('is relative to the URL of the description', async () => {
    const url = 'https://docs.example.com/specs/openapi.json'
    expect((await read({ servers: [{ url: '../v1' }] }, url)).summary.baseUrl.value).toBe('https://docs.example.com/v1')
    expect((await read({ servers: [] }, url)).summary.baseUrl.value).toBe('https://docs.example.com')
  })

  it('has the variables that descriptions of Azure have in place of the host', async () => {
    const parameters = [{ name: 'Endpoint', in: 'path', required: true, type: 'string' }]
    const host = { hostTemplate: '{Endpoint}/api', useSchemePrefix: false, parameters }
    const parts = { swagger: '2.0', info: {}, host: 'none', basePath: '/v1', 'x-ms-parameterized-host': host }
    const { operations, summary } = await readAll([document({ ...parts, paths: { '/a': { get: {} } } })])
    expect(summary.baseUrl).toMatchObject({ value: undefined, servers: [{ url: '{Endpoint}/api/v1' }] })
    expect(operations.filter(isTool)[0]?.tool.allowedOrigins).toBeUndefined()
  })

  it('contains no credentials', async () => {
    const { summary } = await read({ servers: [{ url: 'https://bob:hunter2@api.example.com' }] })
    expect(JSON.stringify(summary)).not.toContain('hunter2')
    expect(summary.baseUrl.value).toBe('https://api.example.com')
  })

  it('is another global for operations with another server', async () => {
    const uploads = { servers: [{ url: 'https://uploads.example.com' }] }
    const paths = {
      '/a': { get: { operationId: 'a' } },
      '/b': {
        ...uploads,
        get: { operationId: 'b' },
        post: { operationId: 'c', servers: [{ url: 'https://api.example.com' }] },
      },
      '/d': { get: { operationId: 'd', ...uploads } },
    }
    const { tools, outcome } = await read({ paths })
    expect(tools.map(({ tool, globals }) => [tool.name, ...globals])).toEqual([
      ['a', 'base_url'],
      ['b', 'uploads_example_com_base_url'],
      ['c', 'base_url'],
      ['d', 'uploads_example_com_base_url'],
    ])
    expect(outcome.baseUrls.map(({ key, value }) => [key, value])).toEqual([
      ['base_url', 'https://api.example.com'],
      ['uploads_example_com_base_url', 'https://uploads.example.com'],
    ])
  })
})

describe('a path', () => {
  const urlOf = async (path: string, operation: JsonObject = {}, values = {}) => {
    const { tools } = await read({ paths: { [path]: { get: operation } } })
    const [tool] = tools
    return tool === undefined ? undefined : render(tool, values).url
  }

  it('may have a fixed query, also with expressions', async () => {
    expect(await urlOf('/users/{id}/expire?temp=true', {}, { id: 'a b' })).toBe(
      'https://api.example.com/users/a%20b/expire?temp=true',
    )
    expect(await urlOf('/users?by={id}', {}, { id: '1' })).toBe('https://api.example.com/users?by=1')
    const parameters = [{ name: 'comp', in: 'query', required: true, schema: { type: 'string', enum: ['list'] } }]
    expect(await urlOf('/a?comp=list', { parameters })).toBe('https://api.example.com/a?comp=list')
  })

  it.each([
    ['/a#b', '/a%23b'],
    ['/a b', '/a%20b'],
    ['/a\\b', '/a%5Cb'],
    ['/é', '/%C3%A9'],
    ['/a%2Fb', '/a%2Fb'],
    ['/100%', '/100%25'],
    ['/a/{{x}}/{y', '/a/%7B1%7D/%7By'],
    ['items', '/items'],
  ])('%s is sent as %s', async (path, sent) => {
    expect(await urlOf(path, {}, { x: '1' })).toBe(`https://api.example.com${sent}`)
  })

  it('keeps slashes of a value where the description says so', async () => {
    const parameters = [
      { name: 'path', in: 'path', required: true, 'x-multi-segment': true, schema: { type: 'string' } },
    ]
    expect(await urlOf('/contents/{path}', { parameters }, { path: 'a/b c' })).toBe(
      'https://api.example.com/contents/a/b%20c',
    )
    expect(await urlOf('/contents/{+path}', {}, { path: 'a/b' })).toBe('https://api.example.com/contents/a/b')
  })

  it.each<[string, string, JsonObject]>([
    ['RFC 6570', '{+path}', {}],
    ['API Gateway', '{path+}', {}],
    ['API Gateway, in the name too', '{path+}', { name: 'path+' }],
    ['ASP.NET', '{*path}', {}],
    ['ASP.NET, not encoded', '{**path}', {}],
    ['Starlette', '{path:path}', {}],
    ['JAX-RS', '{path: .+}', {}],
    ['gRPC transcoding', '{path=files/**}', {}],
    ['the keyword of 3.2', '{path}', { allowReserved: true }],
    ['its format', '{path}', { schema: { type: 'string', format: 'path' } }],
    ['its description', '{path}', { description: 'The file. It may contain slashes.' }],
  ])('keeps slashes of a parameter that is described as a path: by %s', async (_, expression, parts) => {
    const parameter = { name: 'path', in: 'path', required: true, schema: { type: 'string' }, ...parts }
    const operation = { parameters: [parameter] }
    const sent = 'https://api.example.com/files/a/b%20c'
    expect(await urlOf(`/files/${expression}`, operation, { path: 'a/b c' })).toBe(sent)
  })

  it.each([
    ['{path}', 'The file. Slashes may be in it: it can contain slashes, which must be encoded as %2F.'],
    ['{path}', 'The file. It cannot contain slashes.'],
    ['{path*}', 'The file.'],
    ['{path:[a-z/ ]+}', 'The file.'],
  ])('encodes slashes of other parameters: %s, %s', async (expression, description) => {
    const parameters = [{ name: 'path', in: 'path', required: true, schema: { type: 'string' }, description }]
    const sent = 'https://api.example.com/files/a%2Fb'
    expect(await urlOf(`/files/${expression}`, { parameters }, { path: 'a/b' })).toBe(sent)
  })

  it('may lack parameters that are declared for all paths', async () => {
    const parameters = ['a', 'b'].map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
    expect(await urlOf('/x/{a}', { parameters }, { a: '1' })).toBe('https://api.example.com/x/1')
  })

  it('may have the same expression twice', async () => {
    expect(await urlOf('/{a}/x/{a}', {}, { a: '1' })).toBe('https://api.example.com/1/x/1')
  })
})
