import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { isAllowed, policyOf } from '../../src/servers/access/access.ts'
import { openTo } from '../../src/servers/access/open-to.store.ts'
import { toServer, WITH_USERS } from '../../src/servers/servers.store.ts'
import { knock } from '../mcp/messages.ts'
import { insertGrant } from '../oauth/support/tokens.ts'
import { makeServer, WithId } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { type Person, runFakeApi, runPatchbay } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'
/** A part of everything on the private server that only those who may use it can see. */
const INSIDE = 'inside'

const Calls = z.object({ items: z.array(z.object({ id: z.string(), caller: z.string().nullable() })) })
const Servers = z.object({ items: z.array(z.looseObject({ id: z.string() })) })
const Requests = z.object({ items: z.array(z.object({ userId: z.string(), email: z.string() })) })

describe.each(databasesOfRun)('a private server on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })
  const fake = runFakeApi()
  let people: Record<'owner' | 'admin' | 'named' | 'builder' | 'viewer' | 'stranger', Person>
  let server: Awaited<ReturnType<typeof makeServer>> & { instanceId: string; toolId: string; upstreamId: string }

  const signIn = async ({ email }: { email: string }) => {
    const browser = createPageBrowser(world.origin)
    await browser.submit('/sign-in', { email, password: PASSWORD })
    await browser.get('/account')
    return browser
  }
  const statusOf = async (person: Person, method: string, path: string, body?: object) =>
    (await person.send(method, path, body)).status
  const callersSeenBy = async (person: Person) => {
    const { body } = await person.expectOk('GET', `/servers/${server.serverId}/executions`)
    return new Set(Calls.parse(body).items.map(({ caller }) => caller))
  }

  beforeAll(async () => {
    const owner = await world.person()
    const { organizationId } = owner
    people = {
      owner,
      admin: await world.member(organizationId, 'admin'),
      named: await world.member(organizationId, 'builder'),
      builder: await world.member(organizationId, 'builder'),
      viewer: await world.member(organizationId, 'viewer'),
      stranger: await world.person(),
    }
    const tool = { name: `${INSIDE}_tool`, method: 'GET', url: `${fake.origin}/?key={{key?}}` }
    const { named } = people
    const made = await makeServer(owner, [tool], {
      server: { name: 'Payroll', description: INSIDE, access: 'private', allowedUsers: [named.userId] },
      bindings: { [tool.name]: { key: { source: 'server' } } },
    })
    await owner.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: INSIDE, secret: true })
    const upstream = { name: INSIDE, transport: 'http', url: 'https://mcp.example.com/mcp', enabled: false }
    const { id: upstreamId } = await owner.create(`/servers/${made.serverId}/upstreams`, upstream)
    const instanceId = made.instanceIds[tool.name] ?? ''
    server = { ...made, instanceId, toolId: made.toolIds[tool.name] ?? '', upstreamId }
    for (const access of ['organization', 'public', 'private']) await owner.create('/servers', { name: access, access })
    for (const person of [owner, people.admin, named]) {
      await person.expectOk('POST', `/instances/${instanceId}/call`, { arguments: {} })
    }
  })

  it('is used at its address by its owner, the users they name and admins', async () => {
    const statuses = await Promise.all(Object.values(people).map(({ token }) => knock(server.url, token)))
    expect(Object.keys(people)).toEqual(['owner', 'admin', 'named', 'builder', 'viewer', 'stranger'])
    expect(statuses).toEqual([200, 200, 200, 403, 403, 403])
  })

  it('is found by queries by the same rule as by the check of a request', async () => {
    const { owner, ...others } = people
    const { organizationId } = owner
    const stored = await world.db.server.findMany({ where: { organizationId }, include: WITH_USERS })
    const policies = stored.map(row => policyOf(toServer(row)))
    const members = await world.db.membership.findMany()
    for (const { userId } of [owner, ...Object.values(others)]) {
      const own = members.filter(member => member.userId === userId)
      const user = { userId, memberships: new Map(own.map(one => [one.organizationId, one.role])) }
      const found = await world.db.server.findMany({ where: { AND: [openTo(user), { organizationId }] } })
      const isMember = user.memberships.has(organizationId)
      const allowed = policies.filter(policy => isMember && isAllowed(policy, user)).map(({ serverId }) => serverId)
      expect(found.map(({ id }) => id).sort()).toEqual(allowed.sort())
    }
  })

  it('is no longer used by an admin who becomes a builder, from the next request', async () => {
    const admin = await world.member(people.owner.organizationId, 'admin')
    expect(await knock(server.url, admin.token)).toBe(200)
    await people.owner.expectOk('PUT', `/organizations/${people.owner.organizationId}/members/${admin.userId}`, {
      role: 'builder',
    })
    expect(await knock(server.url, admin.token)).toBe(403)
  })

  it('is tried only by those who may use it', async () => {
    const tries = [
      ['POST', `/instances/${server.instanceId}/call`, { arguments: {} }],
      ['POST', `/tools/${server.toolId}/test`, { arguments: {}, serverId: server.serverId }],
    ] as const
    for (const [method, path, body] of tries) {
      for (const person of [people.owner, people.admin, people.named]) {
        expect([path, await statusOf(person, method, path, body)]).toEqual([path, 200])
      }
      const before = fake.seen.length
      const refused = await people.builder.send(method, path, body)
      expect(refused).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('This server is private.') },
      })
      expect(JSON.stringify(refused.body)).not.toContain(INSIDE)
      expect(fake.seen.length).toBe(before)
    }
  })

  it('shows named users their own calls, and the owner and admins all', async () => {
    const { owner, admin, named } = people
    await world.services.recorder.flush()
    const all = new Set([owner.userId, admin.userId, named.userId])
    expect(await callersSeenBy(owner)).toEqual(all)
    expect(await callersSeenBy(admin)).toEqual(all)
    expect(await callersSeenBy(named)).toEqual(new Set([named.userId]))
    const { items } = Calls.parse((await owner.expectOk('GET', `/servers/${server.serverId}/executions`)).body)
    for (const { id, caller } of items) {
      expect(await statusOf(named, 'GET', `/executions/${id}`)).toBe(caller === named.userId ? 200 : 404)
      expect(await statusOf(people.builder, 'GET', `/executions/${id}`)).toBe(403)
      const page = await (await signIn(named)).get(`/servers/${server.serverId}/history/${id}`)
      expect(page.status).toBe(caller === named.userId ? 200 : 404)
      expect(page.html).not.toContain(owner.email)
    }
    // The sums do not say whose calls they count.
    expect(await statusOf(named, 'GET', `/servers/${server.serverId}/executions/tokens`)).toBe(403)
    expect(await statusOf(admin, 'GET', `/servers/${server.serverId}/executions/tokens`)).toBe(200)
  })

  it('shows named builders only their own grants, and neither connections nor lost records of everybody', async () => {
    const { owner, admin, named } = people
    const { serverId } = server
    const granted = { origin: world.origin, serverId }
    await insertGrant(world.services, { ...granted, userId: owner.userId, clientId: 'client-of-owner' })
    await insertGrant(world.services, { ...granted, userId: named.userId, clientId: 'client-of-named' })
    await world.db.executionGap.create({
      data: { serverId, missing: 3, from: new Date(), to: new Date(), reason: 'a test' },
    })
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${owner.token}` }
    expect((await fetch(`${server.url}/sse`, { headers, signal: controller.signal })).status).toBe(200)
    const listed = async (person: Person, path: string) => {
      const { body } = await person.expectOk('GET', `/servers/${serverId}/${path}`)
      return z.object({ items: z.array(z.unknown()), gaps: z.array(z.unknown()).optional() }).parse(body)
    }
    for (const [person, seesAll] of [
      [owner, true],
      [admin, true],
      [named, false],
    ] as const) {
      const { items } = await listed(person, 'grants')
      const users = z.array(z.object({ user: z.object({ id: z.string() }) })).parse(items)
      const own = seesAll ? [owner.userId, named.userId] : [named.userId]
      expect(users.map(({ user }) => user.id).sort()).toEqual(own.sort())
      expect((await listed(person, 'executions')).gaps).toHaveLength(seesAll ? 1 : 0)
      const browser = await signIn(person)
      const [access, overview, history, tool] = await Promise.all(
        [
          `/servers/${serverId}/access`,
          `/servers/${serverId}`,
          `/servers/${serverId}/history`,
          `/tools/${server.toolId}`,
        ].map(async path => (await browser.get(path)).html),
      )
      expect(access).toContain('client-of-named')
      expect(access?.includes('client-of-owner')).toBe(seesAll)
      expect(/id="live-state"[^>]*>([^<]*)</.exec(overview ?? '')?.[1]).toBe(
        seesAll ? 'Online · 1 connection' : 'Online',
      )
      expect(history?.includes('a test')).toBe(seesAll)
      expect(tool).toContain(seesAll ? 'Used by 1 server, with 1 open connection.' : 'Used by 1 server. Changes')
    }
    await world.db.executionGap.deleteMany({ where: { serverId } })
  })

  it('counts only the calls that a user may see, on its page, in the list and in the usage', async () => {
    await world.services.recorder.flush()
    const calls = await world.db.execution.groupBy({
      by: ['userId'],
      where: { serverId: server.serverId },
      _count: true,
    })
    const mine = calls.find(({ userId }) => userId === people.named.userId)?._count ?? 0
    const all = calls.reduce((sum, { _count }) => sum + _count, 0)
    expect(mine).toBeLessThan(all)
    const countedOn = (html: string) => /data-figure="calls"[^>]*><span>(\d+)/.exec(html)?.[1]
    for (const [person, seen] of [
      [people.owner, all],
      [people.named, mine],
    ] as const) {
      const browser = await signIn(person)
      expect(countedOn((await browser.get(`/servers/${server.serverId}`)).html)).toBe(String(seen))
      const { html } = await browser.get(`/servers?q=${server.serverId}`)
      expect(/Calls, last 24 h<\/dt><dd>(\d+)/.exec(html)?.[1]).toBe(String(seen))
      const usage = (await browser.get(`/organizations/${people.owner.organizationId}/usage`)).html
      expect(/Payroll<\/bdi><\/a><\/th><td[^>]*>(\d+)/.exec(usage)?.[1]).toBe(String(seen))
    }
  })

  it('shows other members that it exists, its name and its owner, and nothing else', async () => {
    const { serverId } = server
    for (const person of [people.builder, people.viewer]) {
      const seen = (await person.expectOk('GET', `/servers/${serverId}`)).body
      expect(Object.keys(WithId.parse(seen)).sort()).toEqual(
        ['access', 'closed', 'id', 'name', 'organizationId', 'ownerId', 'uuid'].sort(),
      )
      expect(seen).toMatchObject({ id: serverId, name: 'Payroll', ownerId: people.owner.userId, closed: true })
      const { items } = Servers.parse((await person.expectOk('GET', '/servers')).body)
      expect(items).toContainEqual(seen)
      const browser = await signIn(person)
      const list = (await browser.get('/servers?q=Payroll')).html
      expect(list).toContain('Payroll')
      expect(list).not.toContain(INSIDE)
      expect(list).not.toContain('Calls, last 24 h')
      // A search must not find by what is hidden.
      expect((await browser.get(`/servers?q=${INSIDE}`)).html).not.toContain('Payroll')
      const page = await browser.get(`/servers/${serverId}`)
      expect(page.status).toBe(200)
      expect(page.html).toContain(people.owner.email)
      expect(page.html).toContain('Ask for access')
      expect(page.html).not.toContain(INSIDE)
      const usage = (await browser.get(`/organizations/${people.owner.organizationId}/usage`)).html
      expect(usage).toContain('Payroll')
      expect(usage).toMatch(/Payroll<\/bdi><\/a><\/th><td[^>]*>private</)
    }
  })

  it('refuses other members everything below it, and what they refer to by id', async () => {
    const { serverId, instanceId, upstreamId, toolId } = server
    const below = ['toolkits', 'globals', 'instances', 'upstreams', 'bindings', 'executions', 'executions/tokens']
    const more = ['tokens', 'lint', 'grants', 'access-requests']
    const paths = [
      ...[...below, ...more].map(name => `/servers/${serverId}/${name}`),
      `/instances/${instanceId}`,
      `/upstreams/${upstreamId}`,
      `/upstreams/${upstreamId}/changes`,
    ]
    for (const path of paths) {
      const refused = await people.builder.send('GET', path)
      expect([path, refused.status]).toEqual([path, 403])
      expect(JSON.stringify(refused.body)).not.toContain(INSIDE)
      expect([path, await statusOf(people.stranger, 'GET', path)]).toEqual([path, 404])
    }
    const changes = [
      ['PATCH', `/servers/${serverId}`, { description: 'changed' }],
      ['PUT', `/servers/${serverId}/globals/key`, { value: 'changed' }],
      ['PATCH', `/instances/${instanceId}`, { name: 'changed' }],
      ['DELETE', `/instances/${instanceId}`, undefined],
      ['POST', `/servers/${serverId}/instances`, { toolId, name: 'more' }],
      ['PATCH', `/upstreams/${upstreamId}`, { description: 'changed' }],
    ] as const
    for (const [method, path, body] of changes) {
      expect([method, path, await statusOf(people.builder, method, path, body)]).toEqual([method, path, 403])
    }
    const browser = await signIn(people.builder)
    const tabs = ['tools', 'sources', 'bindings', 'globals', 'inspector', 'access', 'history', 'settings', 'live']
    for (const tab of tabs) {
      const { status, html } = await browser.get(`/servers/${serverId}/${tab}`)
      expect([tab, status]).toEqual([tab, 403])
      expect(html).not.toContain(INSIDE)
    }
    expect((await browser.get(`/tools/${toolId}`)).html).not.toContain('Payroll')
  })

  it('is edited by a named builder, except for its list of users', async () => {
    const { named, viewer } = people
    const path = `/servers/${server.serverId}`
    expect(await statusOf(named, 'PATCH', path, { compactTables: true })).toBe(200)
    expect(await statusOf(named, 'PATCH', path, { allowedUsers: [named.userId, viewer.userId] })).toBe(403)
    expect(await statusOf(named, 'GET', `${path}/access-requests`)).toBe(403)
    expect(await statusOf(people.admin, 'PATCH', path, { allowedUsers: [named.userId] })).toBe(200)
  })

  describe('when a member asks for access', () => {
    const path = () => `/servers/${server.serverId}/access-requests`
    const requestsSeenBy = async (person: Person) =>
      Requests.parse((await person.expectOk('GET', path())).body).items.map(({ email }) => email)

    it('tells the owner, who allows them with one click', async () => {
      const asker = await world.member(people.owner.organizationId, 'builder')
      const browser = await signIn(asker)
      const sent = await browser.submit(`/servers/${server.serverId}/access/requests`, {})
      expect(sent).toMatchObject({ status: 303, location: `/servers/${server.serverId}?done=asked` })
      const waiting = (await browser.get(`/servers/${server.serverId}`)).html
      expect(waiting).toContain('You asked for access')
      expect(waiting).not.toContain('>Ask for access<')
      // Asking again changes nothing.
      await browser.submit(`/servers/${server.serverId}/access/requests`, {})
      expect(await requestsSeenBy(people.owner)).toEqual([asker.email])
      expect(await requestsSeenBy(people.admin)).toEqual([asker.email])

      const owner = await signIn(people.owner)
      expect((await owner.get('/servers')).html).toContain(asker.email)
      expect((await owner.get(`/servers/${server.serverId}/access`)).html).toContain(asker.email)
      expect((await (await signIn(people.named)).get('/servers')).html).not.toContain(asker.email)
      const allow = `/servers/${server.serverId}/access/requests/${asker.userId}/approval`
      expect(await browser.submit(allow, {})).toMatchObject({ status: 403 })
      expect(await owner.submit(allow, {})).toMatchObject({ status: 303 })
      expect(await knock(server.url, asker.token)).toBe(200)
      expect(await requestsSeenBy(people.owner)).toEqual([])
      expect((await owner.get('/servers')).html).not.toContain(asker.email)
      expect(await world.auditOf(people.owner.organizationId)).toContain('server.access_requested')
    })

    it('sends an email to an owner whose address is confirmed, and only once', async () => {
      const join = () => world.member(people.owner.organizationId, 'builder')
      const [asker, other, last] = [await join(), await join(), await join()]
      const about = () => world.smtp.received.filter(({ text }) => text.includes('asks for access'))
      const askersTold = () => about().map(({ text }) => text.split(' ', 1)[0])
      await asker.expectOk('POST', path())
      await world.db.user.update({ where: { id: people.owner.userId }, data: { emailVerifiedAt: new Date() } })
      await other.expectOk('POST', path())
      await other.expectOk('POST', path())
      // Once its email has arrived, those of the earlier requests have too.
      await last.expectOk('POST', path())
      await expect.poll(askersTold).toContain(last.email)
      expect(askersTold()).toEqual([other.email, last.email])
      const [email] = about()
      expect(email?.to).toContain(people.owner.email)
      expect(email?.text).toContain(`/servers/${server.serverId}/access`)
      for (const { userId } of [asker, other, last]) await people.owner.expectOk('DELETE', `${path()}/${userId}`)
    })

    it('forgets a request that is declined, and one that another way of access answers', async () => {
      const asker = await world.member(people.owner.organizationId, 'viewer')
      await asker.expectOk('POST', path())
      await people.admin.expectOk('DELETE', `${path()}/${asker.userId}`)
      expect(await requestsSeenBy(people.owner)).toEqual([])
      expect(await knock(server.url, asker.token)).toBe(403)
      await asker.expectOk('POST', path())
      const allowedUsers = [people.named.userId, asker.userId]
      await people.owner.expectOk('PATCH', `/servers/${server.serverId}`, { allowedUsers })
      expect(await requestsSeenBy(people.owner)).toEqual([])
      await people.owner.expectOk('PATCH', `/servers/${server.serverId}`, { allowedUsers: [people.named.userId] })
    })

    it('accepts requests only from members who cannot use it', async () => {
      expect(await statusOf(people.named, 'POST', path())).toBe(409)
      expect(await statusOf(people.stranger, 'POST', path())).toBe(404)
      const open = await people.owner.create('/servers', { name: 'Open', access: 'organization' })
      expect(await statusOf(people.builder, 'POST', `/servers/${open.id}/access-requests`)).toBe(409)
    })

    it('forgets the requests of a member who leaves the organization', async () => {
      const asker = await world.member(people.owner.organizationId, 'builder')
      await asker.expectOk('POST', path())
      const { organizationId } = people.owner
      await people.owner.expectOk('DELETE', `/organizations/${organizationId}/members/${asker.userId}`)
      expect(await requestsSeenBy(people.owner)).toEqual([])
    })
  })

  it('asks its owner after the upgrade whether the organization may use it, until they answer', async () => {
    const { owner, admin } = people
    const ids: string[] = []
    for (const name of ['Shared before', 'Kept private']) ids.push((await owner.create('/servers', { name })).id)
    const [shared = '', kept = ''] = ids
    // As the migration does.
    await world.db.server.updateMany({ where: { id: { in: ids } }, data: { tierNoticeAt: new Date() } })
    const browser = await signIn(owner)
    const noticesOf = (html: string) => ids.filter(id => html.includes(`action="/servers/${id}/access/tier"`))
    expect(noticesOf((await browser.get('/servers')).html).sort()).toEqual([...ids].sort())
    expect(noticesOf((await (await signIn(admin)).get('/servers')).html)).toEqual([])
    expect((await browser.get(`/servers/${shared}`)).html).toContain(`action="/servers/${shared}/access/tier"`)
    await browser.submit(`/servers/${shared}/access/tier`, { access: 'organization' })
    expect(await knock(`${world.origin}/s/${shared}`, people.builder.token)).toBe(200)
    await browser.submit(`/servers/${kept}/access/tier`, { access: 'private' })
    expect(noticesOf((await browser.get('/servers')).html)).toEqual([])
    expect(await knock(`${world.origin}/s/${kept}`, people.builder.token)).toBe(403)
  })
})
