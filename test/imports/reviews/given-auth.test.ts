import { describe, expect, it } from 'vitest'
import { runPatchbay } from '../../support/world.ts'
import { importNew, shopOf } from '../again/shop.ts'
import { descriptionOf } from '../reading.ts'
import { finished, getReview, newToolkit, pageOfItems, review, reviewFiles } from './reviewing.ts'

const PATHS = { '/a': { get: { operationId: 'getA' } }, '/b': { get: { operationId: 'getB' } } }
const SILENT = descriptionOf({ paths: PATHS })
/** It has a scheme, which no operation uses. */
const UNUSED = descriptionOf({
  paths: PATHS,
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
})
const SAID = descriptionOf({
  paths: { '/a': { get: { security: [{ key: [] }] } } },
  components: { securitySchemes: { key: { type: 'http', scheme: 'basic' } } },
})

describe('an import of a description that does not say how requests sign in', () => {
  const patchbay = runPatchbay()

  const start = async (description: object) => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const { id } = await reviewFiles(ada, toolkitId, [['api.json', JSON.stringify(description)]])
    return { ada, id, path: `/toolkits/${toolkitId}/imports/${id}` }
  }

  it.each([
    ['bearer', { key: 'access_token', asks: 'bearer token' }],
    ['basic', { key: 'basic_credentials', asks: 'basic' }],
    ['header:X-Api-Key', { key: 'x_api_key', asks: 'api key' }],
  ])('is told in its settings, and keeps what was chosen: %s', async (auth, secret) => {
    const { ada, id } = await start(SILENT)
    await ada.expectOk('PATCH', `/imports/${id}`, {
      deselect: { keys: ['GET /b'] },
      items: { 'GET /a': { name: 'first' } },
    })
    await ada.expectOk('PATCH', `/imports/${id}`, { settings: { auth } })
    expect(await finished(ada, id)).toMatchObject({
      state: 'ready',
      settings: { auth },
      summary: { globals: [{ ...secret, isSecret: true, origins: ['https://api.example.com'] }] },
      totals: { tools: 2, selected: 1 },
    })
    const { items } = await pageOfItems(ada, id)
    expect(items).toMatchObject([
      { key: 'GET /a', name: 'first', selected: true, globals: ['base_url', secret.key] },
      { key: 'GET /b', name: 'get_b', selected: false },
    ])
    await ada.expectOk('PATCH', `/imports/${id}`, { settings: { auth: null } })
    expect(await finished(ada, id)).toMatchObject({ settings: { auth: null }, summary: { globals: [] } })
  })

  it('keeps whose version of a conflict was chosen when it is read again', async () => {
    const ada = await patchbay.person()
    const { toolkitId, tools } = await importNew(ada, { text: JSON.stringify(shopOf()) })
    await ada.expectOk('PATCH', `/tools/${tools.get_health}`, { description: 'By hand' })
    const changed = shopOf({ '/health': { operationId: 'getHealth', summary: 'Says whether all is well' } })
    const { id } = await review(ada, toolkitId, { text: JSON.stringify(changed) })
    await ada.expectOk('PATCH', `/imports/${id}`, { items: { 'GET /health': { resolve: 'theirs' } } })
    await ada.expectOk('PATCH', `/imports/${id}`, { settings: { auth: 'bearer' } })
    expect(await finished(ada, id)).toMatchObject({ state: 'ready', settings: { auth: 'bearer' } })
    const { items } = await pageOfItems(ada, id, '?q=health')
    expect(items).toMatchObject([{ key: 'GET /health', state: 'conflict', resolve: 'theirs' }])
  })

  it('is told also if the description has a scheme that no operation uses', async () => {
    const ada = await patchbay.person()
    const text = JSON.stringify(UNUSED)
    expect(await review(ada, await newToolkit(ada), { text, auth: 'header:X-Key' })).toMatchObject({
      summary: { globals: [{ key: 'x_key' }] },
    })
  })

  it('refuses an unknown way to sign in, and conflicts if the documents are no longer there', async () => {
    const { ada, id } = await start(SILENT)
    expect(await ada.send('PATCH', `/imports/${id}`, { settings: { auth: 'digest' } })).toMatchObject({ status: 400 })
    const said = await start(SAID)
    expect(await said.ada.send('PATCH', `/imports/${said.id}`, { settings: { auth: 'bearer' } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('no longer there') },
    })
    expect(await getReview(said.ada, said.id)).toMatchObject({ state: 'ready', settings: { auth: null } })
  })

  it('is told on its page', async () => {
    const { ada, id, path } = await start(SILENT)
    const post = (fields: Record<string, string>) =>
      fetch(`${patchbay.origin}${path}?view=access`, {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: `Bearer ${ada.token}`, accept: 'text/html' },
        body: new URLSearchParams({ 'url:base_url': 'https://api.example.com', ...fields }),
      })
    const refused = await post({ auth: 'header', authHeader: 'no header' })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('The name must have 1 to 100 letters')
    expect((await post({ auth: 'header', authHeader: 'X-Key' })).status).toBe(303)
    expect(await finished(ada, id)).toMatchObject({ settings: { auth: 'header:X-Key' } })
  })
})
