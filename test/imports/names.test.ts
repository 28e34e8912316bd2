import { describe, expect, it } from 'vitest'
import { isTool, readParts, toolOf } from './reading.ts'

const query = (...names: string[]) => names.map(name => ({ name, in: 'query', schema: { type: 'string' } }))

describe('the name of a tool', () => {
  it.each([
    { operationId: 'listUserOrders', name: 'list_user_orders' },
    { operationId: 'repos/get-content', name: 'repos_get_content' },
    { operationId: 'getHTTPStatus', name: 'get_http_status' },
    { operationId: 'Über Übersicht', name: 'uber_ubersicht' },
    { operationId: '2fa', name: 'get_2fa' },
    { operationId: 'proxy_list', name: 'get_proxy_list' },
    { operationId: '取得', name: 'get_items' },
  ])('is $name for the operationId $operationId', async ({ operationId, name }) => {
    expect((await toolOf({ operationId })).tool.name).toBe(name)
  })

  it('is made from method and path without an operationId', async () => {
    expect((await toolOf({}, { path: '/v1/users/{userId}/orders' })).tool.name).toBe('get_users_by_user_id_orders')
  })

  it('is cut between words to 64 characters', async () => {
    const operationId = Array.from({ length: 12 }, (_, index) => `segment${index}`).join('_')
    const { name } = (await toolOf({ operationId })).tool
    expect(name.length).toBeLessThanOrEqual(64)
    expect(operationId.startsWith(`${name}_`)).toBe(true)
  })

  it('has a number if it is taken', async () => {
    const paths = Object.fromEntries(['/a', '/b', '/c'].map(path => [path, { get: { operationId: 'list' } }]))
    const names = (await readParts({ paths })).filter(isTool).map(({ tool }) => tool.name)
    expect(names).toEqual(['list', 'list_2', 'list_3'])
  })
})

describe('the names of parameters', () => {
  it('stay as they are where the template allows it, and are readable where not', async () => {
    const { tool } = await toolOf({ parameters: query('filter[a]', 'X-y', 'é', 'sort') })
    expect(Object.keys(tool.parameters)).toEqual(['base_url', 'X-y', 'sort', 'filter_a', 'query'])
  })

  it('go to those that need no change first', async () => {
    const { tool } = await toolOf({ parameters: query('date<', 'date_lt') })
    expect(tool.url).toContain('date_lt={{date_lt?}}')
    expect(tool.url).toContain('date%3C={{date_lt_query?}}')
  })

  it('have their place as suffix if they are taken', async () => {
    const body = { type: 'object', properties: { branch: { type: 'string' }, base_url: { type: 'string' } } }
    const { tool } = await toolOf(
      {
        parameters: [{ name: 'branch', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: body } } },
      },
      { method: 'post', path: '/{branch}' },
    )
    expect(tool.body).toBe('{"branch": {{branch_body?}}, "base_url": {{base_url_body?}}}')
  })

  it('never take the key of a secret', async () => {
    const { tool } = await toolOf(
      { parameters: query('token'), security: [{ token: [] }] },
      { components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } },
    )
    expect(tool.url).toContain('token={{token_query?}}')
    expect(tool.headers).toEqual([{ name: 'Authorization', value: 'Bearer {{token}}' }])
  })
})
