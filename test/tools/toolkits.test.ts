import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp, type WithId } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'

const Page = z.object({ items: z.array(z.looseObject({ id: z.string() })), nextCursor: z.string().nullable() })

/** Reads all items of a list in pages of `limit`, and counts the pages. */
const readPages = async (api: ApiClient, path: string, limit: number) => {
  const items: WithId[] = []
  let pages = 0
  let cursor: string | null = ''
  do {
    const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`
    const page: z.infer<typeof Page> = Page.parse((await api.expectOk('GET', `${path}${query}`)).body)
    items.push(...page.items)
    pages += 1
    cursor = page.nextCursor
  } while (cursor !== null)
  return { items, pages }
}

const GET_TOOL = { method: 'GET', url: 'https://api.example.com/' }

describe.each(databasesOfRun)('toolkits on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  let ada: ApiClient
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
  })

  it('are created, read, changed and deleted', async () => {
    const made = await ada.send('POST', '/toolkits', { title: ' Weather ', description: 'Forecasts' })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.any(String),
      organizationId: expect.any(String),
      title: 'Weather',
      description: 'Forecasts',
      visibility: 'private',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    const { id } = z.object({ id: z.string() }).parse(made.body)
    expect(await ada.send('GET', `/toolkits/${id}`)).toMatchObject({ status: 200, body: made.body })

    const changed = await ada.send('PATCH', `/toolkits/${id}`, { description: null, visibility: 'public' })
    expect(changed).toMatchObject({ status: 200, body: { title: 'Weather', description: null, visibility: 'public' } })
    expect(await ada.send('PATCH', `/toolkits/${id}`, {})).toMatchObject({ status: 200, body: { title: 'Weather' } })

    expect(await ada.send('DELETE', `/toolkits/${id}`)).toMatchObject({ status: 204, body: undefined })
    expect((await ada.send('GET', `/toolkits/${id}`)).status).toBe(404)
    expect((await ada.send('DELETE', `/toolkits/${id}`)).status).toBe(404)
  })

  it('have single-line titles without bidirectional control characters', async () => {
    const titled = (title: string) => ada.send('POST', '/toolkits', { title })
    const refusal = (message: string) => ({ status: 400, body: { errors: [{ path: 'title', message }] } })
    const turned = 'contains characters that change the direction of text'
    expect(await titled('Weather\u202erehtaew')).toMatchObject(refusal(turned))
    expect(await titled('two\nlines')).toMatchObject(refusal('contains control characters'))
  })

  it('and their tools are paged without losing or repeating any', async () => {
    const bob = await signUp(patchbay.origin)
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push((await bob.create('/toolkits', { title: `T${count}` })).id)
    const { items, pages } = await readPages(bob, '/toolkits', 2)
    expect(items.map(({ id }) => id)).toEqual(ids.sort())
    expect(pages).toBe(3)
    const [first = ''] = ids
    for (const name of ['a', 'b', 'c']) await bob.create(`/toolkits/${first}/tools`, { ...GET_TOOL, name })
    const tools = await readPages(bob, `/toolkits/${first}/tools`, 1)
    expect(tools.items.map(tool => tool.name)).toEqual(['a', 'b', 'c'])
  })

  it('that are public are in the gallery for everybody; private ones are not visible to others', async () => {
    const bob = await signUp(patchbay.origin)
    const open = await ada.create('/toolkits', { title: 'Open', visibility: 'public' })
    const closed = await ada.create('/toolkits', { title: 'Closed' })
    const tool = await ada.create(`/toolkits/${open.id}/tools`, { ...GET_TOOL, name: 'tool' })
    const gallery = (await readPages(bob, '/gallery', 200)).items.map(({ id }) => id)
    expect(gallery).toContain(open.id)
    expect(gallery).not.toContain(closed.id)
    expect((await readPages(bob, '/toolkits', 200)).items).toEqual([])
    for (const path of [`/toolkits/${open.id}`, `/toolkits/${open.id}/tools`, `/tools/${tool.id}`]) {
      expect((await bob.send('GET', path)).status).toBe(200)
    }
    for (const [method, path, body] of [
      ['PATCH', `/toolkits/${open.id}`, { title: 'Mine' }],
      ['DELETE', `/toolkits/${open.id}`, undefined],
      ['POST', `/toolkits/${open.id}/tools`, { ...GET_TOOL, name: 'more' }],
      ['PATCH', `/tools/${tool.id}`, { title: 'Mine' }],
      ['DELETE', `/tools/${tool.id}`, undefined],
      ['POST', `/tools/${tool.id}/test`, { arguments: {} }],
      ['GET', `/toolkits/${closed.id}`, undefined],
    ] as const) {
      expect(await bob.send(method, path, body), `${method} ${path}`).toMatchObject({ status: 404 })
    }
  })

  it('contain one tool of each name, even if ten are created at once', async () => {
    const toolkit = await ada.create('/toolkits', { title: 'Race' })
    const make = () => ada.send('POST', `/toolkits/${toolkit.id}/tools`, { ...GET_TOOL, name: 'same' })
    const answers = await Promise.all(Array.from({ length: 10 }, make))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      detail: expect.stringContaining('"same"'),
      errors: [{ path: 'name' }],
    })
    const other = await ada.create(`/toolkits/${toolkit.id}/tools`, { ...GET_TOOL, name: 'other' })
    expect(await ada.send('PATCH', `/tools/${other.id}`, { name: 'same' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"same"') },
    })
    const elsewhere = await ada.create('/toolkits', { title: 'Elsewhere' })
    expect((await ada.send('POST', `/toolkits/${elsewhere.id}/tools`, { ...GET_TOOL, name: 'same' })).status).toBe(201)
  })
})

describe('a list', () => {
  const patchbay = runPatchbay()
  let ada: ApiClient
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['cursor=nonsense', 'cursor'],
    [`cursor=${Buffer.from('"no uuid"').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('{}').toString('base64url')}`, 'cursor'],
    [`cursor=${'A'.repeat(2_000)}`, 'cursor'],
  ])('asked for with %s is refused, naming %s', async (query, path) => {
    for (const list of ['/toolkits', '/gallery', '/servers', '/tokens']) {
      expect(await ada.send('GET', `${list}?${query}`)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    }
  })

  it('has 50 items per page by default, and at most 200', async () => {
    const [organization] = z
      .object({ organizations: z.array(z.object({ id: z.string() })) })
      .parse((await ada.send('GET', '/me')).body).organizations
    const organizationId = z.string().parse(organization?.id)
    const data = Array.from({ length: 201 }, (_, index) => ({ organizationId, title: `T${index}` }))
    await patchbay.services.db.toolkit.createMany({ data })
    const counts = []
    for (const query of ['', '?limit=200']) {
      counts.push(Page.parse((await ada.send('GET', `/toolkits${query}`)).body).items.length)
    }
    expect(counts).toEqual([50, 200])
  })
})
