import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { databaseKinds } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { pageOfItems, review } from '../reviews/reviewing.ts'
import { AFTER, apply, changesOf, importAgain, importNew, LIMIT, shopOf } from './shop.ts'

const text = (description: unknown) => ({ text: JSON.stringify(description) })

describe.each(databaseKinds)('a source that is imported again on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const start = async () => {
    const ada = await patchbay.person()
    return { ada, ...(await importNew(ada, text(shopOf()))) }
  }
  const toolOf = async (api: Awaited<ReturnType<typeof start>>['ada'], id: string | undefined) =>
    (await api.expectOk('GET', `/tools/${id}`)).body

  it('changes nothing if neither side has changed', async () => {
    const { ada, toolkitId } = await start()
    const { id, changes } = await importAgain(ada, toolkitId, text(shopOf()))
    expect(changes).toEqual([])
    expect(await pageOfItems(ada, id)).toMatchObject({
      items: [
        { state: 'same', selected: false },
        { state: 'same', selected: false },
        { state: 'same', selected: false },
      ],
    })
  })

  it('updates tools with what changed in the source, and keeps edits by hand', async () => {
    const { ada, toolkitId, tools } = await start()
    await ada.expectOk('PATCH', `/tools/${tools.list_orders}`, { name: 'find_orders' })
    const next = shopOf({
      '/orders': { operationId: 'listOrders', summary: 'List all orders', parameters: [LIMIT, AFTER] },
    })
    const { id, changes } = await importAgain(ada, toolkitId, text(next))
    expect(changes).toMatchObject([{ name: 'find_orders', state: 'changed', impact: 'other', selected: true }])
    const pieces = changes[0]?.pieces.map(({ piece, change }) => `${change}: ${piece}`)
    expect(pieces).toEqual(expect.arrayContaining(['theirs: description', 'theirs: url.query.after', 'mine: name']))
    expect(await apply(ada, id)).toMatchObject({
      created: [],
      updated: [{ id: tools.list_orders, name: 'find_orders' }],
    })
    expect(await toolOf(ada, tools.list_orders)).toMatchObject({
      name: 'find_orders',
      description: expect.stringContaining('List all orders'),
      parameters: { limit: {}, after: {} },
    })
    expect((await importAgain(ada, toolkitId, text(next))).changes).toEqual([])
  })

  it('keeps mine in a conflict until theirs is chosen', async () => {
    const { ada, toolkitId, tools } = await start()
    await ada.expectOk('PATCH', `/tools/${tools.get_order}`, { description: 'Mine.' })
    const next = shopOf({ '/orders/{id}': { operationId: 'getOrder', summary: 'Theirs' } })
    const first = await importAgain(ada, toolkitId, text(next))
    expect(first.changes).toMatchObject([
      {
        key: 'GET /orders/{id}',
        state: 'conflict',
        impact: 'wording',
        resolve: null,
        pieces: [
          { piece: 'description', change: 'conflict', isWording: true, mine: 'Mine.', theirs: 'Theirs.' },
          { piece: 'title', change: 'theirs', isWording: true, mine: 'Get an order', theirs: 'Theirs' },
        ],
      },
    ])
    await apply(ada, first.id)
    expect(await toolOf(ada, tools.get_order)).toMatchObject({ title: 'Theirs', description: 'Mine.' })

    const third = shopOf({ '/orders/{id}': { operationId: 'getOrder', summary: 'Theirs at last' } })
    const second = await importAgain(ada, toolkitId, text(third))
    const resolved = { items: { 'GET /orders/{id}': { resolve: 'theirs' } } }
    await ada.expectOk('PATCH', `/imports/${second.id}`, resolved)
    expect(await changesOf(ada, second.id)).toMatchObject([{ resolve: 'theirs' }])
    expect(await apply(ada, second.id)).toMatchObject({ updated: [{ id: tools.get_order }] })
    expect(await toolOf(ada, tools.get_order)).toMatchObject({ description: expect.stringContaining('at last') })
  })

  it('keeps the version that is chosen for each part', async () => {
    const { ada, toolkitId, tools } = await start()
    const key = 'GET /orders'
    const mine = { title: 'Mine', description: 'Mine.', name: 'find_orders' }
    await ada.expectOk('PATCH', `/tools/${tools.list_orders}`, mine)
    const next = shopOf({ '/orders': { operationId: 'getOrders', summary: 'Theirs', parameters: [LIMIT] } })
    const { id } = await importAgain(ada, toolkitId, text(next))
    const choose = (resolve: unknown) => ada.send('PATCH', `/imports/${id}`, { items: { [key]: { resolve } } })

    expect(await choose({ 'url.path': 'theirs' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: `items.${key}.resolve.url.path`, message: 'is not a conflict' }] },
    })
    expect(await choose({ name: 'theirs', title: 'theirs', description: 'theirs' })).toMatchObject({ status: 200 })
    expect(await changesOf(ada, id)).toMatchObject([{ resolve: 'theirs' }])
    const resolve = { name: 'theirs', title: 'mine' }
    expect(await choose(resolve)).toMatchObject({ status: 200 })
    expect(await changesOf(ada, id)).toMatchObject([
      { resolve, breaking: [{ message: 'The tool is now named "get_orders".' }] },
    ])
    expect((await pageOfItems(ada, id)).items[0]).toMatchObject({ key, resolve })
    await apply(ada, id)
    expect(await toolOf(ada, tools.list_orders)).toMatchObject({ ...mine, name: 'get_orders' })
  })

  it('refuses a choice of parts that do not fit together', async () => {
    const ada = await patchbay.person()
    const at = (first: string, second: string) => {
      const parameters = [
        { name: 'from', in: 'query', schema: { type: first } },
        { name: 'to', in: 'query', schema: { type: second } },
      ]
      return text(shopOf({ '/orders': { operationId: 'listOrders', parameters } }))
    }
    const { toolkitId, tools } = await importNew(ada, at('string', 'string'))
    const { url } = z.looseObject({ url: z.string() }).parse(await toolOf(ada, tools.list_orders))
    const joined = url.replace('{{from?}}', '{{number:to?}}').replace('{{to?}}', '{{number:to?}}')
    await ada.expectOk('PATCH', `/tools/${tools.list_orders}`, { url: joined })
    const { id } = await importAgain(ada, toolkitId, at('integer', 'boolean'))
    const resolve = { 'url.query.from': 'mine', 'url.query.to': 'theirs' }
    expect(await ada.send('PATCH', `/imports/${id}`, { items: { 'GET /orders': { resolve } } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('do not fit together') },
    })
    expect(await changesOf(ada, id)).toMatchObject([{ resolve: null }])
  })

  it('finds an operation under its new path, and names what breaks with the servers that use it', async () => {
    const { ada, toolkitId, tools } = await start()
    const server = await ada.create('/servers', { name: 'Desk' })
    await ada.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkitId}`)
    await ada.create(`/servers/${server.id}/instances`, { toolId: tools.list_orders, name: 'list_orders' })
    const next = shopOf({
      '/orders': undefined,
      '/v2/orders': { operationId: 'listOrders', summary: 'List orders', parameters: [{ ...AFTER, required: true }] },
      '/health': undefined,
      '/status': { operationId: 'getStatus' },
    })
    const { id, changes } = await importAgain(ada, toolkitId, text(next))
    expect(changes).toMatchObject([
      {
        key: 'GET /v2/orders',
        name: 'list_orders',
        impact: 'breaking',
        breaking: [
          { parameter: 'limit', message: 'The parameter "limit" was removed.' },
          { parameter: 'after', message: 'The new parameter "after" is required.' },
        ],
        servers: [{ id: server.id, name: 'Desk' }],
      },
      { name: 'get_health', state: 'gone', impact: 'breaking', selected: false, servers: [] },
    ])
    const added = await pageOfItems(ada, id, '?state=new')
    expect(added.items).toMatchObject([{ key: 'GET /status', selected: false }])
    expect(await apply(ada, id)).toMatchObject({ created: [], updated: [{ id: tools.list_orders }] })
    expect(await toolOf(ada, tools.list_orders)).toMatchObject({ url: expect.stringContaining('/v2/orders?after=') })
    expect(await toolOf(ada, tools.get_health)).toMatchObject({ name: 'get_health' })
    const again = await importAgain(ada, toolkitId, text(next))
    expect(again.changes).toMatchObject([{ name: 'get_health', state: 'gone' }])
  })

  it('notes operations that are gone, even if nothing else has changed', async () => {
    const { ada, toolkitId, tools } = await start()
    const next = shopOf({ '/health': undefined })
    const { id, changes } = await importAgain(ada, toolkitId, text(next))
    expect(changes).toMatchObject([{ name: 'get_health', state: 'gone' }])
    expect(await apply(ada, id)).toMatchObject({ created: [], updated: [] })
    expect(await ada.expectOk('GET', `/imports/${id}`)).toMatchObject({ body: { state: 'applied' } })
    expect(await toolOf(ada, tools.get_health)).toMatchObject({ name: 'get_health' })
  })

  it('updates only the selected tools, and offers the others again', async () => {
    const { ada, toolkitId, tools } = await start()
    const next = shopOf({
      '/orders': { operationId: 'listOrders', summary: 'List all orders', parameters: [LIMIT] },
      '/health': { operationId: 'getHealth', summary: 'Get the health of the shop' },
    })
    const { id, changes } = await importAgain(ada, toolkitId, text(next))
    expect(changes.map(({ impact }) => impact)).toEqual(['wording', 'wording'])
    await ada.expectOk('PATCH', `/imports/${id}`, { deselect: { keys: ['GET /health'] } })
    expect(await apply(ada, id)).toMatchObject({ updated: [{ id: tools.list_orders }] })
    expect((await importAgain(ada, toolkitId, text(next))).changes).toMatchObject([{ name: 'get_health' }])
  })

  it('refuses to update tools that somebody has changed since the source was read', async () => {
    const { ada, toolkitId, tools } = await start()
    const next = shopOf({ '/health': { operationId: 'getHealth', summary: 'Health' } })
    const { id } = await importAgain(ada, toolkitId, text(next))
    await ada.expectOk('PATCH', `/tools/${tools.get_health}`, { description: 'Mine.' })
    expect(await ada.send('POST', `/imports/${id}/apply`)).toMatchObject({ status: 409 })
  })

  it('leaves tools of another source alone', async () => {
    const { ada, toolkitId } = await start()
    const other = shopOf({ '/orders': { operationId: 'listOrders', summary: 'Other' }, '/health': undefined }, 'Depot')
    const servers = [{ url: 'https://depot.example.com' }]
    const { id, changes } = await importAgain(ada, toolkitId, text({ ...other, servers }))
    expect(changes).toEqual([])
    expect((await pageOfItems(ada, id)).items.map(({ state, selected }) => [state, selected])).toEqual([
      ['new', true],
      ['new', true],
    ])
  })

  it('compares cURL commands with earlier ones, and takes none for gone', async () => {
    const ada = await patchbay.person()
    const { toolkitId } = await importNew(ada, { text: 'curl https://api.example.com/orders?limit=5' })
    const { id } = await review(ada, toolkitId, { text: 'curl https://api.example.com/health' })
    expect(await pageOfItems(ada, id)).toMatchObject({ items: [{ state: 'new', selected: true }] })
  })
})
