import { describe, expect, it } from 'vitest'
import type { ApiClient } from '../../support/api-client.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { descriptionOf } from '../reading.ts'
import { getReview, newToolkit, pageOfItems, review } from './reviewing.ts'

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
const SHOP = descriptionOf({
  servers: [{ url: 'https://API.example.com/v1/' }],
  paths: {
    '/orders': { get: {}, post: {} },
    '/orders/{id}': { get: { parameters: [ID] } },
    '/orders/{order}': { get: { parameters: [{ ...ID, name: 'order' }] } },
    '/orders?state=open': { get: {} },
  },
})

const finding = (twin: string): unknown =>
  expect.objectContaining({ rule: 'duplicate', message: `It has the same method and URL as ${twin}.` })

describe.each(databasesOfRun)('an import with operations that are there already, on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const addTool = (ada: ApiClient, toolkitId: string, name: string, tool: object) =>
    ada.create(`/toolkits/${toolkitId}/tools`, { name, method: 'GET', ...tool })

  it('marks them, and does not select those that the toolkit has a tool for', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    await addTool(ada, toolkitId, 'all_orders', { url: 'https://api.example.com/v1/orders?limit={{integer:limit?}}' })
    await addTool(ada, toolkitId, 'other_version', { url: 'https://api.example.com/v2/orders/{{string:id}}' })
    const { id } = await review(ada, toolkitId, { text: JSON.stringify(SHOP) })
    const { items } = await pageOfItems(ada, id)
    expect(
      items.map(({ key, selected, findings }) => [key, selected, JSON.stringify(findings).includes('duplicate')]),
    ).toEqual([
      ['GET /orders', false, true],
      ['POST /orders', true, false],
      ['GET /orders/{id}', true, false],
      ['GET /orders/{order}', true, true],
      ['GET /orders?state=open', true, false],
    ])
    const marked = await pageOfItems(ada, id, '?rule=duplicate')
    expect(marked.items).toMatchObject([
      { findings: expect.arrayContaining([finding('the tool all_orders of the toolkit')]) },
      { findings: expect.arrayContaining([finding('GET /orders/{id} of the same source')]) },
    ])
    expect(await getReview(ada, id)).toMatchObject({
      summary: { rules: expect.arrayContaining([{ rule: 'duplicate', level: 'warning', operations: 2 }]) },
    })
    const response = await fetch(`${patchbay.origin}/toolkits/${toolkitId}/imports/${id}?rule=duplicate`, {
      headers: { authorization: `Bearer ${ada.token}`, accept: 'text/html' },
    })
    const page = await response.text()
    expect(page.match(/>duplicate</g)).toHaveLength(2)
    expect(page).toMatch(/name="rule" value="duplicate" checked/)
  })

  it('marks what another source has brought, but not the tools of this one', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const first = await review(ada, toolkitId, { text: JSON.stringify(SHOP) })
    await ada.expectOk('POST', `/imports/${first.id}/apply`)
    const again = await review(ada, toolkitId, { text: JSON.stringify(SHOP) })
    const reasons = (await pageOfItems(ada, again.id, '?rule=duplicate')).items.map(({ key }) => key)
    expect(reasons).toEqual(['GET /orders/{order}'])
    const text = JSON.stringify({ ...SHOP, info: { title: 'Copy', version: '1' } })
    const copy = await review(ada, toolkitId, { text })
    expect(copy.totals.selected).toBe(0)
    const next = { ...SHOP, info: { title: 'Next', version: '2' }, servers: [{ url: 'https://api.example.com/v2' }] }
    expect((await review(ada, toolkitId, { text: JSON.stringify(next) })).totals.selected).toBe(5)
    const variable = { url: 'https://{region}.example.com/v1', variables: { region: { default: 'api' } } }
    const hosts = { ...SHOP, info: { title: 'Hosts', version: '1' }, servers: [variable] }
    expect((await review(ada, toolkitId, { text: JSON.stringify(hosts) })).totals.selected).toBe(0)
  })
})
