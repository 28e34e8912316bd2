import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { fieldsOf } from '../oauth/support/visitor.ts'
import { during } from '../support/world.ts'
import { connectClient } from './clients.ts'
import { startOAuthFake } from './oauth-fake.ts'
import {
  attach,
  callServer,
  leavingLink,
  listTools,
  makePerson,
  startConnecting,
  startOAuthWorlds,
} from './oauth-support.ts'

const Accounts = z.object({ items: z.array(z.object({ id: z.string(), upstream: z.object({ id: z.string() }) })) })

type Person = Awaited<ReturnType<typeof makePerson>>

let ann: Person
let bob: Person
let annThere: Person
let bobThere: Person
const worlds = during(() => startOAuthWorlds())
beforeAll(async () => {
  const { front, back } = worlds
  ;[ann, bob] = [await makePerson(front.origin, 'ann@example.com'), await makePerson(front.origin, 'bob@example.com')]
  ;[annThere, bobThere] = [
    await makePerson(back.origin, 'ann.there@example.com'),
    await makePerson(back.origin, 'bob.there@example.com'),
  ]
  // Both users of the other Patchbay may use its server.
  await back.owner.expectOk('PATCH', `/servers/${back.serverId}`, {
    access: 'private',
    allowedUsers: [annThere.email, bobThere.email],
  })
})

const attachOwn = (server: object = { access: 'public' }, more: object = {}) =>
  attach(worlds.owner, worlds.back.url, { type: 'oauth', per: 'caller' }, { server, ...more })

/** Returns the callers as the owner of the other server sees them. */
const callersThere = async (): Promise<unknown[]> => {
  const { back } = worlds
  const { body } = await back.owner.expectOk('GET', `/servers/${back.serverId}/executions?limit=200`)
  return z
    .object({ items: z.array(z.object({ caller: z.unknown() })) })
    .parse(body)
    .items.map(({ caller }) => caller)
}

