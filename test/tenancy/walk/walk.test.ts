import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp, WithId } from '../../support/api-client.ts'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { readRoutes } from '../../support/read-routes.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { makePath, ROUTES, type Row } from './routes.ts'
import { ASKERS, type Asker, CANARY, makeWorld, SECRET, type World } from './world.ts'

/** The forms in which the secret could appear, such as plain, in JSON and in a URL. */
const SECRET_FORMS = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), 'sk-9f3b']

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g
/** The only id that a member who may use the server can find nothing at. */
const LAST_ID = new RegExp(`${ID.source}(?!.*${ID.source})`)
/** Replaces the ids, because the theme form of each page contains the page's own URL. */
const withoutIds = (text: string): string => text.replace(/"requestId":"[^"]*"/, '"requestId":"id"').replace(ID, 'id')

const ServersPage = z.object({ items: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() })

/** Reads all pages of the list, because it has more servers than fit on one page. */
const listServerIds = async (api: ApiClient, cursor = ''): Promise<string[]> => {
  const page = ServersPage.parse((await api.expectOk('GET', `/servers?limit=200${cursor}`)).body)
  const ids = page.items.map(({ id }) => id)
  return page.nextCursor === null ? ids : [...ids, ...(await listServerIds(api, `&cursor=${page.nextCursor}`))]
}

const isWrite = ({ route }: Row): boolean => !/^(GET|HEAD|OPTIONS) /.test(route)

