import { describe, expect, it } from 'vitest'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { inputsOf, unescapeHtml } from '../support/page-browser.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

const API = 'https://api.example.com/'
const tool = (name: string, url = API) => ({ name, method: 'GET', url })
const selecting = (ids: readonly (string | undefined)[]): string => `?${ids.map(id => `tool=${id}`).join('&')}`

/** Returns the names in the table of tools, in order. The suggestions below it have tables of their own. */
const namesIn = (html: string): string[] =>
  [
    ...(html.split('id="catalogue"')[0] ?? '').matchAll(/<th scope="row" class="wrap"><a href="[^"]*"><code>([^<]*)</g),
  ].map(([, name = '']) => name)
/** Returns the address that a header links to. */
const headerIn = (html: string, text: string): string =>
  unescapeHtml(new RegExp(`<a href="([^"]*)">${text}</a></th>`).exec(html)?.[1] ?? '')

describe('the tables of tools', () => {
  const patchbay = runPatchbay()

  const makePerson = async () => {
    const api = await signUp(patchbay.origin)
    return { api, browser: await signInToPages(patchbay.origin, api.email) }
  }
  const makeToolkit = async (api: ApiClient, title: string, names: readonly string[], more: object = {}) => {
    const { id } = await api.create('/toolkits', { title, ...more })
    const tools = new Map<string, string>()
    for (const name of names) tools.set(name, (await api.create(`/toolkits/${id}/tools`, tool(name))).id)
    return { id, tools, path: `/toolkits/${id}` }
  }
  const joinAsViewer = async (userId: string) => {
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId } })
    const viewer = await makePerson()
    await db.membership.create({ data: { organizationId, userId: viewer.api.userId, role: 'viewer' } })
    return viewer
  }

  it('sort a server’s tools by the column whose header is clicked, also in a search', async () => {
    const { api, browser } = await makePerson()
    const { serverId } = await makeServer(api, [
      tool('alpha', `${API}{{a}}/{{b}}`),
      tool('beta'),
      tool('gamma', `${API}{{a}}`),
    ])
    const path = `/servers/${serverId}/tools`
    const first = (await browser.get(path)).html
    expect(namesIn(first)).toEqual(['alpha', 'beta', 'gamma'])
    expect(first).toContain('<th scope="col" aria-sort="ascending">')
    const byParameters = headerIn(first, 'From the model')
    const sorted = (await browser.get(byParameters)).html
    expect(namesIn(sorted)).toEqual(['alpha', 'gamma', 'beta'])
    expect(sorted).toContain('data-align="end" aria-sort="descending">')
    expect(namesIn((await browser.get(headerIn(sorted, 'From the model'))).html)).toEqual(['beta', 'gamma', 'alpha'])
    // The search keeps the order, in a field of its form.
    expect(inputsOf(sorted).get('sort')).toBe('-model')
    const found = (await browser.get(`${path}?q=a&sort=-tool`)).html
    expect(namesIn(found)).toEqual(['gamma', 'beta', 'alpha'])
    expect(headerIn(found, 'Toolkit')).toBe(`${path}?q=a&sort=toolkit`)
  })

  it('keep the order from page to page', async () => {
    const { api, browser } = await makePerson()
    const { id } = await api.create('/toolkits', { title: 'Large' })
    await patchbay.services.db.tool.createMany({
      data: Array.from({ length: 150 }, (_, index) => ({
        toolkitId: id,
        name: `tool_${index}`,
        definition: { method: 'GET', url: API, headers: [], parameters: {} },
      })),
    })
    const { html } = await browser.get(`/toolkits/${id}?sort=-name`)
    expect(namesIn(html).slice(0, 2)).toEqual(['tool_149', 'tool_148'])
    const next = unescapeHtml(/rel="next" href="([^"]*)"/.exec(html)?.[1] ?? '')
    const second = await browser.get(next)
    expect(namesIn(second.html)).toHaveLength(50)
    expect(namesIn(second.html).at(-1)).toBe('tool_0')
    expect(textOf(second.html)).toContain('101 to 150 of 150')
  })

  it('sort a toolkit’s tools by the servers that use them and by their last change', async () => {
    const { api, browser } = await makePerson()
    const { tools, path } = await makeToolkit(api, 'Sorted', ['a', 'b', 'c'])
    const { id: serverId } = await api.create('/servers', { name: 'Desk' })
    await api.create(`/servers/${serverId}/instances`, { toolId: tools.get('b'), name: 'b' })
    await api.expectOk('PATCH', `/tools/${tools.get('a')}`, { description: 'Changed last.' })
    const { html } = await browser.get(path)
    expect(namesIn((await browser.get(headerIn(html, 'Used by'))).html)).toEqual(['b', 'a', 'c'])
    expect(namesIn((await browser.get(headerIn(html, 'Last changed'))).html)).toEqual(['a', 'c', 'b'])
  })

  it('sort a toolkit’s tools by their request', async () => {
    const { api, browser } = await makePerson()
    const { id, path } = await makeToolkit(api, 'Requests', [])
    for (const [name, method, url] of [
      ['a', 'POST', `${API}orders`],
      ['b', 'GET', `${API}orders/{{id}}`],
      ['c', 'GET', `${API}depots`],
    ]) {
      await api.create(`/toolkits/${id}/tools`, { name, method, url })
    }
    const sorted = await browser.get(headerIn((await browser.get(path)).html, 'Request'))
    expect(namesIn(sorted.html)).toEqual(['c', 'b', 'a'])
    expect(namesIn((await browser.get(headerIn(sorted.html, 'Request'))).html)).toEqual(['a', 'b', 'c'])
  })

  it('remove the selected tools from a server after its name was typed, leave them in their toolkit, and restore them', async () => {
    const { api, browser } = await makePerson()
    const made = await makeServer(
      api,
      ['a', 'b', 'c'].map(name => tool(name)),
      { server: { name: 'Desk' } },
    )
    const path = `/servers/${made.serverId}/tools`
    const address = `${path}/removal${selecting([made.instanceIds.a, made.instanceIds.c, 'nonsense'])}`
    const asked = await browser.get(address)
    expect(textOf(asked.html)).toMatch(/Remove 2 tools \?.*can no longer call them.* a c /)
    const refused = await browser.submit(address, { sure: 'a' })
    expect(refused.status).toBe(400)
    const done = await browser.submit(address, { sure: 'Desk' })
    expect(done).toMatchObject({ status: 303, location: `${path}?done=removed&count=2` })
    const { html } = await browser.get(done.location ?? '')
    expect(namesIn(html)).toEqual(['b'])
    expect(textOf(html)).toContain('2 tools removed from this server')
    expect(namesIn((await browser.get(`/toolkits/${made.toolkitId}`)).html)).toEqual(['a', 'b', 'c'])

    const restored = await browser.submit(`${path}/undo`, {})
    expect(restored.location).toBe(`${path}?done=restored&count=2`)
    const after = await browser.get(restored.location ?? '')
    expect(textOf(after.html)).toContain('2 tools restored')
    expect(namesIn(after.html)).toEqual(['a', 'b', 'c'])
  })

  it('disable and enable the selected tools, stay at the same place, and count only enabled tools', async () => {
    const { api, browser } = await makePerson()
    const made = await makeServer(
      api,
      ['a', 'b', 'c'].map(name => tool(name)),
      { server: { name: 'Desk' } },
    )
    const path = `/servers/${made.serverId}/tools`
    const { html: before } = await browser.get(`${path}?q=a&sort=-tool`)
    const address = unescapeHtml(/formaction="([^"]*\/disable[^"]*)"/.exec(before)?.[1] ?? '')
    const [a = '', b = ''] = [made.instanceIds.a, made.instanceIds.b]
    const done = await browser.submit(address, { tool: [a, b, a, 'nonsense'] })
    expect(done).toMatchObject({ status: 303, location: `${path}?q=a&sort=-tool&done=disabled&count=2` })
    const { html } = await browser.get(`${path}?done=disabled&count=2`)
    expect(textOf(html)).toContain('2 tools disabled')
    expect(namesIn(html)).toEqual(['a', 'b', 'c'])
    expect(html.match(/data-state="idle">Disabled</g)).toHaveLength(2)
    expect(textOf(html)).toContain('1 tool, and 2 disabled')
    expect(html.match(/data-label="Tokens">0</g)).toHaveLength(2)
    expect(textOf((await browser.get('/servers')).html)).toMatch(/Desk.*\b1 tool\b/)
    expect((await browser.get(`/servers/${made.serverId}`)).html).toContain('GET · disabled')

    const again = await browser.submit(`${path}/enable`, { tool: b })
    expect(again.location).toBe(`${path}?done=enabled&count=1`)
    const after = textOf((await browser.get(again.location ?? '')).html)
    expect(after).toContain('Tool enabled')
    expect(after).toContain('2 tools, and 1 disabled')
  })

  it('disable nothing without a selection, and nothing of another server', async () => {
    const { api, browser } = await makePerson()
    const mine = await makeServer(api, [tool('mine')])
    const other = await makeServer(api, [tool('other')])
    const path = `/servers/${mine.serverId}/tools`
    await browser.get(path)
    const none = await browser.submit(`${path}/disable`, {})
    expect([none.status, textOf(none.html)]).toEqual([400, expect.stringContaining('No tool is selected.')])
    await browser.get(path)
    const ids = [mine.instanceIds.mine ?? '', other.instanceIds.other ?? '']
    expect((await browser.submit(`${path}/disable`, { tool: ids })).status).toBe(409)
    for (const id of ids) expect((await api.expectOk('GET', `/instances/${id}`)).body).toMatchObject({ enabled: true })
  })

  it('say that a tool is disabled on its own page, where it can be enabled again', async () => {
    const { api, browser } = await makePerson()
    const { serverId, instanceIds } = await makeServer(api, [tool('a')])
    const path = `/servers/${serverId}/tools/${instanceIds.a}`
    const enabled = (await browser.get(path)).html
    expect(enabled).not.toContain('>Disabled<')
    expect(inputsOf(enabled).get('enabled')).toBe('')
    expect((await browser.submit(`${path}/switch`, { enabled: '' })).location).toBe(`${path}?done=off`)
    const off = (await browser.get(`${path}?done=off`)).html
    expect(textOf(off)).toMatch(/ Disabled .*Tool disabled/)
    expect(textOf(off)).toContain('in every conversation once it is enabled')
    // Saving other changes leaves it disabled.
    const version = inputsOf(off).get('version') ?? ''
    expect((await browser.submit(path, { name: 'a', description: 'New', version })).status).toBe(303)
    expect((await api.expectOk('GET', `/instances/${instanceIds.a}`)).body).toMatchObject({
      description: 'New',
      enabled: false,
    })
    await browser.get(path)
    expect((await browser.submit(`${path}/switch`, { enabled: 'on' })).location).toBe(`${path}?done=on`)
    expect((await browser.get(path)).html).not.toContain('>Disabled<')
  })

  it('remove nothing without a selection, and nothing of another server', async () => {
    const { api, browser } = await makePerson()
    const mine = await makeServer(api, [tool('mine')], { server: { name: 'Mine' } })
    const other = await makeServer(api, [tool('other')], { server: { name: 'Other' } })
    const path = `/servers/${mine.serverId}/tools/removal`
    expect((await browser.get(path)).html).toContain('No tool is selected.')
    const address = `${path}${selecting([other.instanceIds.other])}`
    expect((await browser.get(address)).html).toContain('No tool is selected.')
    expect((await browser.submit(address, { sure: 'Mine' })).status).toBe(400)
    expect((await api.expectOk('GET', `/instances/${other.instanceIds.other}`)).status).toBe(200)
    const { services } = patchbay
    const actor = await services.accounts.findActorByUserId(api.userId)
    if (actor === undefined) throw new Error('no actor')
    // All or none: the first is there, the second is not.
    const ids = [mine.instanceIds.mine ?? '', other.instanceIds.other ?? '']
    await expect(services.instances.removeInstances(actor, mine.serverId, ids)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect((await api.expectOk('GET', `/instances/${mine.instanceIds.mine}`)).status).toBe(200)
  })

  it('move the selected tools to another toolkit, and servers keep them', async () => {
    const { api, browser } = await makePerson()
    const from = await makeToolkit(api, 'From', ['a', 'b', 'c'])
    const to = await makeToolkit(api, 'To', ['d'])
    const { id: serverId } = await api.create('/servers', { name: 'Desk' })
    const instance = await api.create(`/servers/${serverId}/instances`, { toolId: from.tools.get('a'), name: 'mine' })
    const address = `${from.path}/tools/move${selecting([from.tools.get('a'), from.tools.get('b')])}`
    const asked = textOf((await browser.get(address)).html)
    expect(asked).toMatch(/Move 2 tools/)
    expect(asked).toContain('Servers keep these tools, under the same names and with their bindings.')
    expect(asked).toContain('used by Desk')
    const done = await browser.submit(address, { target: to.id })
    expect(done).toMatchObject({ status: 303, location: `${to.path}?done=tools-moved&count=2` })
    expect(namesIn((await browser.get(to.path)).html)).toEqual(['a', 'b', 'd'])
    expect(namesIn((await browser.get(from.path)).html)).toEqual(['c'])
    expect((await api.expectOk('GET', `/instances/${instance.id}`)).body).toMatchObject({ name: 'mine' })
    expect(textOf((await browser.get(`/servers/${serverId}/sources`)).html)).toContain('To')
    expect(textOf((await browser.get(`/servers/${serverId}/tools`)).html)).toMatch(/mine GET a To/)
  })

  it('move none if a name is taken, and only to toolkits of the same organization', async () => {
    const { api, browser } = await makePerson()
    const from = await makeToolkit(api, 'From', ['a', 'b'])
    const to = await makeToolkit(api, 'To', ['b'])
    const stranger = await makePerson()
    const foreign = await makeToolkit(stranger.api, 'Foreign', [], { visibility: 'public' })
    const address = `${from.path}/tools/move${selecting([...from.tools.values()])}`
    expect((await browser.get(address)).html).not.toContain('Foreign')
    const taken = await browser.submit(address, { target: to.id })
    expect(taken.status).toBe(409)
    expect(unescapeHtml(taken.html)).toContain('"To" already has 1 tool with the same name: "b". Nothing was moved.')
    for (const target of [foreign.id, from.id, 'nonsense', '']) {
      expect((await browser.submit(address, { target })).status).toBeGreaterThanOrEqual(400)
    }
    expect(namesIn((await browser.get(from.path)).html)).toEqual(['a', 'b'])
    expect((await stranger.browser.get(address)).status).toBe(404)
  })

  it('delete the selected tools of a toolkit unless a server uses one of them', async () => {
    const { api, browser } = await makePerson()
    const { tools, path } = await makeToolkit(api, 'Carrier', ['a', 'b', 'c'])
    const { id: serverId } = await api.create('/servers', { name: 'Desk' })
    await api.create(`/servers/${serverId}/instances`, { toolId: tools.get('c'), name: 'c' })
    const all = `${path}/tools/removal${selecting([...tools.values()])}`
    expect(textOf((await browser.get(all)).html)).toMatch(/Remove them from the servers first: Desk uses c/)
    expect((await browser.submit(all, { sure: 'Carrier' })).status).toBe(409)
    const two = `${path}/tools/removal${selecting([tools.get('a'), tools.get('b')])}`
    expect((await browser.submit(two, { sure: '2 tools' })).status).toBe(400)
    expect((await browser.submit(two, { sure: 'Carrier' })).location).toBe(`${path}?done=tools-removed&count=2`)
    expect(namesIn((await browser.get(path)).html)).toEqual(['c'])
  })

  it('are counted the same on every page of a toolkit', async () => {
    const { api, browser } = await makePerson()
    const { path } = await makeToolkit(api, 'Counted', ['a', 'b', 'c'], { visibility: 'public' })
    const { id: serverId } = await api.create('/servers', { name: 'Desk' })
    expect(textOf((await browser.get('/toolkits?q=Counted')).html)).toMatch(/ Tools 3 /)
    expect((await browser.get(path)).html).toContain('<h2 id="tools">3 tools</h2>')
    expect(textOf((await browser.get(path.replace('toolkits', 'gallery'))).html)).toContain('3 tools')
    expect(textOf((await browser.get(`/servers/${serverId}/tools/new`)).html)).toContain('Counted, 3 tools')
  })

  it('offer viewers no selection', async () => {
    const { api } = await makePerson()
    const { serverId, toolkitId } = await makeServer(api, [tool('a')])
    const viewer = await joinAsViewer(api.userId)
    for (const path of [`/servers/${serverId}/tools`, `/toolkits/${toolkitId}`]) {
      const { html } = await viewer.browser.get(path)
      expect(namesIn(html)).toEqual(['a'])
      expect(html).not.toContain('type="checkbox"')
      expect(html).not.toContain('formaction')
    }
  })
})
