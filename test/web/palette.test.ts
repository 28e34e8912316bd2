import { describe, expect, it } from 'vitest'
import { sourceOf } from '../../src/upstreams/catalogue/catalogue.ts'
import { findUpstreamOfAnybody } from '../../src/upstreams/upstreams.store.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

const ORDERS = 'https://api.example.com/orders'
const toolNamed = (name: string) => ({ name, method: 'GET', url: ORDERS })

type Group = { title: string; items: { href: string; text: string; note: string }[] }

const withoutTags = (html: string): string => html.replaceAll(/<[^>]+>/g, '').trim()

/** Reads the groups of the palette's options. */
const groupsIn = (html: string): Group[] =>
  html
    .split('<div role="group"')
    .slice(1)
    .map(group => ({
      title: /role="presentation"[^>]*>([^<]*)/.exec(group)?.[1] ?? '',
      items: [...group.matchAll(/<a role="option"[^>]* href="([^"]*)">(.*?)<small>(.*?)<\/small>/gs)].map(
        ([, href = '', text = '', note = '']) => ({ href, text: withoutTags(text), note: withoutTags(note) }),
      ),
    }))

describe.each(databasesOfRun)('the palette on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const makePerson = async () => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    const search = async (q: string): Promise<Group[]> => {
      const { status, html } = await browser.get(`/search/options?${new URLSearchParams({ q })}`)
      expect(status).toBe(200)
      return groupsIn(html)
    }
    const find = async (q: string, title: string) => (await search(q)).find(group => group.title === title)?.items
    return { api, browser, search, find }
  }

  it('finds servers, their tools, tools, toolkits, MCP servers and members by part of their name', async () => {
    const { api, find } = await makePerson()
    const { serverId, toolkitId, instanceIds } = await makeServer(api, [toolNamed('list_orders')], {
      server: { name: 'Order desk' },
    })
    await api.create(`/servers/${serverId}/upstreams`, {
      name: 'order-archive',
      transport: 'http',
      url: 'https://mcp.example.com/mcp',
    })
    expect(await find('order d', 'Servers')).toMatchObject([{ href: `/servers/${serverId}`, text: 'Order desk' }])
    expect(await find('LIST_O', 'Tools of servers')).toEqual([
      { href: `/servers/${serverId}/tools/${instanceIds.list_orders}`, text: 'list_orders', note: 'Order desk' },
    ])
    expect(await find('t_orders', 'Tools')).toMatchObject([{ text: 'list_orders' }])
    expect(await find('archive', 'MCP servers')).toMatchObject([{ text: 'order-archive', note: 'Order desk' }])
    const toolkit = await patchbay.db.toolkit.update({ where: { id: toolkitId }, data: { title: 'Orders API' } })
    expect(await find('orders a', 'Toolkits')).toMatchObject([{ href: `/toolkits/${toolkit.id}`, text: 'Orders API' }])
    expect(await find(`@${api.email.slice(0, 8)}`, 'Members')).toMatchObject([{ text: api.email }])
  })

  it('finds tools of MCP servers by the name that clients see, for those who may use the server', async () => {
    const { api, find } = await makePerson()
    const { serverId } = await makeServer(api, [], { server: { name: 'Yard desk', access: 'private' } })
    const attach = async (name: string, tools: readonly string[], more: object = {}) => {
      const config = { name, transport: 'http', url: 'https://mcp.example.com/mcp', ...more }
      const { id } = await api.create(`/servers/${serverId}/upstreams`, config)
      const upstream = await findUpstreamOfAnybody(patchbay.db, id)
      const empty = { serverInfo: {}, capabilities: {}, resources: [], resourceTemplates: [], prompts: [], flags: [] }
      const items = tools.map(tool => ({ name: tool, declared: { name: tool } }))
      const content = JSON.stringify({ ...empty, tools: items })
      const source = upstream === undefined ? '' : sourceOf(upstream)
      const stored = { source, hash: content, content, fetchedAt: new Date() }
      await patchbay.db.upstreamCatalogue.create({ data: { upstreamId: id, ...stored } })
      return `/servers/${serverId}/sources/upstreams/${id}`
    }
    const yard = await attach('yard', ['open_gate', 'close gate', 'secret_gate'], { deny: ['secret_*'] })
    await attach('off', ['open_gate'], { enabled: false })
    const many = Array.from({ length: 9 }, (_, index) => `ramp_${index}`)
    await attach('ramps', many, { prefix: 'gate' })
    expect(await find('yard_OPEN', 'Tools of MCP servers')).toEqual([
      { href: `${yard}/tool?name=open_gate`, text: 'yard_open_gate', note: 'yard, Yard desk' },
    ])
    expect(await find('yard_close', 'Tools of MCP servers')).toMatchObject([{ href: `${yard}/tool?name=close+gate` }])
    const first = ['gate_ramp_0', 'gate_ramp_1', 'gate_ramp_2', 'gate_ramp_3', 'gate_ramp_4']
    expect((await find('gate', 'Tools of MCP servers'))?.map(({ text }) => text)).toEqual(first)
    expect(await find('secret_gate', 'Tools of MCP servers')).toBeUndefined()

    const viewer = await makePerson()
    const { organizationId } = await patchbay.db.server.findUniqueOrThrow({ where: { id: serverId } })
    await patchbay.db.membership.create({ data: { organizationId, userId: viewer.api.userId, role: 'viewer' } })
    expect(await viewer.find('open_gate', 'Tools of MCP servers')).toBeUndefined()
    await patchbay.db.server.update({ where: { id: serverId }, data: { access: 'organization' } })
    const [found] = (await viewer.find('open_gate', 'Tools of MCP servers')) ?? []
    expect(found?.href).toBe(`${yard}?q=open_gate`)
    expect((await viewer.browser.get(found?.href ?? '')).html).toContain('yard_open_gate')
    await patchbay.db.server.update({ where: { id: serverId }, data: { presentation: 'passthrough' } })
    expect(await find('open_gate', 'Tools of MCP servers')).toBeUndefined()
  })

  it('lists names that start with the text before those that contain it, however many there are', async () => {
    const { api, find } = await makePerson()
    const names = [...Array.from({ length: 20 }, (_, index) => `a_ship_${index + 10}`), 'ship_late', 'ship_early']
    await makeServer(api, names.map(toolNamed))
    const found = await find('ship', 'Tools')
    expect(found?.map(({ text }) => text)).toEqual(['ship_early', 'ship_late', 'a_ship_10', 'a_ship_11', 'a_ship_12'])
  })

  it('offers pages and actions that the user may use, and what can be done with the tool that was found', async () => {
    const { api, find, search } = await makePerson()
    const { serverId } = await makeServer(api, [toolNamed('list_orders')], { server: { name: 'Desk' } })
    expect((await search('')).map(({ title }) => title)).toEqual(['Actions', 'Pages'])
    expect(await find('>new s', 'Actions')).toEqual([{ href: '/servers/new', text: 'New server', note: '' }])
    expect(await find('invita', 'Pages')).toMatchObject([{ text: 'Invitations' }])
    expect(await find('list_orders', 'Actions')).toEqual([
      { href: `/servers/${serverId}/inspector?tool=list_orders`, text: 'Try list_orders', note: 'Desk' },
      { href: `/servers/${serverId}/history?tool=list_orders`, text: 'Calls of list_orders', note: 'Desk' },
    ])
    const viewer = await makePerson()
    await patchbay.db.membership.updateMany({ where: { userId: viewer.api.userId }, data: { role: 'viewer' } })
    expect(await viewer.find('invit', 'Pages')).toBeUndefined()
    expect(await viewer.find('>new s', 'Actions')).toBeUndefined()
  })

  it('finds nothing of other organizations, and nothing of a private server that the user may not use', async () => {
    const { api } = await makePerson()
    const reader = await makePerson()
    const { serverId } = await makeServer(api, [toolNamed('hidden_tool')], {
      server: { name: 'Hidden desk', access: 'private' },
    })
    await api.create(`/servers/${serverId}/upstreams`, {
      name: 'hidden-archive',
      transport: 'http',
      url: 'https://mcp.example.com/mcp',
    })
    expect(await reader.search('hidden')).toEqual([])
    expect(await reader.search(`@${api.email}`)).toEqual([])
    const { organizationId } = await patchbay.db.server.findUniqueOrThrow({ where: { id: serverId } })
    await patchbay.db.membership.create({ data: { organizationId, userId: reader.api.userId, role: 'builder' } })
    // Tools of toolkits are open to all members.
    expect((await reader.search('hidden')).map(({ title }) => title)).toEqual(['Tools'])
    await patchbay.db.server.update({ where: { id: serverId }, data: { access: 'organization' } })
    expect((await reader.search('hidden')).map(({ title }) => title)).toEqual([
      'Servers',
      'Tools of servers',
      'Tools',
      'MCP servers',
      'Actions',
    ])
  })

  it('marks the match, and shows names as text', async () => {
    const { api, browser } = await makePerson()
    await api.create('/servers', { name: '<b>Desk</b> & yard' })
    const { html } = await browser.get('/search?q=desk')
    expect(html).toContain('<bdi>&lt;b&gt;<mark>Desk</mark>&lt;/b&gt; &amp; yard</bdi>')
    expect((await browser.get('/search?q=zzzz')).html).toContain('Nothing matches your search.')
  })

  it('reads a bounded number of rows with two thousand tools', async () => {
    const { api, search } = await makePerson()
    const { toolkitId } = await makeServer(api, [toolNamed('first_tool')])
    const definition = (await patchbay.db.tool.findFirstOrThrow({ where: { toolkitId } })).definition
    await patchbay.db.tool.createMany({
      data: Array.from({ length: 2_000 }, (_, index) => ({
        toolkitId,
        name: `many_${index}`,
        definition: JSON.parse(JSON.stringify(definition)),
      })),
    })
    expect((await search('many')).flatMap(({ items }) => items)).toHaveLength(5)
  })
})
