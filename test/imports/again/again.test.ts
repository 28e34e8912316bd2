import { describe, expect, it } from 'vitest'
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