describe('an upstream with an account per caller', () => {
  it('returns the link until the caller has connected, and then runs calls as that caller', async () => {
    const { connect, front } = worlds
    const { upstreamId, url } = await attachOwn()
    await connect(ann.visitor, upstreamId, annThere.visitor)
    expect(await listTools(url, bob.token)).toEqual(['back_get_shipment'])

    const refused = await callServer(url, bob.token, 'back_get_shipment', { id: '1' })
    const link = `${front.settings.baseUrl}/connect/${upstreamId}`
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining(link),
      _meta: { 'patchbay/connect': { upstream: 'back', url: link } },
    })

    await connect(bob.visitor, upstreamId, bobThere.visitor)
    expect((await callServer(url, bob.token, 'back_get_shipment', { id: '2' })).text).toContain('/shipments/2')
    expect((await callServer(url, ann.token, 'back_get_shipment', { id: '3' })).text).toContain('/shipments/3')
    const latest = async () => (await callersThere()).slice(0, 2)
    await vi.waitFor(async () => expect(await latest()).toEqual([annThere.userId, bobThere.userId]))
  })

  it('caches results per caller, even if its builder shares them', async () => {
    const kept = { cacheSeconds: 600, cacheShared: true, readOnly: true }
    const { upstreamId, url } = await attachOwn({ access: 'public' }, { toolAnswers: { get_shipment: kept } })
    await worlds.connect(ann.visitor, upstreamId, annThere.visitor)
    await worlds.connect(bob.visitor, upstreamId, bobThere.visitor)
    const before = (await callersThere()).length
    for (const { token } of [ann, ann, bob, bob]) {
      expect((await callServer(url, token, 'back_get_shipment', { id: '9' })).text).toContain('/shipments/9')
    }
    const all = await callersThere()
    const since = all.slice(0, all.length - before)
    expect(since).toEqual([bobThere.userId, annThere.userId])
    // Cached results are deleted together with their account.
    const { body } = await ann.expectOk('GET', '/me/upstream-accounts')
    const own = Accounts.parse(body).items.find(({ upstream }) => upstream.id === upstreamId)
    await ann.expectOk('DELETE', `/me/upstream-accounts/${own?.id}`)
    const refused = async () => (await callServer(url, ann.token, 'back_get_shipment', { id: '9' })).text
    await expect.poll(refused).toContain('not connected your own account')
  })

  it('does not reuse cached results of a previous account', async () => {
    const kept = { cacheSeconds: 600, readOnly: true }
    const { upstreamId, url } = await attachOwn({ access: 'public' }, { toolAnswers: { get_shipment: kept } })
    const before = (await callersThere()).length
    for (const there of [annThere, bobThere]) {
      await worlds.connect(ann.visitor, upstreamId, there.visitor)
      for (const _time of ['asked', 'kept']) await callServer(url, ann.token, 'back_get_shipment', { id: '8' })
    }
    const all = await callersThere()
    expect(all.slice(0, all.length - before)).toEqual([bobThere.userId, annThere.userId])
  })

  it('tells anonymous callers that they cannot have an account', async () => {
    const { upstreamId, url } = await attachOwn()
    await worlds.connect(ann.visitor, upstreamId, annThere.visitor)
    const refused = await callServer(url, undefined, 'back_get_shipment', { id: '1' })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('own account') })
    expect(refused._meta?.['patchbay/connect']).toBeUndefined()
  })

  it('can be connected only by users who may call the server', async () => {
    const { upstreamId } = await attachOwn({ access: 'private', allowedUsers: [ann.email] })
    expect((await ann.visitor.get(`/connect/${upstreamId}`)).status).toBe(200)
    const page = await bob.visitor.get(`/connect/${upstreamId}`)
    expect(page.status).toBe(404)
    expect(page.text).not.toContain('Front')
  })

  it("is listed, and disconnected, only among its own user's accounts", async () => {
    const { upstreamId, url } = await attachOwn()
    await worlds.connect(ann.visitor, upstreamId, annThere.visitor)
    expect((await callServer(url, ann.token, 'back_get_shipment', { id: '1' })).isError).not.toBe(true)
    const page = await ann.visitor.get('/account/upstreams')
    expect((await bob.visitor.get('/account/upstreams')).text).not.toContain(upstreamId)
    const { action, fields } = fieldsOf(page, '/account/upstreams/')
    expect((await bob.visitor.send('POST', action, fields)).status).toBe(403)
    const { body } = await ann.expectOk('GET', '/me/upstream-accounts')
    const own = Accounts.parse(body).items.filter(({ upstream }) => upstream.id === upstreamId)
    expect(own).toHaveLength(1)
    expect((await bob.send('DELETE', `/me/upstream-accounts/${own[0]?.id}`)).status).toBe(404)
    const done = await ann.visitor.post(`${worlds.front.origin}/account/upstreams/${own[0]?.id}/removal`, fields)
    expect(done.text).not.toContain(own[0]?.id)
    const refused = await callServer(url, ann.token, 'back_get_shipment', { id: '1' })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('not connected your own account') })
  })

  it('accepts a state once, only in the session that started it', async () => {
    const { back } = worlds
    const { upstreamId } = await attachOwn()
    const location = await back.agree(annThere.visitor, leavingLink(await startConnecting(ann.visitor, upstreamId)))
    expect((await bob.visitor.get(location)).status).toBe(400)
    expect((await ann.visitor.get(location)).status).toBe(200)
    expect((await ann.visitor.get(location)).status).toBe(400)
    expect((await bob.visitor.get('/account/upstreams')).text).not.toContain(upstreamId)
  })

  it('is not listed with the account of a user who lost access', async () => {
    const { owner } = worlds
    const { serverId, upstreamId } = await attachOwn({ access: 'private', allowedUsers: [ann.email] })
    await worlds.connect(ann.visitor, upstreamId, annThere.visitor)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [] })
    const refresh = async () => (await owner.send('POST', `/upstreams/${upstreamId}/refresh`)).body
    const asked = expect.stringContaining('No caller has connected an account')
    expect(await refresh()).toMatchObject({ detail: asked })
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [ann.email] })
    expect(await refresh()).not.toMatchObject({ detail: asked })
  })

  it('starts a new session for another account, also over a dedicated connection', async () => {
    const fake = await startOAuthFake()
    onTestFinished(fake.close)
    const { upstreamId, url } = await attach(worlds.owner, fake.url, { type: 'oauth', per: 'caller' })
    const connect = async (): Promise<void> => {
      const back = fake.agree(leavingLink(await startConnecting(worlds.owner.visitor, upstreamId)))
      expect((await worlds.owner.visitor.get(back)).status).toBe(200)
    }
    await connect()
    const client = await connectClient('sdk 2', url, {
      token: worlds.owner.token,
      capabilities: { sampling: {} },
      prepare2: one => one.setRequestHandler('sampling/createMessage', () => Promise.reject(new Error('not asked'))),
    })
    await client.callTool('back_whoami')
    await connect()
    const token = fake.given.at(-2)
    const asked = fake.seen.length
    await client.callTool('back_whoami')
    const isOfClient = (body: string): boolean => body.includes('"initialize"') && body.includes('"sampling"')
    const began = fake.seen.slice(asked).filter(({ body }) => isOfClient(body))
    expect(began.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${token}`])
  })

  it('tells nobody what it says to one account', async () => {
    const fake = await startOAuthFake()
    onTestFinished(fake.close)
    const auth = { type: 'oauth', per: 'caller' }
    const { upstreamId, serverId, url } = await attach(worlds.owner, fake.url, auth, { server: { access: 'public' } })
    const connect = async ({ visitor }: Person): Promise<void> => {
      await visitor.get(fake.agree(leavingLink(await startConnecting(visitor, upstreamId))))
    }
    const refresh = async () => (await worlds.owner.send('POST', `/upstreams/${upstreamId}/refresh`)).body
    const stateOf = async () => (await worlds.owner.expectOk('GET', `/upstreams/${upstreamId}`)).body
    fake.behave({ instructions: 'You are Ann.' })
    await connect(ann)
    expect(await refresh()).toMatchObject({ tools: ['fail', 'whoami'] })
    const shown = async () => (await connectClient('sdk 1', url, { token: bob.token })).instructions() ?? ''
    expect(await shown()).not.toContain('Ann')
    const groupsShown = async () => {
      const client = await connectClient('sdk 1', url, { token: bob.token })
      return JSON.stringify(await client.request('tools/list'))
    }
    await worlds.owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    await vi.waitFor(async () => expect(await groupsShown()).toContain('back (2 tools)'))
    fake.behave({ unlisted: 'Ann may not read project Y' })
    const why = 'The MCP server did not list its tools.'
    expect(await refresh()).toMatchObject({ status: 503, detail: why })
    expect(await stateOf()).toMatchObject({ state: { kind: 'failed', why } })
    await vi.waitFor(async () => expect(await groupsShown()).toContain(`back (2 tools; failed: ${why})`))
    await connect(bob)
    expect((await callServer(url, bob.token, 'call_dynamic_tool', { group: 'back', name: 'whoami' })).isError).not.toBe(
      true,
    )
    expect(await stateOf()).toMatchObject({ state: { kind: 'connected' } })
    // Without connections, the failure is still known, but nothing is tried until there is one.
    for (const person of [ann, bob]) {
      const { body } = await person.expectOk('GET', '/me/upstream-accounts')
      for (const { id, upstream } of Accounts.parse(body).items) {
        if (upstream.id === upstreamId) await person.expectOk('DELETE', `/me/upstream-accounts/${id}`)
      }
    }
    await vi.waitFor(async () => {
      const state = await stateOf()
      expect(state).toMatchObject({ state: { kind: 'failed', why } })
      expect(state).not.toMatchObject({ state: { nextTryAt: expect.anything() } })
    })
  })

  it('keeps no tokens after the user, the upstream or the server was deleted', async () => {
    const { front, owner, connect } = worlds
    const count = (upstreamId: string) => front.services.db.upstreamAccount.count({ where: { upstreamId } })
    const one = await attachOwn()
    await connect(ann.visitor, one.upstreamId, annThere.visitor)
    const carol = await makePerson(front.origin, 'carol@example.com')
    await connect(carol.visitor, one.upstreamId, annThere.visitor)
    expect(await count(one.upstreamId)).toBe(2)
    const { body } = await carol.expectOk('GET', '/me')
    const { organizations } = z.object({ organizations: z.array(z.object({ id: z.string() })) }).parse(body)
    await carol.expectOk('DELETE', '/me', {
      password: 'correct horse battery staple',
      organizations: Object.fromEntries(organizations.map(({ id }) => [id, 'remove'])),
    })
    expect(await count(one.upstreamId)).toBe(1)
    await owner.expectOk('DELETE', `/upstreams/${one.upstreamId}`)
    expect(await count(one.upstreamId)).toBe(0)
  })
})
