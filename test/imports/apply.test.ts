import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ImportReport } from '../../src/imports/apply/import-report.ts'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { connect, toolNames } from '../servers/mcp.ts'
import { WithId } from '../support/api-client.ts'
import { databaseKinds } from '../support/databases.ts'
import { during, runFakeApi, runPatchbay } from '../support/world.ts'
import { type ReviewOptions, storeReview } from './reviews.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

/** A description of a small API, whose operations need a token. */
const orders = (origin: string, title = 'Orders'): JsonObject => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  servers: [{ url: `${origin}/v1` }],
  security: [{ ApiToken: [] }],
  components: { securitySchemes: { ApiToken: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        parameters: [{ name: 'state', in: 'query', schema: { type: 'array', items: { type: 'string' } } }],
        responses: {},
      },
    },
    '/orders/{id}': {
      get: {
        operationId: 'getOrder',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: {},
      },
    },
    '/upload': {
      post: { operationId: 'upload', requestBody: { content: { 'application/octet-stream': {} } }, responses: {} },
    },
  },
})

const Report = ImportReport.extend({ server: ImportReport.shape.server.nullable() })
const Globals = z.object({
  items: z.array(
    z.object({
      key: z.string(),
      secret: z.boolean(),
      value: z.string().nullish(),
      origins: z.array(z.string()).nullish(),
    }),
  ),
})

/** Returns the names of the tools, without those that continue from a cut result. */
const ownToolsOf = async (client: Parameters<typeof toolNames>[0]): Promise<string[]> =>
  (await toolNames(client)).filter(name => !name.startsWith('proxy_'))

