import { describe, expect, it, onTestFinished } from 'vitest'
import { importNew, shopOf, startSource } from '../../imports/again/shop.ts'
import { finished, review } from '../../imports/reviews/reviewing.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

describe('an import whose toolkit has changed', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  it('is replaced by one that reads the same URL again', async () => {
    const source = await startSource(shopOf())
    onTestFinished(source.close)
    const { toolkitId } = await importNew(ada, { url: source.url })
    source.put(shopOf({ '/orders': { operationId: 'listOrders', summary: 'All orders' } }))
    const { id } = await review(ada, toolkitId, { url: source.url })
    await ada.create(`/toolkits/${toolkitId}/tools`, { name: 'other', method: 'GET', url: 'https://a.example' })
    const path = `/toolkits/${toolkitId}/imports/${id}`
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    const post = (address: string) =>
      fetch(`${patchbay.origin}${path}${address}`, { method: 'POST', headers, redirect: 'manual' })

    const outdated = await post('/apply?view=findings')
    expect(outdated.status).toBe(409)
    const page = await outdated.text()
    expect(page).toContain('The toolkit has changed')
    expect(page).toContain(`action="${path}/again"`)
    expect(page).toMatch(/<h1>Update <bdi>Shop/)

    const again = await post('/again')
    expect(again.status).toBe(303)
    const next = again.headers.get('location')?.split('/').at(-1) ?? ''
    expect(next).not.toBe(id)
    expect(await finished(ada, next)).toMatchObject({ state: 'ready', totals: { selected: 1 } })
    expect((await ada.send('GET', `/imports/${id}`)).status).toBe(404)
  })
})
