import { describe, expect, it } from 'vitest'
import { apply, importAgain, importNew, LIMIT, shopOf } from '../../imports/again/shop.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

const text = (description: unknown) => ({ text: JSON.stringify(description) })
const NEXT = shopOf({ '/orders': { operationId: 'listOrders', summary: 'All orders', parameters: [LIMIT] } })

describe('the operations of a source that is imported again', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  const start = async (edit: object, source: object) => {
    const { toolkitId, tools } = await importNew(ada, text(shopOf()))
    await ada.expectOk('PATCH', `/tools/${tools.list_orders}`, edit)
    const { id } = await importAgain(ada, toolkitId, text(source))
    const path = `${patchbay.origin}/toolkits/${toolkitId}/imports/${id}`
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    return {
      open: async (query: string) => (await fetch(`${path}${query}`, { headers })).text(),
      post: async (query: string, fields: Record<string, string>) =>
        (await fetch(`${path}${query}`, { method: 'POST', headers, body: new URLSearchParams(fields) })).status,
      apply: () => apply(ada, id),
      tool: async () => (await ada.expectOk('GET', `/tools/${tools.list_orders}`)).body,
      item: async () => (await ada.expectOk('GET', `/imports/${id}/items?q=shop_orders`)).body,
    }
  }
  const OPEN = '?view=operations&open=GET+%2Forders'

  it('have the names of the tools, which saving an operation keeps', async () => {
    const shop = await start({ name: 'shop_orders' }, NEXT)
    const page = await shop.open(OPEN)
    expect(page).toMatch(/name="name:GET \/orders" value="shop_orders"/)
    expect(page).toMatch(/id="name" name="name" type="text" value="shop_orders"/)
    expect(page).toContain('From the source: list_orders')
    expect(await shop.item()).toMatchObject({ items: [{ name: 'shop_orders', tool: { description: 'All orders.' } }] })
    const fields = { name: 'shop_orders', description: 'All orders.' }
    expect(await shop.post(`/operation${OPEN}`, fields)).toBe(200)
    await shop.apply()
    expect(await shop.tool()).toMatchObject({ name: 'shop_orders', description: 'All orders.' })
  })

  it('keep a long description of the tool as it is when only the name is saved', async () => {
    const description = `${'Lists orders. '.repeat(200)}End.`
    const shop = await start({ description }, NEXT)
    expect(await shop.open(OPEN)).toContain(description)
    expect(await shop.post(`/operation${OPEN}`, { name: 'orders', description })).toBe(200)
    await shop.apply()
    expect(await shop.tool()).toMatchObject({ name: 'orders', description })
  })

  it('can be renamed although the source has not changed', async () => {
    const shop = await start({ name: 'shop_orders' }, shopOf())
    const rows = { 'name:GET /orders': 'orders_of_shop', pick: 'GET /orders' }
    expect(await shop.post('?view=operations', rows)).toBe(200)
    await shop.apply()
    expect(await shop.tool()).toMatchObject({ name: 'orders_of_shop' })
  })
})
