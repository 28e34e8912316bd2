import { describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { freePort } from '../support/free-port.ts'
import type { PageResponse } from '../support/page-browser.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const HOSTILE = `"><script>alert(1)</script>'<%= 1 %>{{7*7}}&amp;`
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&lt;%= 1 %&gt;{{7*7}}&amp;amp;'

const namesOf = ({ html }: PageResponse): string[] =>
  [...html.matchAll(/<h2><a href="\/servers\/[^"]+"><bdi>([^<]*)<\/bdi>/g)].map(([, name = '']) => name)
const nextOf = ({ html }: PageResponse): string | undefined =>
  /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')

describe.each(databasesOfRun)('the server list on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()

  const makePerson = async () => {
    const api = await signUp(patchbay.origin)
    return { api, browser: await signInToPages(patchbay.origin, api.email) }
  }
  const join = async (userId: string, role: 'viewer' | 'builder', name = 'Elsewhere') => {
    const { db } = patchbay.services
    const organization = await db.organization.create({
      data: { name, memberships: { create: { userId, role } } },
    })
    return organization.id
  }

  it('shows a card for each server with name, tier, address, tools, calls and failed calls of the last day', async () => {
    const { api, browser } = await makePerson()
    const closed = `http://127.0.0.1:${await freePort()}`
    const made = await makeServer(
      api,
      [fake.origin, fake.origin, closed, closed].map((origin, index) => {
        const name = 'abcd'.charAt(index)
        return { name, method: 'GET', url: `${origin}/${name}?q={{integer:q?}}` }
      }),
      { server: { name: 'Weather desk', description: 'Rain and shine', access: 'organization' } },
    )
    const call = (name: string, args: object) =>
      api.send('POST', `/instances/${made.instanceIds[name]}/call`, { arguments: args })
    await call('a', { q: 1 })
    // A rejected call does not make its tool count as failing.
    await call('b', { q: 'not a number' })
    await call('c', {})
    await patchbay.services.recorder.flush()
    const { html } = await browser.get('/servers')
    expect(html).toContain('1 server, 4 tools, 3 calls in the last 24 hours.')
    expect(html).toContain('Rain and shine')
    expect(html).toContain(`value="${patchbay.settings.baseUrl}/s/${made.serverId}"`)
    expect(html).toContain('4 tools: 2 called today, 1 failing, 1 not called')
    expect(html).toContain('1 failing</span>')
    expect(html).toMatch(/<dt>Calls, last 24 h<\/dt><dd>3 /)
    expect(html).toMatch(/<dt>Failed<\/dt><dd data-state="failed">1</)
  })

  it('shows on the card that an MCP server is unreachable', async () => {
    const { api, browser } = await makePerson()
    const { id } = await api.create('/servers', { name: 'Halves' })
    const upstream = await api.create(`/servers/${id}/upstreams`, {
      name: 'gone',
      transport: 'http',
      url: `http://127.0.0.1:${await freePort()}/mcp`,
    })
    expect((await browser.get('/servers')).html).toContain('no tools</span>')
    await api.send('POST', `/upstreams/${upstream.id}/refresh`)
    expect((await browser.get('/servers')).html).toContain('1 MCP server down</span>')
  })

  it('shows the newest servers first, page by page, and the results of a search', async () => {
    const { api, browser } = await makePerson()
    const names = Array.from({ length: 30 }, (_, index) => `Desk number ${index}`)
    for (const name of names) await api.create('/servers', { name })
    const first = await browser.get('/servers')
    expect(namesOf(first)).toEqual(names.slice(18).reverse())
    const second = await browser.get(nextOf(first) ?? '')
    expect(namesOf(second)).toEqual(names.slice(6, 18).reverse())
    const third = await browser.get(nextOf(second) ?? '')
    expect(namesOf(third)).toEqual(names.slice(0, 6).reverse())
    expect(nextOf(third)).toBeUndefined()
    expect(namesOf(await browser.get('/servers?q=NUMBER+17'))).toEqual(['Desk number 17'])
    const { id } = await api.create('/servers', { name: 'Other', description: 'the yellow one' })
    expect(namesOf(await browser.get('/servers?q=Yellow'))).toEqual(['Other'])
    expect(namesOf(await browser.get(`/servers?q=${id}`))).toEqual(['Other'])
    const many = await browser.get('/servers?q=desk')
    expect(namesOf(many)).toHaveLength(12)
    expect(namesOf(await browser.get(nextOf(many) ?? ''))).toHaveLength(12)
    expect((await browser.get('/servers?q=nowhere')).html).toContain('No servers found')
    expect((await browser.get('/servers?cursor=nonsense')).status).toBe(400)
  })

  it('does not show servers of other users at any URL', async () => {
    const { api } = await makePerson()
    const { id } = await api.create('/servers', { name: 'Mine alone', access: 'public' })
    const { browser } = await makePerson()
    for (const path of ['/servers', '/servers?q=alone', `/servers?q=${id}`]) {
      expect((await browser.get(path)).html).not.toContain('Mine alone')
    }
    const foreign = await browser.get(`/servers/${id}`)
    const absent = await browser.get('/servers/11111111-1111-4111-8111-111111111111')
    expect([foreign.status, absent.status, (await browser.get('/servers/x')).status]).toEqual([404, 404, 404])
    expect(foreign.html).not.toContain('Mine alone')
  })

  it('escapes every name', async () => {
    const { api, browser } = await makePerson()
    const { id } = await api.create('/servers', { name: HOSTILE, description: HOSTILE })
    for (const path of ['/servers', `/servers/${id}`, `/servers?q=${encodeURIComponent('"><script>')}`]) {
      const { html, status } = await browser.get(path)
      expect(status).toBe(200)
      expect(html).toContain(ESCAPED)
      expect(html).not.toContain('<script>alert')
    }
  })

  it('creates a server and shows it immediately, without asking for its address', async () => {
    const { browser } = await makePerson()
    expect((await browser.get('/servers/new')).html).not.toContain('name="organizationId"')
    const made = await browser.submit('/servers/new', { name: ' Desk ', description: '', access: 'public' })
    expect(made).toMatchObject({ status: 303 })
    expect(made.location).toMatch(/^\/servers\/[0-9a-f-]{36}\?done=made$/)
    const { html } = await browser.get(made.location ?? '')
    expect(html).toContain('<h1>Desk</h1>')
    expect(html).toContain('Server created. Add a tool next.')
    expect(html).not.toContain('Waiting for the first call')
  })

  it('keeps the input of a rejected form and shows an error next to the field', async () => {
    const { browser } = await makePerson()
    await browser.get('/servers/new')
    const empty = await browser.submit('/servers/new', { name: ' ', description: HOSTILE, access: 'organization' })
    expect(empty.status).toBe(400)
    expect(empty.html).toMatch(/id="name-error".*The name /s)
    expect(empty.html).toContain(ESCAPED)
    expect(empty.html).toMatch(/value="organization" checked/)
    const long = await browser.submit('/servers/new', { name: 'x'.repeat(201), description: '', access: 'private' })
    expect(long.status).toBe(400)
    expect(long.html).toContain(`value="${'x'.repeat(201)}"`)
    const wrong = await browser.submit('/servers/new', { name: 'Desk', description: '', access: 'everybody' })
    expect(wrong.html).toMatch(/id="access-error".*The tier /s)
    expect(await browser.submit('/servers/new', { name: 'Desk', access: 'public', _csrf: 'forged' })).toMatchObject({
      status: 403,
    })
  })

  it('asks for the organization only if the user can build in several', async () => {
    const { api, browser } = await makePerson()
    const built = await join(api.userId, 'builder', 'Built in')
    const seen = await join(api.userId, 'viewer', 'Seen only')
    const { html } = await browser.get('/servers/new')
    expect(html).toContain(`<option value="${built}">Built in</option>`)
    expect(html).not.toContain('Seen only')
    const form = { name: 'Desk', description: '', access: 'private' }
    expect((await browser.submit('/servers/new', { ...form, organizationId: seen })).status).toBe(403)
    const foreign = await browser.submit('/servers/new', { ...form, organizationId: await join(api.userId, 'viewer') })
    expect(foreign.status).toBe(403)
    const made = await browser.submit('/servers/new', { ...form, organizationId: built })
    expect(made.status).toBe(303)
    expect((await browser.get('/servers')).html).toContain('<p>Built in</p>')
  })

  it('does not let viewers create a server', async () => {
    const { api, browser } = await makePerson()
    await patchbay.services.db.membership.updateMany({ where: { userId: api.userId }, data: { role: 'viewer' } })
    const { html } = await browser.get('/servers')
    expect(html).not.toContain('href="/servers/new"')
    expect(html).toContain('Nothing is plugged in yet')
    expect((await browser.get('/servers/new')).status).toBe(403)
    expect((await browser.submit('/servers/sample', {})).status).toBe(403)
  })

  it('creates the sample server for users without an API at hand', async () => {
    const { browser } = await makePerson()
    await browser.get('/servers')
    const made = await browser.submit('/servers/sample', {})
    expect(made).toMatchObject({ status: 303 })
    const { html } = await browser.get(made.location ?? '')
    expect(html).toContain('Sample API added with four tools.')
    expect(html).toContain('convert_currency')
    expect(html).toContain('Waiting for the first call')
  })
})
