import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NAME_SOURCES } from '../../../src/imports/naming/naming.ts'
import { NAME_STYLES } from '../../../src/imports/openapi/names.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME } from '../../../src/lib/kernel/names.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { descriptionOf } from '../reading.ts'
import { finished, getReview, namesOf, newToolkit, pageOfItems, review } from './reviewing.ts'

const operation = (operationId: string, tag: string) => ({ operationId, tags: [tag], responses: {} })

const LONG = 'listIntermodalTransportEquipmentInterchangeReceiptsByDepotAndDay'

const SHOP = descriptionOf({
  paths: {
    '/orders': { get: operation('listOrders', 'Orders'), post: operation('createOrder', 'Orders') },
    '/orders/{id}': { get: { tags: ['Orders'], responses: {} } },
    '/stock/{id}': { trace: operation('traceStock', 'Stock') },
    '/receipts': { get: operation(LONG, 'Depots') },
  },
})

describe.each(databasesOfRun)('the naming of an import on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const start = async (description: object = SHOP) => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const { id } = await review(ada, toolkitId, { text: JSON.stringify(description) })
    const change = (body: object) => ada.expectOk('PATCH', `/imports/${id}`, body)
    return { ada, toolkitId, id, change, name: (naming: object | null) => change({ settings: { naming } }) }
  }

  const usableNames = (api: ApiClient, id: string) => namesOf(api, id, '?usable=true')

  const toolNames = async (api: ApiClient, toolkitId: string): Promise<unknown[]> => {
    const { body } = await api.expectOk('GET', `/toolkits/${toolkitId}/tools?limit=100`)
    return (JSON.stringify(body).match(/(?<="name":")[A-Za-z0-9_-]+(?=","title"|","description")/g) ?? []).sort()
  }

  const CASES = [
    {
      naming: { prefix: 'tms_' },
      names: ['tms_list_orders', 'tms_create_order', 'tms_get_orders_by_id'],
      long: 'tms_list_intermodal_transport_equipment_interchange_receipts_by',
    },
    {
      naming: { style: 'camelCase', prefix: 'tms' },
      names: ['tmsListOrders', 'tmsCreateOrder', 'tmsGetOrdersById'],
      long: 'tmsListIntermodalTransportEquipmentInterchangeReceiptsByDepotAnd',
    },
    {
      naming: { style: 'kebab-case', from: 'tag_and_operation_id' },
      names: ['orders-list-orders', 'orders-create-order', 'orders-get-orders-by-id'],
      long: 'depots-list-intermodal-transport-equipment-interchange-receipts',
    },
    {
      naming: { from: 'method_and_path' },
      names: ['get_orders', 'post_orders', 'get_orders_by_id'],
      long: 'get_receipts',
    },
  ]

  it.each(CASES)('gives new tools names by $naming', async ({ naming, names, long }) => {
    const { ada, id, name } = await start()
    expect((await name(naming)).body).toMatchObject({ settings: { naming } })
    expect(await usableNames(ada, id)).toEqual([...names, long])
  })

  it('gives no name twice, and none that a tool of the toolkit has', async () => {
    const paths = {
      ...Object.fromEntries(['/a', '/b'].map(path => [path, { get: operation('list', 'Lists') }])),
      '/c': { get: operation('getAll', 'Lists') },
    }
    const { ada, toolkitId, id, change, name } = await start(descriptionOf({ paths }))
    await ada.create(`/toolkits/${toolkitId}/tools`, { name: 'x_list', method: 'GET', url: 'https://api.example.com' })
    await change({ items: { 'GET /c': { name: 'x_list_2' } } })
    await name({ prefix: 'x_' })
    expect(await usableNames(ada, id)).toEqual(['x_list_3', 'x_list_4', 'x_list_2'])
  })

  it('leaves names that were changed by hand, and comes back once they are restored', async () => {
    const { ada, id, change, name } = await start()
    await change({ items: { 'GET /orders': { name: 'find_orders' } } })
    await name({ prefix: 'tms_' })
    const first = async () => (await usableNames(ada, id))[0]
    expect(await first()).toBe('find_orders')
    await change({ items: { 'GET /orders': { name: null } } })
    expect(await first()).toBe('tms_list_orders')
    // A name that is sent as it is shown is not an edit.
    await change({ items: { 'GET /orders': { name: 'tms_list_orders', description: 'Lists orders.' } } })
    await name({ prefix: 'shop_' })
    expect(await first()).toBe('shop_list_orders')
    await change({ items: { 'GET /orders': { name: 'mine' } }, settings: { naming: { prefix: 'our_' } } })
    expect((await usableNames(ada, id)).slice(0, 2)).toEqual(['mine', 'our_create_order'])
  })

  it('counts the tokens of the new names, and finds tools by them', async () => {
    const { ada, id, change, name } = await start()
    const before = (await getReview(ada, id)).totals
    await name({ prefix: 'meridian_transport_', style: 'camelCase' })
    const named = await pageOfItems(ada, id, '?q=meridian_transport_createOrder')
    expect(named.items.map(({ key }) => key)).toEqual(['POST /orders'])
    const [{ tokens, name: shown } = { tokens: null, name: '' }] = named.items
    // An edit counts the whole tool again.
    await change({ items: { 'POST /orders': { name: `${shown}x` } } })
    await change({ items: { 'POST /orders': { name: shown } } })
    expect((await pageOfItems(ada, id, '?q=createOrder')).items[0]?.tokens).toBe(tokens)
    await name(null)
    expect((await getReview(ada, id)).totals).toEqual(before)
    expect((await usableNames(ada, id))[1]).toBe('create_order')
  })

  it('is the name of the tools that are created, and a later import does not change it', async () => {
    const { ada, toolkitId, id, name } = await start()
    await name({ prefix: 'tms_' })
    await ada.expectOk('POST', `/imports/${id}/apply`)
    const created = ['tms_create_order', 'tms_get_orders_by_id', 'tms_list_orders', CASES[0]?.long].sort()
    expect(await toolNames(ada, toolkitId)).toEqual(created)
    const more = { ...SHOP, paths: { ...Object(SHOP.paths), '/new': { get: operation('getNew', 'Orders') } } }
    const again = await review(ada, toolkitId, { text: JSON.stringify(more) })
    expect(await namesOf(ada, again.id, '?state=same')).toHaveLength(4)
    await ada.expectOk('PATCH', `/imports/${again.id}`, {
      settings: { naming: { prefix: 'new_' } },
      select: { filter: {} },
    })
    expect(await namesOf(ada, again.id, '?state=new&usable=true')).toEqual(['new_get_new'])
    await ada.expectOk('POST', `/imports/${again.id}/apply`)
    expect(await toolNames(ada, toolkitId)).toEqual([...created, 'new_get_new'].sort())
  })

  it('stays when the source is read again', async () => {
    const { ada, id, change, name } = await start()
    await name({ prefix: 'tms_' })
    await change({ items: { 'POST /orders': { description: 'Creates one.' } } })
    const { totals } = await getReview(ada, id)
    await change({ settings: { auth: 'bearer' } })
    expect(await finished(ada, id)).toMatchObject({ state: 'ready', totals })
    expect((await usableNames(ada, id)).slice(0, 2)).toEqual(['tms_list_orders', 'tms_create_order'])
    expect(await namesOf(ada, id, '?q=tms_create')).toEqual(['tms_create_order'])
  })

  it('can be changed by several at once', async () => {
    const { ada, id, change, name } = await start()
    await Promise.all([
      name({ prefix: 'tms_' }),
      name({ style: 'kebab-case' }),
      change({ items: { 'GET /orders': { name: 'mine' } } }),
    ])
    expect((await usableNames(ada, id)).slice(0, 2)).toEqual(['mine', 'tms_create-order'])
  })

  it.each([
    { what: 'a prefix with a space', naming: { prefix: 'a b' } },
    { what: 'a prefix that starts with a digit', naming: { prefix: '1_' } },
    { what: 'the prefix of Patchbay’s own tools', naming: { prefix: 'proxy_' } },
    { what: 'a long prefix', naming: { prefix: 'a'.repeat(33) } },
    { what: 'another style', naming: { style: 'PascalCase' } },
    { what: 'another source', naming: { from: 'title' } },
  ])('refuses $what', async ({ naming }) => {
    const { ada, id } = await start()
    expect(await ada.send('PATCH', `/imports/${id}`, { settings: { naming } })).toMatchObject({ status: 400 })
  })

  it('makes valid names that differ, whatever operations are called', async () => {
    const { ada, id, name } = await start(
      descriptionOf({
        paths: Object.fromEntries(
          fc
            .sample(fc.string({ unit: 'binary', maxLength: 90 }), { numRuns: 60, seed: 7 })
            .map((text, index) => [`/${index}`, { get: operation(text, text) }]),
        ),
      }),
    )
    const naming = fc.record({
      from: fc.constantFrom(...NAME_SOURCES),
      style: fc.constantFrom(...NAME_STYLES),
      prefix: fc.stringMatching(/^(?:[A-Za-z][A-Za-z0-9_-]{0,31})?$/).filter(text => !text.startsWith('proxy_')),
    })
    await fc.assert(
      fc.asyncProperty(naming, async chosen => {
        await name(chosen)
        const names = await namesOf(ada, id, '?limit=100')
        expect(new Set(names).size).toBe(60)
        for (const one of names) {
          expect(one).toMatch(TOOL_NAME)
          expect(one?.startsWith(RESERVED_TOOL_PREFIX)).toBe(false)
        }
      }),
      { numRuns: runsOf(20) },
    )
  })
})