describe('the routes of the application', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_METRICS_TOKEN: 'x'.repeat(32) } })
  const fake = runFakeApi()
  let world: World
  beforeAll(async () => {
    world = await makeWorld(patchbay.origin, patchbay.services, patchbay.databaseUrl, fake.origin)
  })
  afterAll(() => world.close())

  const ask = async (row: Row, asker: Asker, path: string) => {
    const { token } = world.askers[asker]
    const [method = ''] = row.route.split(' ')
    const body = typeof row.body === 'function' ? row.body(world) : row.body
    const form = typeof row.form === 'function' ? row.form(world) : row.form
    const isStreamed = path.endsWith('/sse') || method === 'GET'
    const programs = isStreamed ? 'text/event-stream' : 'application/json, text/event-stream'
    const response = await fetch(`${patchbay.origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        accept: row.isBrowser ? 'text/html, */*' : programs,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel()
      return { status: response.status, text: '' }
    }
    return { status: response.status, text: await response.text() }
  }

  it('are all listed in the table of this test', () => {
    const printed = readRoutes(patchbay.http.printRoutes({ commonPrefix: false }))
    const listed = ROUTES.map(({ route }) => route)
    // The row of a GET route also covers HEAD, with the same access, unless HEAD has its own row.
    const gets = new Set(printed.filter(route => route.startsWith('GET ')).map(route => route.slice(4)))
    const withRow = new Set(listed)
    const own = printed.filter(route => !route.startsWith('HEAD ') || withRow.has(route) || !gets.has(route.slice(5)))
    expect(own.length).toBeGreaterThan(60)
    expect(own.sort()).toEqual([...listed].sort())
  })

  it.each(ROUTES)('$route', async row => {
    const expected = new Map(ASKERS.map((asker, index) => [asker, row.statuses[index] ?? 0]))
    const refused = ASKERS.filter(asker => (expected.get(asker) ?? 0) >= 400)
    const statuses: [Asker, number][] = []
    const path = await makePath(row, world)
    const before = isWrite(row) ? world.state() : ''
    for (const asker of refused) {
      const { status, text } = await ask(row, asker, path)
      statuses.push([asker, status])
      expect(text, `what ${asker} is told`).not.toContain(CANARY)
      if (status !== 404) continue
      // Objects of other users must look as if they did not exist.
      const unknown = asker === 'named builder' ? LAST_ID : ID
      const absent = await ask(
        row,
        asker,
        path.replace(unknown, () => randomUUID()),
      )
      expect(withoutIds(text)).toBe(withoutIds(absent.text))
    }
    if (isWrite(row)) expect(world.state() === before, 'whether all is as it was').toBe(true)
    const allowed = ASKERS.filter(asker => !refused.includes(asker))
    for (const asker of casesOfRun(allowed, (_asker, index) => index === 0)) {
      const { status, text } = await ask(row, asker, isWrite(row) ? await makePath(row, world) : path)
      statuses.push([asker, status])
      for (const form of SECRET_FORMS) expect(text, `what ${asker} is told`).not.toContain(form)
      if (asker === 'stranger' || asker === 'nobody') expect(text).not.toContain(CANARY)
    }
    expect(statuses).toEqual(statuses.map(([asker]) => [asker, expected.get(asker)]))
  })

  it('keep secrets: only the target API received one, and the database stores it encrypted', async () => {
    await patchbay.services.recorder.flush()
    expect(fake.seen.map(({ body }) => body)).toContain(JSON.stringify({ key: SECRET }).replace(':', ': '))
    const state = world.state() + JSON.stringify(await patchbay.services.db.execution.findMany())
    expect(state).toContain('"canary_tool"')
    for (const form of SECRET_FORMS) expect(state).not.toContain(form)
  })

  it('respond to HEAD as to GET', { timeout: 60_000 }, async () => {
    for (const row of ROUTES.filter(({ route }) => /^GET \/(api|healthz|readyz|metrics|\.well-known)/.test(route))) {
      const path = await makePath(row, world)
      const head = { ...row, route: row.route.replace('GET', 'HEAD') }
      for (const [index, asker] of ASKERS.entries()) {
        const { status, text } = await ask(head, asker, path)
        expect([row.route, asker, status, text]).toEqual([row.route, asker, row.statuses[index], ''])
      }
    }
  })

  it('never use things of one organization in another, whoever refers to them', async () => {
    const { toolkitId, toolId, serverId, instanceId, organizationId, askers, state } = world
    const { owner } = askers
    const stranger = await signUp(patchbay.origin)
    const own = await stranger.create('/servers', { name: 'Own' })
    const toolkit = await stranger.create('/toolkits', { title: 'Own' })
    const definition = { name: 'own', method: 'GET', url: `${fake.origin}/` }
    const tool = await stranger.create(`/toolkits/${toolkit.id}/tools`, definition)
    const instance = await stranger.create(`/servers/${own.id}/instances`, { toolId: tool.id, name: 'own' })
    const before = state()
    for (const [method, path, body, status] of [
      ['PUT', `/servers/${own.id}/toolkits/${toolkitId}`, undefined, 404],
      ['PUT', `/servers/${serverId}/toolkits/${toolkit.id}`, undefined, 404],
      ['POST', `/servers/${own.id}/instances`, { toolId, name: 'stolen' }, 400],
      ['POST', `/servers/${serverId}/instances`, { toolId: tool.id, name: 'planted' }, 404],
      ['PATCH', `/instances/${instance.id}`, { toolId }, 400],
      ['PATCH', `/instances/${instance.id}`, { serverId }, 400],
      ['PATCH', `/servers/${own.id}`, { organizationId }, 400],
      ['PATCH', `/toolkits/${toolkit.id}`, { organizationId }, 400],
      ['PATCH', `/tools/${tool.id}`, { toolkitId }, 400],
      ['POST', `/tools/${tool.id}/test`, { arguments: {}, serverId }, 404],
      ['POST', `/tools/${toolId}/test`, { arguments: {}, serverId: own.id }, 404],
      ['POST', '/servers', { name: 'x', organizationId }, 404],
      ['POST', '/toolkits', { title: 'x', organizationId }, 404],
    ] as const) {
      const answer = await stranger.send(method, path, body)
      expect([method, path, answer.status]).toEqual([method, path, status])
      expect(JSON.stringify(answer.body)).not.toContain(CANARY)
    }
    expect(state() === before, 'whether all is as it was').toBe(true)
    expect((await owner.send('GET', `/instances/${instanceId}`)).status).toBe(200)
  })

  it.each(['stranger', 'owner'] as const)('find nothing of another server below the own one, as %s', async asker => {
    const { body } = await world.askers[asker].expectOk('GET', '/me')
    const { organizations } = z.object({ organizations: z.array(z.object({ id: z.string() })) }).parse(body)
    const ids = organizations.map(({ id }) => id)
    const organizationId = asker === 'owner' ? world.organizationId : ids[0]
    expect(ids.includes(world.organizationId)).toBe(asker === 'owner')
    const own = await world.askers[asker].create('/servers', { name: 'Own', organizationId })
    const asked: string[] = []
    const found: string[] = []
    // Toolkits are available to all servers of their organization.
    const isOfServer = asker === 'owner' ? /:upstreamId|:instanceId/ : /\/servers\/:uuid\/.*:(?!key)/
    for (const row of ROUTES.filter(({ route }) => isOfServer.test(route))) {
      const path = await makePath(row, world)
      const [first = '', ...others] = path.match(ID) ?? []
      if (others.length === 0) continue
      const before = isWrite(row) ? world.state() : ''
      const { status, text } = await ask(row, asker, path.replace(first, own.id))
      asked.push(row.route)
      if (status !== 404) found.push(`${row.route} ${status}`)
      if (asker === 'stranger') expect(text, row.route).not.toContain(CANARY)
      if (isWrite(row)) expect(world.state() === before, `whether all is as it was: ${row.route}`).toBe(true)
    }
    expect(asked.length).toBeGreaterThan(10)
    // Removing a user who does not have access succeeds.
    expect(found).toEqual(asker === 'owner' ? [] : ['POST /servers/:uuid/access/people/:id/removal 303'])
  })

  it('apply a user’s role in each of several organizations', async () => {
    const { db } = patchbay.services
    const both = await signUp(patchbay.origin)
    const { organizationId: home } = await db.membership.findFirstOrThrow({ where: { userId: both.userId } })
    await db.membership.create({
      data: { organizationId: world.organizationId, userId: both.userId, role: 'viewer' },
    })
    expect(await both.send('POST', '/servers', { name: 'x' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'organizationId' }] },
    })
    expect((await both.send('POST', '/servers', { name: 'x', organizationId: world.organizationId })).status).toBe(403)
    const own = await both.send('POST', '/servers', { name: 'x', organizationId: home })
    expect(own).toMatchObject({ status: 201, body: { organizationId: home } })
    expect((await both.send('PATCH', `/servers/${world.serverId}`, { name: 'x' })).status).toBe(403)
    const ownId = WithId.parse(own.body).id
    expect(await listServerIds(both)).toEqual(expect.arrayContaining([world.serverId, ownId]))
  })
})
