import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Role } from '../../src/lib/kernel/roles.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { inputsOf } from '../support/page-browser.ts'
import { type SignedInBrowser, signInToPages, textOf } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `"><script>alert(1)</script>'<%= 1 %>{{x}}`
const GET_TOOL = { method: 'GET', url: 'https://api.example.com/' }

type Person = Awaited<ReturnType<typeof signUp>> & { browser: SignedInBrowser }

describe('the pages of toolkits', () => {
  const patchbay = runPatchbay()
  let ada: Person
  let organizationId: string

  const person = async (): Promise<Person> => {
    const api = await signUp(patchbay.origin)
    return { ...api, browser: await signInToPages(patchbay.origin, api.email) }
  }
  const member = async (role: Role): Promise<Person> => {
    const one = await person()
    await patchbay.services.db.membership.create({ data: { organizationId, userId: one.userId, role } })
    return one
  }
  const makeToolkit = (api: ApiClient, title: string, more: object = {}) =>
    api.create('/toolkits', { title, ...(api === ada ? { organizationId } : {}), ...more })

  beforeAll(async () => {
    ada = await person()
    const { db } = patchbay.services
    organizationId = (await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })).organizationId
  })

  it('show one button if there is no toolkit yet', async () => {
    const { browser } = await person()
    const { html } = await browser.get('/toolkits')
    expect(html).toContain('No toolkits yet')
    expect(html).toContain('href="/toolkits/new"')
  })

  it('create a toolkit, keep the input if it is rejected, and escape markup', async () => {
    const { browser } = await person()
    await browser.get('/toolkits/new')
    const refused = await browser.submit('/toolkits/new', { title: ' ', description: HOSTILE, visibility: 'secret' })
    expect(refused.status).toBe(400)
    expect(refused.html).toMatch(/id="title-error">.*The title is empty\./)
    expect(refused.html).toMatch(/id="visibility-error">.*The visibility must be private or public\./)
    expect(refused.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(refused.html).not.toContain('<script>alert')

    const long = await browser.submit('/toolkits/new', { title: 'x'.repeat(201), visibility: 'private' })
    expect(long.html).toContain('The title is longer than 200 characters.')
    const made = await browser.submit('/toolkits/new', { title: HOSTILE, description: 'a\r\nb', visibility: 'public' })
    expect(made.status).toBe(303)
    const page = await browser.get(made.location ?? '')
    expect(page.html).toContain('Toolkit created.')
    expect(page.html).toContain('a\nb')
    expect(page.html).not.toContain('<script>alert')
    expect((await browser.get('/toolkits')).html).not.toContain('<script>alert')
    expect((await browser.get(made.location?.replace(/\?.*/, '/removal') ?? '')).html).not.toContain('<script>alert')
  })

  it('show which servers use a toolkit and each of its tools', async () => {
    const tools = [
      { ...GET_TOOL, name: 'used' },
      { ...GET_TOOL, name: 'too' },
    ]
    const { toolkitId, serverId } = await makeServer(ada, tools, { server: { name: 'Night desk' } })
    await ada.create(`/toolkits/${toolkitId}/tools`, { ...GET_TOOL, name: 'idle' })
    const { html } = await ada.browser.get(`/toolkits/${toolkitId}`)
    const rows = new Map(
      [...html.matchAll(/<tr><td data-pick>.*?<code>(\w+)<\/code>(.*?)<\/tr>/gs)].map(([, a, b]) => [a, b]),
    )
    expect(rows.get('used')).toContain(`href="/servers/${serverId}"`)
    expect(rows.get('idle')).toContain('no server')
    expect(textOf((await ada.browser.get('/toolkits')).html)).toContain('Used by Night desk')
  })

  it('find one tool among thousands by paging and searching, within the page’s row limit', async () => {
    const { id } = await makeToolkit(ada, 'Large')
    const definition = { ...GET_TOOL, headers: [], parameters: {} }
    await patchbay.services.db.tool.createMany({
      data: Array.from({ length: 2_000 }, (_, index) => ({
        toolkitId: id,
        name: `tool_${String(index).padStart(4, '0')}`,
        description: index === 1_234 ? 'Weighs a Parcel' : null,
        definition,
      })),
    })
    const namesIn = (html: string) => [...html.matchAll(/<code>(tool_\d+)<\/code>/g)].map(([, name]) => name)
    const nextIn = (html: string) => /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    const seen: (string | undefined)[] = []
    for (let path: string | undefined = `/toolkits/${id}`; path !== undefined; ) {
      const { html } = await ada.browser.get(path)
      const names = namesIn(html)
      expect(names.length).toBeLessThanOrEqual(100)
      seen.push(...names)
      path = nextIn(html)
    }
    expect(seen).toHaveLength(2_000)
    expect(new Set(seen).size).toBe(2_000)
    expect(seen).toEqual(seen.toSorted())

    const found = await ada.browser.get(`/toolkits/${id}?q=parcel`)
    expect(namesIn(found.html)).toEqual(['tool_1234'])
    const paged = await ada.browser.get(`/toolkits/${id}?q=TOOL_1`)
    expect(nextIn(paged.html)).toContain('q=TOOL_1')
    expect((await ada.browser.get(`/toolkits/${id}?q=nothing`)).html).toContain('No tool matches your search')
  })

  it('show the second of two editors what the first saved, and save theirs after that', async () => {
    const bob = await member('builder')
    const { id } = await makeToolkit(ada, 'Carrier', { description: 'Old' })
    const path = `/toolkits/${id}/edit`
    const version = inputsOf((await ada.browser.get(path)).html).get('version') ?? ''
    await bob.browser.get(path)
    // Changing tools does not conflict with editing the title.
    await ada.create(`/toolkits/${id}/tools`, { ...GET_TOOL, name: 'meanwhile' })
    const first = { title: 'Carrier API', description: 'Of ada', visibility: 'private', version }
    expect(await ada.browser.submit(path, first)).toMatchObject({ status: 303, location: `/toolkits/${id}?done=saved` })

    const second = { title: 'Carriers', description: 'Of bob', visibility: 'public', version }
    const refused = await bob.browser.submit(path, second)
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('Somebody else has changed this toolkit')
    expect(textOf(refused.html)).toMatch(/Saved.*Carriers.*Carrier API.*Of bob.*Of ada/)
    expect(inputsOf(refused.html).get('title')).toBe('Carriers')
    expect(await ada.send('GET', `/toolkits/${id}`)).toMatchObject({ body: { title: 'Carrier API' } })

    const seen = inputsOf(refused.html).get('version') ?? ''
    expect((await bob.browser.submit(path, { ...second, version: seen })).status).toBe(303)
    expect(await ada.send('GET', `/toolkits/${id}`)).toMatchObject({
      body: { title: 'Carriers', description: 'Of bob' },
    })
  })

  it('delete a toolkit after its name is entered, but not while servers use it', async () => {
    const { toolkitId, serverId } = await makeServer(ada, [], { server: { name: 'Yard' } })
    const used = await ada.browser.get(`/toolkits/${toolkitId}/removal`)
    expect(used.html).toContain(`href="/servers/${serverId}/sources"`)
    expect(used.html).not.toContain('name="sure"')
    const forced = await ada.browser.submit(`/toolkits/${toolkitId}/removal`, { sure: 'Toolkit' })
    expect(forced.status).toBe(409)
    expect(forced.html).toContain('&quot;Yard&quot;')

    const { id } = await makeToolkit(ada, 'Two  words')
    await ada.browser.get(`/toolkits/${id}/removal`)
    const wrong = await ada.browser.submit(`/toolkits/${id}/removal`, { sure: 'two words' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('The name is not Two words.')
    const done = await ada.browser.submit(`/toolkits/${id}/removal`, { sure: ' Two words ' })
    expect(done).toMatchObject({ status: 303, location: '/toolkits?done=removed' })
    expect((await ada.browser.get(`/toolkits/${id}`)).status).toBe(404)
  })

  it('show a viewer no buttons they may not use, and reject their requests', async () => {
    const eve = await member('viewer')
    await patchbay.services.db.membership.deleteMany({ where: { userId: eve.userId, role: 'owner' } })
    const { id } = await makeToolkit(ada, 'To look at')
    await ada.create(`/toolkits/${id}/tools`, { ...GET_TOOL, name: 'one' })
    const { html } = await eve.browser.get(`/toolkits/${id}`)
    for (const button of ['/tools/new', '/edit', '/removal'])
      expect(html).not.toContain(`href="/toolkits/${id}${button}"`)
    expect((await eve.browser.get('/toolkits')).html).not.toContain('href="/toolkits/new"')
    const forbidden = [await eve.browser.get('/toolkits/new'), await eve.browser.get(`/toolkits/${id}/edit`)]
    await eve.browser.get('/toolkits')
    const sent = await eve.browser.submit(`/toolkits/${id}/removal`, { sure: 'To look at' })
    expect([...forbidden, sent].map(({ status }) => status)).toEqual([403, 403, 403])
  })

  it('hide private toolkits of other organizations, and list public ones in the gallery', async () => {
    const zoe = await person()
    const closed = await makeToolkit(ada, 'Closed')
    const open = await makeToolkit(ada, 'Open', { visibility: 'public' })
    expect((await zoe.browser.get(`/toolkits/${closed.id}`)).status).toBe(404)
    expect(await zoe.browser.get(`/toolkits/${open.id}`)).toMatchObject({
      status: 303,
      location: `/gallery/${open.id}`,
    })
    for (const page of ['edit', 'removal']) {
      expect((await zoe.browser.get(`/toolkits/${open.id}/${page}`)).status).toBe(404)
    }
    expect(textOf((await zoe.browser.get('/toolkits?q=o')).html)).not.toContain('Closed')
  })

  it('ask builders of several organizations for one, show it on the cards, and transfer a toolkit', async () => {
    const bob = await member('admin')
    const own = await patchbay.services.db.membership.findFirstOrThrow({
      where: { userId: bob.userId, organizationId: { not: organizationId } },
    })
    await patchbay.services.db.organization.update({ where: { id: own.organizationId }, data: { name: 'Bob & Sons' } })
    const form = await bob.browser.get('/toolkits/new')
    expect(form.html).toContain('Bob &amp; Sons</option>')
    const wish = { title: 'To move', visibility: 'private', organizationId: own.organizationId }
    const { location = '' } = await bob.browser.submit('/toolkits/new', wish)
    const path = location.replace(/\?.*/, '')
    expect(textOf((await bob.browser.get('/toolkits?q=to+move')).html)).toContain('Bob &amp; Sons')
    expect((await ada.browser.get(path)).status).toBe(404)
    await bob.browser.get(`${path}/edit`)
    expect((await bob.browser.submit(`${path}/transfer`, { organizationId: 'none' })).status).toBe(400)
    expect((await bob.browser.submit(`${path}/transfer`, { organizationId })).status).toBe(303)
    expect((await ada.browser.get(path)).status).toBe(200)
  })
})

describe.each(databasesOfRun)('the search of toolkits on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  it('ignores case, covers the description, and has further pages', async () => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    await api.create('/toolkits', { title: 'Carrier API' })
    await api.create('/toolkits', { title: 'Other', description: 'Not the CARRIER, but ours' })
    await api.create('/toolkits', { title: '50% off' })
    for (let count = 0; count < 61; count++) await api.create('/toolkits', { title: `Filler ${count}` })
    const titlesAt = async (path: string) =>
      [...(await browser.get(path)).html.matchAll(/<h2><a href="\/toolkits\/[^"]+">([^<]*)</g)].map(
        ([, title]) => title,
      )
    expect(await titlesAt('/toolkits?q=carrier')).toEqual(['Carrier API', 'Other'])
    expect(await titlesAt('/toolkits?q=50%25+o')).toEqual(['50% off'])
    expect(await titlesAt('/toolkits?q=no+such')).toEqual([])
    expect(await titlesAt('/toolkits')).toHaveLength(60)
    const { html } = await browser.get('/toolkits?q=FILLER')
    const next = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(await titlesAt(next)).toEqual(['Filler 60'])
    expect((await browser.get('/toolkits?cursor=nonsense')).status).toBe(400)
  })
})