describe.each(databaseKinds)('applying an import on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const builder = during(() => patchbay.person())
  const api = runFakeApi()
  let toolkitId = ''
  beforeEach(async () => {
    toolkitId = (await builder.create('/toolkits', { title: 'Orders' })).id
  })

  const review = (description: JsonObject, options?: ReviewOptions): Promise<string> =>
    storeReview(patchbay.services, { toolkitId, userId: builder.userId }, description, options)
  const apply = async (id: string) => Report.parse((await builder.expectOk('POST', `/imports/${id}/apply`)).body)
  const namesIn = async (toolkit = toolkitId): Promise<string[]> => {
    const { body } = await builder.expectOk('GET', `/toolkits/${toolkit}/tools`)
    return z
      .object({ items: z.array(z.object({ name: z.string() })) })
      .parse(body)
      .items.map(({ name }) => name)
  }
  const globalsOf = async (serverId: string) =>
    Globals.parse((await builder.expectOk('GET', `/servers/${serverId}/globals`)).body).items

  it('creates the selected tools, remembers where they come from, and discards secrets without a server', async () => {
    const id = await review(orders(api.origin), {
      secrets: { api_token: TOKEN },
      isSelected: key => !key.includes('{'),
    })
    const report = await apply(id)
    expect(report).toMatchObject({
      created: [{ name: 'list_orders', key: 'GET /orders' }],
      skipped: [{ key: 'POST /upload', reason: expect.stringMatching(/./) }],
      server: null,
      discarded: ['api_token'],
    })
    expect(await namesIn()).toEqual(['list_orders'])
    const { db } = patchbay.services
    expect(await db.toolSource.findMany({ where: { tool: { toolkitId } } })).toMatchObject([
      { key: 'GET /orders', operationId: 'listOrders', title: 'Orders', base: { name: 'list_orders' } },
    ])
    expect(await db.toolkitSource.findMany({ where: { toolkitId } })).toMatchObject([{ kind: 'openapi' }])
    expect(await db.import.findUnique({ where: { id } })).toMatchObject({
      state: 'applied',
      secrets: null,
      keyId: null,
    })
    expect(await patchbay.auditOf(builder.organizationId)).toContain('toolkit.imported')
  })

  it('changes nothing when it is repeated, also by two people at once', async () => {
    const colleague = await patchbay.member(builder.organizationId, 'builder')
    const id = await review(orders(api.origin))
    const both = await Promise.all([
      builder.expectOk('POST', `/imports/${id}/apply`),
      colleague.expectOk('POST', `/imports/${id}/apply`),
    ])
    const [first, second] = both.map(({ body }) => Report.parse(body))
    expect(first).toEqual(second)
    expect(await apply(id)).toEqual(first)
    expect(await namesIn()).toEqual(['list_orders', 'get_order'])
  })

  it('is refused once the toolkit has changed, and while nothing is selected', async () => {
    const id = await review(orders(api.origin))
    const nothing = await review(orders(api.origin), { isSelected: () => false })
    expect(await builder.send('POST', `/imports/${nothing}/apply`)).toMatchObject({ status: 400 })
    await builder.create(`/toolkits/${toolkitId}/tools`, { name: 'list_orders', method: 'GET', url: api.origin })
    expect(await builder.send('POST', `/imports/${id}/apply`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has changed since the source was read') },
    })
    expect(await namesIn()).toEqual(['list_orders'])
    const again = await apply(await review(orders(api.origin)))
    expect(again.renamed).toEqual([{ key: 'GET /orders', from: 'list_orders', to: 'list_orders_2' }])
  })

  it('adds the tools to a new server, where clients call them', async () => {
    const settings = { server: { newName: 'Orders' } }
    const id = await review(orders(api.origin), { settings, secrets: { api_token: TOKEN } })
    const { server, missing, discarded } = await apply(id)
    expect({ server, missing, discarded }).toMatchObject({
      server: { name: 'Orders', created: true, tools: 2, rekeyed: [] },
      missing: [],
      discarded: [],
    })
    expect(await globalsOf(server?.id ?? '')).toMatchObject([
      { key: 'base_url', secret: false, value: `${api.origin}/v1` },
      { key: 'api_token', secret: true, origins: [api.origin] },
    ])
    const client = await connect(`${patchbay.origin}/s/${server?.id}`, builder.token)
    expect(await ownToolsOf(client)).toEqual(['get_order', 'list_orders'])
    const before = api.seen.length
    await client.callTool({ name: 'list_orders', arguments: { state: ['open', 'a b'] } })
    await client.callTool({ name: 'get_order', arguments: { id: 7 } })
    expect(api.seen.slice(before)).toMatchObject([
      { method: 'GET', url: '/v1/orders?state=open&state=a%20b', headers: { authorization: `Bearer ${TOKEN}` } },
      { method: 'GET', url: '/v1/orders/7', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
  })

  it('changes a server that clients are connected to', async () => {
    const server = await builder.create('/servers', { name: 'Live', access: 'public' })
    const client = await connect(`${patchbay.origin}/s/${server.id}`)
    expect(await ownToolsOf(client)).toEqual([])
    await apply(await review(orders(api.origin), { settings: { server: server.id }, secrets: { api_token: TOKEN } }))
    expect(await ownToolsOf(client)).toEqual(['get_order', 'list_orders'])
  })

  it('gives each API keys of its own on a server, and shares those of the same API', async () => {
    const other = 'https://api.kestrel.example'
    const { id: serverId } = await builder.create('/servers', { name: 'Two' })
    await apply(
      await review(orders(other, 'Other'), { settings: { server: serverId }, secrets: { api_token: 'other' } }),
    )
    toolkitId = (await builder.create('/toolkits', { title: 'Second' })).id
    const second = await apply(
      await review(orders('https://api.hobby.example'), {
        settings: { server: serverId },
        secrets: { api_token: TOKEN },
      }),
    )
    expect(second.server?.rekeyed).toEqual([
      { from: 'base_url', to: 'hobby_base_url' },
      { from: 'api_token', to: 'hobby_api_token' },
    ])
    expect(await globalsOf(serverId)).toMatchObject([
      { key: 'base_url', value: `${other}/v1` },
      { key: 'api_token', origins: [other] },
      { key: 'hobby_base_url', value: 'https://api.hobby.example/v1' },
      { key: 'hobby_api_token', origins: ['https://api.hobby.example'] },
    ])
    toolkitId = (await builder.create('/toolkits', { title: 'Third' })).id
    const third = await apply(await review(orders(other, 'Other again'), { settings: { server: serverId } }))
    expect(third).toMatchObject({ server: { globals: [], rekeyed: [] }, missing: [] })
    expect(await globalsOf(serverId)).toHaveLength(4)
  })

  it('reports what is still to be filled in, and lets the chosen base URL be called', async () => {
    const baseUrls = { base_url: `${api.origin}/self-hosted` }
    const settings = { server: { newName: 'Own' }, baseUrls }
    const { server, missing } = await apply(await review(orders('https://api.hobby.example'), { settings }))
    expect(missing).toEqual([{ key: 'api_token', secret: true, origins: [api.origin], serverId: server?.id }])
    const client = await connect(`${patchbay.origin}/s/${server?.id}`, builder.token)
    expect(await ownToolsOf(client)).toEqual([])
    await builder.expectOk('PUT', `/servers/${server?.id}/globals/api_token`, { value: TOKEN, secret: true })
    const before = api.seen.length
    await client.callTool({ name: 'get_order', arguments: { id: 7 } })
    expect(api.seen.slice(before)).toMatchObject([
      { url: '/self-hosted/orders/7', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
  })

  it('saves nothing if the server cannot have the tools', async () => {
    const stranger = await patchbay.person()
    const foreign = await stranger.create('/servers', { name: 'Foreign' })
    const id = await review(orders(api.origin), { settings: { server: foreign.id } })
    expect(await builder.send('POST', `/imports/${id}/apply`)).toMatchObject({ status: 404 })
    expect(await namesIn()).toEqual([])
    expect(await stranger.send('POST', `/imports/${id}/apply`)).toMatchObject({ status: 404 })
    const viewer = await patchbay.member(builder.organizationId, 'viewer')
    expect(await viewer.send('POST', `/imports/${id}/apply`)).toMatchObject({ status: 403 })
  })

  it('tests an operation before anything is saved, with the values that were entered', async () => {
    const id = await review(orders(api.origin), { secrets: { api_token: TOKEN } })
    const before = api.seen.length
    const path = `/imports/${id}/items/${encodeURIComponent('GET /orders/{id}')}/test`
    const { body } = await builder.expectOk('POST', path, { arguments: { id: 7 } })
    expect(api.seen.slice(before)).toMatchObject([
      { url: '/v1/orders/7', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
    expect(body).toMatchObject({ response: { status: 200 } })
    expect(JSON.stringify(body)).not.toContain(TOKEN)
    expect(await namesIn()).toEqual([])
    const empty = await review(orders(api.origin))
    const lacking = await builder.send('POST', path.replace(id, empty), { arguments: { id: 7 } })
    expect(lacking).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/the secret "api_token" has no value yet\. Fill it in under/) },
    })
    expect(api.seen).toHaveLength(before + 1)
    const upload = `/imports/${id}/items/${encodeURIComponent('POST /upload')}/test`
    expect(await builder.send('POST', upload, {})).toMatchObject({ status: 400 })
    expect(await builder.send('POST', `/imports/${id}/items/none/test`, {})).toMatchObject({ status: 404 })
  })

  it('creates many tools in the order of the source', { timeout: 60_000 }, async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`/things${index}`, { get: { responses: {} } }]),
    )
    const settings = { server: { newName: 'Many' } }
    const id = await review({ ...orders(api.origin), paths }, { settings, secrets: { api_token: TOKEN } })
    const report = await apply(id)
    expect(report).toMatchObject({ server: { tools: 300 }, missing: [] })
    expect(report.created.map(({ key }) => key)).toEqual(Object.keys(paths).map(path => `GET ${path}`))
  })

  it('keeps changes by hand when a newer description is applied', async () => {
    await apply(await review(orders(api.origin)))
    const { db } = patchbay.services
    const tool = WithId.parse(await db.tool.findFirst({ where: { toolkitId, name: 'get_order' } }))
    await builder.expectOk('PATCH', `/tools/${tool.id}`, { name: 'read_order' })
    const newer = orders(api.origin)
    Object.assign(newer, { info: { title: 'Orders', version: '2' } })
    const id = await review(newer, { isSelected: key => key.startsWith('GET /orders/') })
    const item = { importId_key: { importId: id, key: 'GET /orders/{id}' } }
    const { tool: theirs } = await db.importItem.findUniqueOrThrow({ where: item })
    const changed = { ...z.looseObject({}).parse(theirs), description: 'Reads one order.' }
    await db.importItem.update({ where: item, data: { state: 'changed', toolId: tool.id, tool: changed } })
    const report = await apply(id)
    expect(report).toMatchObject({ created: [], updated: [{ id: tool.id, name: 'read_order' }] })
    expect((await builder.expectOk('GET', `/tools/${tool.id}`)).body).toMatchObject({
      name: 'read_order',
      description: 'Reads one order.',
    })
    expect(await db.toolSource.findUnique({ where: { toolId: tool.id } })).toMatchObject({
      base: { name: 'get_order', description: 'Reads one order.' },
    })
  })
})
