import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import { MAX_GLOBALS_PER_SERVER } from '../../../src/lib/kernel/limits.ts'
import { connect, toolNames } from '../../servers/mcp.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { descriptionOf } from '../reading.ts'
import { newToolkit, review } from '../reviews/reviewing.ts'
import { changesOf } from './shop.ts'

const KEY = 'plum-tree-17'

const Global = z.object({ key: z.string(), secret: z.boolean() })
const Report = z.object({
  created: z.array(z.object({ id: z.string(), name: z.string() })),
  server: z.looseObject({ id: z.string(), globals: z.array(Global) }).nullable(),
  rewired: z.array(z.looseObject({ id: z.string(), name: z.string(), globals: z.array(Global) })),
  missing: z.array(z.object({ key: z.string(), secret: z.boolean(), serverId: z.string().nullable() })),
  discarded: z.array(z.string()),
})
const Instances = z.object({ items: z.array(z.object({ id: z.string(), bindings: z.looseObject({}) })) })

const paths: JsonObject = { '/orders': { get: { operationId: 'listOrders', responses: {} } } }
const withKey = {
  security: [{ api_key: [] }],
  components: { securitySchemes: { api_key: { type: 'apiKey', in: 'query', name: 'api_key' } } },
}
const keyParameter = { name: 'api_key', in: 'query', required: true, schema: { type: 'string' } }
const withParameter: JsonObject = {
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {}, parameters: [keyParameter] } } },
}

