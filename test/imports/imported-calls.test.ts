import { describe, expect, it } from 'vitest'
import { importCurl } from '../../src/imports/curl/import-curl.ts'
import type { MappedSource } from '../../src/imports/mapped-source.ts'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { importItems } from './postman-collection.ts'
import { sourceOf, toolsOf } from './sent-request.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

describe('imported tools on a server with the values of the source', () => {
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)
  const api = runFakeApi()

  /** Saves the tools as they are, and returns a function that calls one and returns the request. */
  const install = async (source: MappedSource) => {
    const tools = [...toolsOf(source).values()].map(({ tool }) => tool)
    const { serverId, instanceIds } = await makeServer(builder, tools)
    for (const { key, value, isSecret: secret, origins } of source.globals) {
      await builder.expectOk('PUT', `/servers/${serverId}/globals/${key}`, {
        value,
        secret,
        ...(secret && { origins }),
      })
    }
    return async (name: string, args: JsonObject) => {
      const before = api.seen.length
      await builder.expectOk('POST', `/instances/${instanceIds[name]}/call`, { arguments: args })
      return api.seen[before]
    }
  }

  it('send the requests of a Postman collection', async () => {
    const item = [
      { name: 'List orders', request: { method: 'GET', url: '{{baseUrl}}/v1/orders/:id?limit=20&state={{state}}' } },
      {
        name: 'Create order',
        request: {
          method: 'POST',
          url: '{{baseUrl}}/v1/orders',
          body: {
            mode: 'raw',
            raw: '{"name": "Pizza", "by": "{{tenant}}", "lines": []}',
            options: { raw: { language: 'json' } },
          },
        },
      },
    ]
    const source = await importItems(item, {
      auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}' }] },
      variable: [
        { key: 'baseUrl', value: api.origin },
        { key: 'token', value: TOKEN },
        { key: 'tenant', value: 'acme' },
      ],
    })
    const call = await install(source)
    expect(await call('list_orders', { id: 7, state: 'open' })).toMatchObject({
      method: 'GET',
      url: '/v1/orders/7?limit=20&state=open',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    const created = await call('create_order', { name: 'Soup', lines: [{ sku: 'a' }] })
    expect(JSON.parse(created?.body ?? '')).toEqual({ name: 'Soup', by: 'acme', lines: [{ sku: 'a' }] })
  })

  it('send the requests of cURL commands', async () => {
    const text = `curl '${api.origin}/users/12?tag=a&tag=b' -u ada:plum-tree-17\ncurl ${api.origin}/notes -d 'text=hi there'`
    const call = await install(await sourceOf(importCurl(text)))
    expect(await call('get_user', { user_id: 13 })).toMatchObject({
      url: '/users/13?tag=a&tag=b',
      headers: { authorization: `Basic ${btoa('ada:plum-tree-17')}` },
    })
    expect(await call('post_notes', { text: 'a&b' })).toMatchObject({ method: 'POST', body: 'text=a%26b' })
  })
})
