import { describe, expect, it } from 'vitest'
import { databasesOfRun } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { collectionOf } from '../postman-collection.ts'
import { descriptionOf } from '../reading.ts'
import { getReview, namesOf, newToolkit, pageOfItems, review, reviewFiles } from './reviewing.ts'

const SECRET = 'sk_live_51Hq8vQm2Lk9Zx0Rt7'

const SHOP = descriptionOf({
  tags: [{ name: 'orders', description: 'What people buy' }],
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  security: [{ key: [] }],
  paths: {
    '/orders': {
      get: { operationId: 'listOrders', tags: ['orders'], summary: 'List orders', responses: {} },
      post: { operationId: 'createOrder', tags: ['orders'], responses: {} },
    },
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getOrder', tags: ['orders', '100%_"new"'], responses: {} },
      trace: { operationId: 'traceOrder', responses: {} },
    },
    '/health': { get: { operationId: 'getHealth', responses: {} } },
  },
})

describe.each(databasesOfRun)('an import on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const start = async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const { id } = await review(ada, toolkitId, { text: JSON.stringify(SHOP) })
    return { ada, toolkitId, id }
  }

  it('shows what a description has', async () => {
    const { ada, toolkitId, id } = await start()
    expect(await getReview(ada, id)).toMatchObject({
      toolkitId,
      kind: 'openapi',
      state: 'ready',
      problem: null,
      sourceUrl: null,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      read: 5,
      total: 5,
      needs: [],
      totals: { tools: 4, refused: 1, selected: 4 },
      summary: {
        format: 'OpenAPI 3.1.0',
        title: 'Test',
        baseUrls: [{ key: 'base_url', value: 'https://api.example.com' }],
        globals: [{ key: 'key', isSecret: true, value: null, origins: ['https://api.example.com'] }],
        tags: [
          { name: 'orders', description: 'What people buy', operations: 3 },
          { name: '100%_"new"', description: null, operations: 1 },
        ],
      },
    })
    expect(await pageOfItems(ada, id, '?usable=false')).toMatchObject({
      items: [{ key: 'TRACE /orders/{id}', name: null, reason: 'Tools cannot send TRACE requests.', tool: null }],
    })
    const list = await ada.send('GET', `/toolkits/${toolkitId}/imports`)
    expect(list.body).toMatchObject({ items: [{ id, state: 'ready' }] })
  })

  it('does not select deprecated operations, which can still be chosen', async () => {
    const ada = await patchbay.person()
    const text = JSON.stringify(
      descriptionOf({ paths: { '/old': { get: { deprecated: true } }, '/new': { get: {} } } }),
    )
    const { id } = await review(ada, await newToolkit(ada), { text })
    expect((await pageOfItems(ada, id, '?selected=true')).items.map(({ key }) => key)).toEqual(['GET /new'])
    await ada.expectOk('PATCH', `/imports/${id}`, { select: { keys: ['GET /old'] } })
    expect(await getReview(ada, id)).toMatchObject({ totals: { selected: 2 } })
  })

  it('lists its operations in pages, in the order of the source', async () => {
    const { ada, id } = await start()
    const first = await pageOfItems(ada, id, '?limit=3')
    const second = await pageOfItems(ada, id, `?limit=3&cursor=${first.nextCursor}`)
    expect([...first.items, ...second.items].map(({ key }) => key)).toEqual([
      'GET /orders',
      'POST /orders',
      'GET /orders/{id}',
      'TRACE /orders/{id}',
      'GET /health',
    ])
    expect(second.nextCursor).toBeNull()
  })

  it.each([
    ['text', '?q=LISTORD', ['list_orders']],
    ['a path', '?q=/orders/', ['get_order', null]],
    ['a tag', '?tag=orders', ['list_orders', 'create_order', 'get_order']],
    ['a tag with special characters', `?tag=${encodeURIComponent('100%_"new"')}`, ['get_order']],
    ['a method', '?method=POST', ['create_order']],
    ['a state', '?state=conflict', []],
    ['several at once', '?tag=orders&method=GET&selected=true', ['list_orders', 'get_order']],
  ])('lists those that match %s', async (_, query, names) => {
    const { ada, id } = await start()
    expect(await namesOf(ada, id, query)).toEqual(names)
  })

  it('selects by keys and by filter, and never what cannot become a tool', async () => {
    const { ada, id } = await start()
    const change = (body: unknown) => ada.expectOk('PATCH', `/imports/${id}`, body)
    await change({ deselect: { filter: {} }, select: { keys: ['GET /health', 'TRACE /orders/{id}', 'GET /none'] } })
    expect(await namesOf(ada, id, '?selected=true')).toEqual(['get_health'])
    const { body } = await change({ select: { filter: { tag: 'orders' } }, deselect: { filter: { q: 'health' } } })
    expect(body).toMatchObject({ totals: { tools: 4, selected: 3 } })
  })

  it('keeps edits of names and descriptions, and counts their tokens', async () => {
    const { ada, id } = await start()
    const key = 'GET /health'
    const change = (item: unknown) => ada.send('PATCH', `/imports/${id}`, { items: { [key]: item } })
    const before = await getReview(ada, id)
    const description = 'Whether the shop is open. '.repeat(20)
    expect(await change({ name: 'is_open', description })).toMatchObject({ status: 200 })
    const [item] = (await pageOfItems(ada, id, '?q=is_open')).items
    expect(item).toMatchObject({ key, name: 'is_open', tool: { name: 'is_open', description } })
    expect((await getReview(ada, id)).totals.tokens).toBeGreaterThan(before.totals.tokens + 80)
    expect(await change({ name: null, description: null })).toMatchObject({ status: 200 })
    expect(await getReview(ada, id)).toMatchObject({ totals: before.totals })
    expect(await change({ name: 'not a name' })).toMatchObject({ status: 400 })
    const refused = await ada.send('PATCH', `/imports/${id}`, { items: { 'TRACE /orders/{id}': { name: 'x' } } })
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('TRACE') } })
    expect(await ada.send('PATCH', `/imports/${id}`, { items: { 'GET /none': {} } })).toMatchObject({ status: 404 })
  })

  it('keeps settings, and never sends secrets back', async () => {
    const { ada, id } = await start()
    const settings = {
      server: { newName: 'Shop' },
      baseUrls: { base_url: 'https://eu.example.com' },
      secrets: { key: SECRET },
    }
    const changed = await ada.expectOk('PATCH', `/imports/${id}`, { settings })
    expect(changed.body).toMatchObject({
      settings: { server: { newName: 'Shop' }, baseUrls: settings.baseUrls, secretKeys: ['key'] },
    })
    const stored = await patchbay.db.import.findUniqueOrThrow({ where: { id } })
    expect(JSON.stringify([changed.body, stored])).not.toContain(SECRET)
    const removed = await ada.expectOk('PATCH', `/imports/${id}`, {
      settings: { server: null, secrets: { key: null } },
    })
    expect(removed.body).toMatchObject({ settings: { server: null, secretKeys: [] } })
  })

  it.each([
    ['a base URL that is none', { baseUrls: { base_url: 'ftp://x' } }, 'settings.baseUrls.base_url'],
    ['a secret that no tool uses', { secrets: { other: 'x' } }, 'settings.secrets.other'],
    ['a secret as a variable', { variables: { key: 'x' } }, 'settings.variables.key'],
    ['an empty secret', { secrets: { key: '' } }, 'settings.secrets.key'],
  ])('refuses %s', async (_, settings, path) => {
    const { ada, id } = await start()
    const refused = await ada.send('PATCH', `/imports/${id}`, { settings })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    expect(JSON.stringify(refused.body)).not.toContain('ftp://x')
  })

  it('seals the secrets that a collection contains', async () => {
    const ada = await patchbay.person()
    const auth = { type: 'bearer', bearer: [{ key: 'token', value: SECRET }] }
    const collection = collectionOf([{ name: 'List', request: { url: '{{host}}/list', auth } }])
    const environment = { name: 'Test', values: [{ key: 'host', value: 'https://api.example.com', enabled: true }] }
    // In any order.
    const made = await reviewFiles(ada, await newToolkit(ada), [
      ['environment.json', JSON.stringify(environment)],
      ['collection.json', JSON.stringify(collection)],
    ])
    expect(made).toMatchObject({
      kind: 'postman',
      state: 'ready',
      sourceName: 'collection.json',
      totals: { tools: 1, selected: 1 },
      summary: { globals: expect.arrayContaining([expect.objectContaining({ isSecret: true, value: null })]) },
    })
    const key = made.summary?.globals
    const row = await patchbay.db.import.findUniqueOrThrow({ where: { id: made.id }, include: { items: true } })
    expect(row.secrets).toEqual(expect.any(String))
    expect(JSON.stringify([made, row, key])).not.toContain(SECRET)
  })

  it.each([
    ['curl', 'curl https://api.example.com/a\ncurl https://api.example.com/b -d a=1', ['get_a', 'post_b']],
    [
      'har',
      JSON.stringify({
        log: {
          version: '1.2',
          entries: [{ request: { method: 'GET', url: 'https://api.example.com/a', headers: [], queryString: [] } }],
        },
      }),
      ['get_a'],
    ],
    ['openapi', 'openapi: 3.0.0\ninfo: {title: A, version: "1"}\npaths: {/a: {get: {responses: {}}}}', ['get_a']],
  ])('recognizes %s in a text', async (kindOfSource, text, names) => {
    const ada = await patchbay.person()
    const made = await review(ada, await newToolkit(ada), { text })
    expect(made).toMatchObject({ kind: kindOfSource, state: 'ready' })
    expect(await namesOf(ada, made.id)).toEqual(names)
  })

  it('finds the main one of several files', async () => {
    const ada = await patchbay.person()
    const main = descriptionOf({ paths: { '/a': { $ref: 'paths/a.yaml' } } })
    const made = await reviewFiles(ada, await newToolkit(ada), [
      ['paths/a.yaml', 'get: {operationId: getA, responses: {}}'],
      ['main.json', JSON.stringify(main)],
    ])
    expect(made).toMatchObject({ state: 'ready', sourceName: 'main.json', totals: { tools: 1 } })
  })

  it('is for everybody who may build in the organization, and for nobody else', async () => {
    const { ada, toolkitId, id } = await start()
    const colleague = await patchbay.member(ada.organizationId, 'builder')
    const viewer = await patchbay.member(ada.organizationId, 'viewer')
    const stranger = await patchbay.person()
    expect(await getReview(colleague, id)).toMatchObject({ state: 'ready' })
    for (const [method, path, body] of [
      ['GET', `/imports/${id}`],
      ['GET', `/imports/${id}/items`],
      ['GET', `/toolkits/${toolkitId}/imports`],
      ['PATCH', `/imports/${id}`, {}],
      ['POST', `/toolkits/${toolkitId}/imports`, { text: 'x' }],
      ['DELETE', `/imports/${id}`],
    ] as const) {
      expect(await stranger.send(method, path, body)).toMatchObject({ status: 404 })
      expect(await viewer.send(method, path, body)).toMatchObject({ status: 403 })
    }
    expect(await getReview(ada, id)).toMatchObject({ state: 'ready' })
  })

  it('can be discarded, and several can be open', async () => {
    const { ada, toolkitId, id } = await start()
    const other = await review(ada, toolkitId, { text: 'curl https://a.example/x' })
    expect(await ada.send('DELETE', `/imports/${id}`)).toMatchObject({ status: 204 })
    expect(await ada.send('GET', `/imports/${id}`)).toMatchObject({ status: 404 })
    expect(await ada.send('DELETE', `/imports/${id}`)).toMatchObject({ status: 404 })
    expect(await patchbay.db.importItem.count({ where: { importId: id } })).toBe(0)
    expect(await getReview(ada, other.id)).toMatchObject({ state: 'ready' })
  })

  it('no longer changes once it has been applied', async () => {
    const { ada, id } = await start()
    await ada.expectOk('POST', `/imports/${id}/apply`)
    expect(await ada.send('PATCH', `/imports/${id}`, { deselect: { filter: {} } })).toMatchObject({ status: 409 })
    expect(await getReview(ada, id)).toMatchObject({ state: 'applied', totals: { selected: 4 } })
  })
})