describe.each(databaseKinds)('a source that needs more values when it is imported again on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const shop = runFakeApi()

  const describeShop = (parts: JsonObject = {}) =>
    JSON.stringify(descriptionOf({ servers: [{ url: shop.origin }], paths, ...parts }))

  const read = async (api: ApiClient, toolkitId: string, text: string, settings: JsonObject = {}) => {
    const { id } = await review(api, toolkitId, { text })
    await api.expectOk('PATCH', `/imports/${id}`, { settings })
    return id
  }
  const apply = async (api: ApiClient, id: string) =>
    Report.parse((await api.expectOk('POST', `/imports/${id}/apply`)).body)

  /** Imports the shop without a key, to a new server. */
  const start = async (parts?: JsonObject) => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const settings = { server: { newName: 'Desk' } }
    const { created, server } = await apply(ada, await read(ada, toolkitId, describeShop(parts), settings))
    return { ada, toolkitId, toolId: created[0]?.id ?? '', serverId: server?.id ?? '' }
  }
  const addServer = async (api: ApiClient, toolId: string, more: JsonObject = {}) => {
    const server = await api.create('/servers', { name: 'Other', ...more })
    const base = { value: shop.origin }
    await api.expectOk('PUT', `/servers/${server.id}/globals/base_url`, base)
    await api.create(`/servers/${server.id}/instances`, { toolId, name: 'list_orders' })
    return server.id
  }
  const bindingsOn = async (api: ApiClient, serverId: string) =>
    Instances.parse((await api.expectOk('GET', `/servers/${serverId}/instances`)).body).items[0]?.bindings
  const callOn = async (api: ApiClient, serverId: string) => {
    const before = shop.seen.length
    const client = await connect(`${patchbay.origin}/s/${serverId}`, api.token)
    await client.callTool({ name: 'list_orders', arguments: {} })
    return shop.seen.slice(before).map(({ url }) => url)
  }
  const isListed = async (api: ApiClient, serverId: string) =>
    (await toolNames(await connect(`${patchbay.origin}/s/${serverId}`, api.token))).includes('list_orders')

  it('says what servers need before and after it is applied, and works once that is filled in', async () => {
    const { ada, toolkitId, serverId } = await start()
    expect(await callOn(ada, serverId)).toEqual(['/orders'])
    const id = await read(ada, toolkitId, describeShop(withKey))
    expect(await changesOf(ada, id)).toMatchObject([
      {
        impact: 'breaking',
        breaking: [{ parameter: 'api_key', message: 'It needs the secret "api_key" now.' }],
        servers: [{ name: 'Desk' }],
      },
    ])
    const { server, rewired, missing } = await apply(ada, id)
    expect({ server, rewired }).toMatchObject({ server: null, rewired: [{ id: serverId, name: 'Desk', globals: [] }] })
    expect(missing).toEqual([{ key: 'api_key', secret: true, serverId }])
    expect(await isListed(ada, serverId)).toBe(false)

    for (const { key, secret } of missing) {
      await ada.expectOk('PUT', `/servers/${serverId}/globals/${key}`, { value: KEY, secret })
    }
    expect(await callOn(ada, serverId)).toEqual([`/orders?api_key=${KEY}`])
    expect(await changesOf(ada, await read(ada, toolkitId, describeShop(withKey)))).toEqual([])
  })

  it('stores what was entered on the chosen server only', async () => {
    const { ada, toolkitId, toolId, serverId } = await start()
    const otherId = await addServer(ada, toolId)
    const id = await read(ada, toolkitId, describeShop(withKey), { server: serverId, secrets: { api_key: KEY } })
    const { server, rewired, missing, discarded } = await apply(ada, id)
    expect(server?.globals).toMatchObject([{ key: 'api_key', secret: true }])
    expect(rewired).toMatchObject([{ id: otherId, globals: [] }])
    expect({ missing, discarded }).toEqual({
      missing: [{ key: 'api_key', secret: true, serverId: otherId }],
      discarded: [],
    })
    expect(await callOn(ada, serverId)).toEqual([`/orders?api_key=${KEY}`])
    expect(await isListed(ada, otherId)).toBe(false)
  })

  it('keeps bindings that somebody made, and binds what the model had to supply', async () => {
    const { ada, toolkitId, toolId, serverId } = await start(withParameter)
    const otherId = await addServer(ada, toolId)
    const [instance] = Instances.parse((await ada.expectOk('GET', `/servers/${otherId}/instances`)).body).items
    const mine = { base_url: { source: 'server', value: 'base_url' }, api_key: { source: 'instance', value: 'mine' } }
    await ada.expectOk('PATCH', `/instances/${instance?.id}`, { bindings: mine })
    const { missing } = await apply(ada, await read(ada, toolkitId, describeShop(withKey)))
    expect(missing).toEqual([{ key: 'api_key', secret: true, serverId }])
    expect(await bindingsOn(ada, otherId)).toMatchObject(mine)
    expect(await callOn(ada, otherId)).toEqual(['/orders?api_key=mine'])
  })

  it('uses the secret that a server has for the same API, and not that of another', async () => {
    const { ada, toolkitId, toolId, serverId } = await start()
    const otherId = await addServer(ada, toolId)
    const put = (server: string, origin: string) =>
      ada.expectOk('PUT', `/servers/${server}/globals/api_key`, { value: KEY, secret: true, origins: [origin] })
    await put(serverId, shop.origin)
    await put(otherId, 'https://api.hobby.example')
    const { rewired, missing } = await apply(ada, await read(ada, toolkitId, describeShop(withKey)))
    expect(missing).toMatchObject([{ secret: true, serverId: otherId }])
    expect(missing[0]?.key).not.toBe('api_key')
    expect(rewired.find(({ id }) => id === otherId)).toMatchObject({
      rekeyed: [{ from: 'api_key', to: missing[0]?.key }],
    })
    expect(await callOn(ada, serverId)).toEqual([`/orders?api_key=${KEY}`])
    const { body } = await ada.expectOk('GET', `/servers/${otherId}/globals`)
    expect(body).toMatchObject({ items: [{}, { key: 'api_key', origins: ['https://api.hobby.example'] }] })
  })

  it('adds the base URL of the source where operations have moved to another one', async () => {
    const { ada, toolkitId, serverId } = await start()
    const moved = { servers: [{ url: `${shop.origin}/v2` }] }
    const next = { paths: { '/orders': { get: { operationId: 'listOrders', responses: {}, ...moved } } } }
    const id = await read(ada, toolkitId, describeShop(next))
    const { rewired, missing } = await apply(ada, id)
    expect(missing).toEqual([])
    expect(rewired).toMatchObject([{ id: serverId, globals: [{ secret: false }] }])
    expect(await callOn(ada, serverId)).toEqual(['/v2/orders'])
  })

  it('calls a base URL that the source does not know breaking, and waits for it', async () => {
    const { ada, toolkitId, serverId } = await start()
    const regional = { servers: [{ url: 'https://{region}.shop.example', variables: { region: {} } }] }
    const next = { paths: { '/orders': { get: { operationId: 'listOrders', responses: {}, ...regional } } } }
    const id = await read(ada, toolkitId, describeShop(next))
    const [change] = await changesOf(ada, id)
    expect(change).toMatchObject({
      impact: 'breaking',
      breaking: [{ message: expect.stringMatching(/^It needs the global "\w+" now\.$/) }],
    })
    const { missing } = await apply(ada, id)
    expect(missing).toMatchObject([{ secret: false, serverId }])
    await ada.expectOk('PUT', `/servers/${serverId}/globals/${missing[0]?.key}`, { value: `${shop.origin}/eu` })
    expect(await callOn(ada, serverId)).toEqual(['/eu/orders'])
  })

  it('names no server that the reader may not open', async () => {
    const { ada, toolkitId, toolId, serverId } = await start()
    const [bea, cleo] = [
      await patchbay.member(ada.organizationId, 'builder'),
      await patchbay.member(ada.organizationId, 'builder'),
    ]
    const hiddenId = await addServer(cleo, toolId, { organizationId: ada.organizationId, access: 'private' })
    await ada.expectOk('PATCH', `/servers/${serverId}`, { access: 'organization' })
    const id = await read(bea, toolkitId, describeShop(withKey))
    expect((await apply(bea, id)).missing.map(one => one.serverId)).toEqual([serverId])
    expect((await apply(cleo, id)).missing.map(one => one.serverId).sort()).toEqual([serverId, hiddenId].sort())
    expect(await bindingsOn(cleo, hiddenId)).toMatchObject({ api_key: { source: 'server', value: 'api_key' } })
  })
  it('gives no secret of a server that the builder may not open to tools that did not have it', async () => {
    const { ada, toolkitId, toolId } = await start()
    const [bea, cleo] = [
      await patchbay.member(ada.organizationId, 'builder'),
      await patchbay.member(ada.organizationId, 'builder'),
    ]
    const closed = { organizationId: ada.organizationId, access: 'private' }
    const put = (serverId: string) =>
      cleo.expectOk('PUT', `/servers/${serverId}/globals/api_key`, { value: KEY, secret: true, origins: [shop.origin] })
    const hiddenId = await addServer(cleo, toolId, closed)
    await put(hiddenId)
    const report = await apply(bea, await read(bea, toolkitId, describeShop(withKey)))
    expect(report.rewired.map(({ id }) => id)).not.toContain(hiddenId)
    const bound = await bindingsOn(cleo, hiddenId)
    expect(bound?.api_key).toMatchObject({ source: 'server' })
    expect(bound?.api_key).not.toMatchObject({ value: 'api_key' })
  })

  it('is applied although another server has no room for globals', async () => {
    const { ada, toolkitId, toolId, serverId } = await start()
    const cleo = await patchbay.member(ada.organizationId, 'builder')
    const hiddenId = await addServer(cleo, toolId, { organizationId: ada.organizationId, access: 'private' })
    await patchbay.db.global.createMany({
      data: Array.from({ length: MAX_GLOBALS_PER_SERVER - 1 }, (_, at) => ({
        ...{ serverId: hiddenId, key: `g${at}`, value: '', isSecret: false },
      })),
    })
    const moved = { servers: [{ url: `${shop.origin}/v2` }] }
    const next = { paths: { '/orders': { get: { operationId: 'listOrders', responses: {}, ...moved } } } }
    const id = await read(ada, toolkitId, describeShop(next))
    const { rewired, missing } = await apply(ada, id)
    expect(rewired.find(one => one.id === serverId)).toMatchObject({ globals: [{ secret: false }] })
    expect(missing).toMatchObject([{ secret: false, serverId: hiddenId }])
  })
})
