import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Actor } from '../../src/lib/kernel/actor.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { callText, connect, toolNames } from './mcp.ts'

/** Time limit for bulk operations on a busy machine. */
const BIG_MS = 60_000

describe.each(databasesOfRun)('the wiring of a server on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_MAX_TOOLS_PER_SERVER: '8' } })
  const fake = runFakeApi()
  let actor: Actor
  const ada = runUser(patchbay)
  beforeAll(async () => {
    actor = await actorOf(ada)
  })
  const actorOf = async ({ userId }: { userId: string }): Promise<Actor> => {
    const found = await patchbay.services.accounts.findActorByUserId(userId)
    if (found === undefined) throw new Error('there is no such user')
    return found
  }

  const tool = (name: string, rest: object = {}) => ({
    name,
    method: 'GET',
    url: `${fake.origin}/{{id}}?count={{integer:count?}}&key={{key?}}`,
    ...rest,
  })
  const makeDesk = async () => {
    const made = await makeServer(ada, [
      tool('track'),
      tool('quote'),
      tool('open', { url: '{{url:base}}/x?key={{key?}}' }),
    ])
    await ada.expectOk('PUT', `/servers/${made.serverId}/globals/token`, { value: 'sk-canary', secret: true })
    await ada.expectOk('PUT', `/servers/${made.serverId}/globals/desk`, { value: 'north' })
    const id = (name: string) => made.instanceIds[name] ?? ''
    const bindingsOf = async (name: string) => (await ada.expectOk('GET', `/instances/${id(name)}`)).body
    return { ...made, id, bindingsOf }
  }
  const rewiring = () => patchbay.services.rewiring

  it('binds many parameters at once, each with its type, in one change that takes effect at once', async () => {
    const { serverId, id, bindingsOf, url } = await makeDesk()
    const client = await connect(url)
    const heard: string[] = []
    patchbay.services.bus.subscribe('server_changed', event => {
      if (event.serverId === serverId) heard.push(event.type)
    })
    const sockets = ['track', 'quote'].flatMap(name =>
      ['id', 'count'].map(parameter => ({ instanceId: id(name), parameter })),
    )
    const done = await rewiring().bindMany(actor, serverId, { sockets, wanted: { source: 'fixed', text: '7' } })
    expect(done).toEqual({ sockets: 4, tools: 2 })
    expect(heard).toEqual(['server_changed'])
    const fixed = { bindings: { id: { source: 'instance', value: '7' }, count: { source: 'instance', value: 7 } } }
    expect(await bindingsOf('track')).toMatchObject(fixed)
    expect(await bindingsOf('quote')).toMatchObject(fixed)
    expect((await callText(client, 'track')).text).toContain('/7?count=7')
    const one = [{ instanceId: id('track'), parameter: 'id' }]
    await rewiring().bindMany(actor, serverId, { sockets: one, wanted: { source: 'global', key: 'desk' } })
    expect((await callText(client, 'track')).text).toContain('/north?count=7')
    await rewiring().bindMany(actor, serverId, { sockets: one, wanted: { source: 'exposed' } })
    expect(await bindingsOf('track')).toMatchObject({ inputSchema: { required: ['id'] } })
  })

  it('changes nothing if one of many bindings is invalid, and names the invalid ones', async () => {
    const { serverId, id, bindingsOf } = await makeDesk()
    const before = await Promise.all(['track', 'quote', 'open'].map(bindingsOf))
    const all = [
      { instanceId: id('track'), parameter: 'id' },
      { instanceId: id('track'), parameter: 'count' },
      { instanceId: id('quote'), parameter: 'count' },
      { instanceId: id('open'), parameter: 'count' },
    ]
    await expect(
      rewiring().bindMany(actor, serverId, { sockets: all, wanted: { source: 'fixed', text: 'many' } }),
    ).rejects.toMatchObject({
      code: 'invalid_request',
      errors: [
        { path: 'open.count', message: expect.stringContaining('no such parameter') },
        { path: 'quote.count', message: expect.stringContaining('an integer') },
        { path: 'track.count', message: expect.stringContaining('an integer') },
      ],
    })
    const keys = ['track', 'open'].map(name => ({ instanceId: id(name), parameter: 'key' }))
    await expect(
      rewiring().bindMany(actor, serverId, { sockets: keys, wanted: { source: 'global', key: 'token' } }),
    ).rejects.toMatchObject({ errors: [{ path: 'open.key', message: expect.stringContaining('"token"') }] })
    const gone = [...keys, { instanceId: serverId, parameter: 'key' }]
    await expect(
      rewiring().bindMany(actor, serverId, { sockets: gone, wanted: { source: 'exposed' } }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(await Promise.all(['track', 'quote', 'open'].map(bindingsOf))).toEqual(before)
  })

  it('is limited in size: no long value in many places, and no unlimited number of places', async () => {
    const { serverId, id, bindingsOf } = await makeDesk()
    const before = await bindingsOf('track')
    const sockets = ['track', 'quote'].map(name => ({ instanceId: id(name), parameter: 'key' }))
    const long = { sockets, wanted: { source: 'fixed', text: 'x'.repeat(2_100_000) } } as const
    await expect(rewiring().bindMany(actor, serverId, long)).rejects.toThrow(/4200000 bytes in total.*Create a global/)
    const many = Array.from({ length: 10_001 }, (_, index) => ({ instanceId: id('track'), parameter: `p${index}` }))
    const wanted = { source: 'exposed' } as const
    await expect(rewiring().bindMany(actor, serverId, { sockets: many, wanted })).rejects.toThrow(
      /at most 10000 bindings/,
    )
    expect(await bindingsOf('track')).toEqual(before)
  })

  it('cannot be changed by another organization, through another server, or by a viewer', async () => {
    const { serverId, id, bindingsOf } = await makeDesk()
    const eve = await signUp(patchbay.origin)
    const own = await eve.create('/servers', { name: 'Own' })
    const sockets = [{ instanceId: id('track'), parameter: 'id' }]
    const wanted = { source: 'fixed', text: 'stolen' } as const
    const stranger = await actorOf(eve)
    await expect(rewiring().bindMany(stranger, serverId, { sockets, wanted })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(rewiring().bindMany(stranger, own.id, { sockets, wanted })).rejects.toMatchObject({ code: 'conflict' })
    await expect(rewiring().listPanels(stranger, serverId)).rejects.toMatchObject({ code: 'not_found' })
    await expect(rewiring().listGlobalUses(stranger, serverId)).rejects.toMatchObject({ code: 'not_found' })
    expect(await rewiring().listInstancesById(stranger, own.id, [id('track')])).toEqual([])
    const [organizationId = ''] = actor.memberships.keys()
    const viewer: Actor = { ...actor, memberships: new Map([[organizationId, 'viewer']]) }
    await expect(rewiring().bindMany(viewer, serverId, { sockets, wanted })).rejects.toMatchObject({
      code: 'forbidden',
    })
    expect(await bindingsOf('track')).toMatchObject({ bindings: {} })
  })

  it('detects concurrent edits: the second of two users gets a conflict', async () => {
    const { id, bindingsOf } = await makeDesk()
    const { instances } = patchbay.services
    const { updatedAt } = await instances.getInstance(actor, id('track'))
    const save = (description: string, since: Date) =>
      instances.updateInstance(actor, id('track'), { description }, { ifUnchangedSince: since })
    const results = await Promise.allSettled([save('first', updatedAt), save('second', updatedAt)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = results.find(result => result.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: 'conflict', errors: [{ path: 'version' }] })
    const now = await instances.getInstance(actor, id('track'))
    await save('third', now.updatedAt)
    expect(await bindingsOf('track')).toMatchObject({ description: 'third' })
  })

  it('reports a conflict if somebody bound the tool in bulk while it was edited', async () => {
    const { id, serverId } = await makeDesk()
    const { instances } = patchbay.services
    const { updatedAt } = await instances.getInstance(actor, id('track'))
    const sockets = [{ instanceId: id('track'), parameter: 'id' }]
    await rewiring().bindMany(actor, serverId, { sockets, wanted: { source: 'fixed', text: 'x' } })
    await expect(
      rewiring().saveInstance(actor, id('track'), {
        patch: { bindings: {} },
        newGlobals: [],
        ifUnchangedSince: updatedAt,
      }),
    ).rejects.toMatchObject({ code: 'conflict' })
  })

  it('changes a tool and creates the globals for it, or neither', async () => {
    const { serverId, id, bindingsOf } = await makeDesk()
    const keys = async () => (await patchbay.services.globals.listAllGlobals(actor, serverId)).map(({ key }) => key)
    const save = (key: string, bindings: object) =>
      rewiring().saveInstance(actor, id('track'), {
        patch: { bindings: { id: { source: 'server', key }, ...bindings } },
        newGlobals: [{ parameter: 'id', key, value: 'sk-new', secret: true }],
      })
    await expect(save('fresh', { count: { source: 'instance', value: 'many' } })).rejects.toMatchObject({
      errors: [{ path: 'bindings.count' }],
    })
    await expect(save('desk', {})).rejects.toMatchObject({ code: 'conflict', errors: [{ path: 'newGlobals.id' }] })
    await expect(save('no key', {})).rejects.toMatchObject({ errors: [{ path: 'newGlobals.id' }] })
    expect(await keys()).toEqual(['desk', 'token'])
    await save('fresh', {})
    expect(await keys()).toEqual(['desk', 'fresh', 'token'])
    expect(await bindingsOf('track')).toMatchObject({ bindings: { id: { source: 'server', value: 'fresh' } } })
  })

  it('lists which tools read which global, also for missing keys, but not through lost parameters', async () => {
    const { serverId, id, toolIds } = await makeDesk()
    const bind = (name: string, bindings: object) => ada.expectOk('PATCH', `/instances/${id(name)}`, { bindings })
    await bind('track', {
      id: { source: 'instance', value: '{{desk}}-{{absent}}' },
      key: { source: 'server', value: 'desk' },
    })
    await bind('quote', { key: { source: 'server', value: 'token' } })
    const read = async () => {
      const uses = await rewiring().listGlobalUses(actor, serverId)
      return [...uses].map(([key, of]) => [key, of.tools.map(({ tool: name, parameters }) => [name, parameters])])
    }
    expect(await read()).toEqual([
      ['token', [['quote', ['key']]]],
      ['desk', [['track', ['id', 'key']]]],
      ['absent', [['track', ['id']]]],
    ])
    await ada.expectOk('PATCH', `/tools/${toolIds.track}`, { url: `${fake.origin}/{{id}}`, parameters: {} })
    expect(await read()).toEqual([
      ['token', [['quote', ['key']]]],
      ['desk', [['track', ['id']]]],
      ['absent', [['track', ['id']]]],
    ])
  })

  it('counts the tools that it uses of each toolkit, one tool under two names twice', async () => {
    const { serverId, toolkitId, toolIds } = await makeDesk()
    await ada.create(`/servers/${serverId}/instances`, { toolId: toolIds.track, name: 'track_again' })
    const unused = await ada.create('/toolkits', { title: 'Unused' })
    await ada.expectOk('PUT', `/servers/${serverId}/toolkits/${unused.id}`)
    const { toolkitUses } = patchbay.services
    expect(await toolkitUses.countToolsInUse(actor, serverId)).toEqual(new Map([[toolkitId, 4]]))
  })

  it('adds several tools at once with unique names and their toolkits, within the limit', async () => {
    const { serverId, toolIds, url } = await makeDesk()
    const toolkit = await ada.create('/toolkits', { title: 'Fresh' })
    const fresh = await ada.create(`/toolkits/${toolkit.id}/tools`, tool('track'))
    const long = await ada.create(`/toolkits/${toolkit.id}/tools`, tool('t'.repeat(64)))
    const { toolAdding, toolkitUses } = patchbay.services
    const add = (...ids: (string | undefined)[]) =>
      toolAdding.addTools(
        actor,
        serverId,
        ids.map((toolId = '') => ({ toolId })),
      )
    expect(await toolkitUses.findUsedToolkit(actor, serverId, toolkit.id)).toBeUndefined()
    expect(await add(toolIds.track, fresh.id, long.id)).toEqual(['track_2', 'track_3', 't'.repeat(64)])
    expect(await toolkitUses.findUsedToolkit(actor, serverId, toolkit.id)).toMatchObject({ title: 'Fresh' })
    expect(await add(long.id)).toEqual([`${'t'.repeat(62)}_2`])
    const again = [{ toolId: fresh.id, atWork: 0 }]
    expect(await toolAdding.addTools(actor, serverId, again)).toEqual([])
    await expect(add(toolIds.track, toolIds.quote)).rejects.toMatchObject({ code: 'limit_exceeded' })
    await expect(add()).rejects.toMatchObject({ errors: [{ path: 'tool' }] })
    const eve = await signUp(patchbay.origin)
    const hers = await makeServer(eve, [tool('hers')])
    await expect(add(hers.toolIds.hers)).rejects.toMatchObject({ code: 'invalid_request' })
    const names = await toolNames(await connect(url))
    expect(names).toHaveLength(7)
    await expect(
      toolAdding.addTools(await actorOf(eve), serverId, [{ toolId: hers.toolIds.hers ?? '' }]),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('offers the tools of its organization and snapshots, searched case-insensitively, and no others', async () => {
    const { serverId, toolkitId } = await makeDesk()
    const eve = await signUp(patchbay.origin)
    const shared = await eve.create('/toolkits', { title: 'Shared', visibility: 'public' })
    await eve.create(`/toolkits/${shared.id}/tools`, { ...tool('copied'), description: 'Find a PARCEL' })
    const { toolAdding, toolkitUses } = patchbay.services
    const offer = (search: string, only?: string) =>
      toolAdding.listOffer(actor, serverId, { toolkitId: only, search, skip: 0, take: 50 })
    const addable = async (search: string) =>
      (await toolkitUses.listAddableToolkits(actor, serverId, { search, skip: 0, take: 50 })).toolkits
    expect((await offer('parcel')).tools).toEqual([])
    expect(await addable('SHARED')).toMatchObject([{ id: shared.id, isOwn: false, tools: 1 }])
    await ada.expectOk('PUT', `/servers/${serverId}/toolkits/${shared.id}`)
    expect((await offer('parcel')).tools).toMatchObject([{ name: 'copied', atWorkAs: [] }])
    expect(await addable('shared')).toEqual([])
    const inDesk = await offer('TRACK', toolkitId)
    expect(inDesk.tools).toMatchObject([{ name: 'track', atWorkAs: ['track'] }])
    expect(inDesk.total).toBe(1)
    expect((await offer('', shared.id)).tools).toEqual([])
    await expect(
      toolAdding.listOffer(await actorOf(eve), serverId, { toolkitId: undefined, search: '', skip: 0, take: 50 }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  it('with two thousand tools is listed, searched and changed at once', { timeout: BIG_MS }, async () => {
    const { db } = patchbay.services
    const { serverId, toolkitId, toolIds } = await makeServer(ada, [tool('a_first')])
    const { definition } = await db.tool.findUniqueOrThrow({ where: { id: toolIds.a_first ?? '' } })
    const names = Array.from({ length: 1_999 }, (_, index) => `tool_${index}`)
    const row = { toolkitId, definition: z.record(z.string(), z.json()).parse(definition) }
    await db.tool.createMany({ data: names.map(name => ({ ...row, name })) })
    const tools = await db.tool.findMany({ where: { toolkitId, name: { in: names } } })
    await db.instance.createMany({ data: tools.map(({ id, name }) => ({ serverId, toolId: id, name })) })
    const page = async (path: string) => {
      const headers = { authorization: `Bearer ${ada.token}` }
      return (await fetch(`${patchbay.origin}/servers/${serverId}/${path}`, { headers })).text()
    }
    /** Counts the rows of instances, without the findings about their cost below them. */
    const shown = (html: string) => html.split('id="catalogue"')[0]?.match(/<th scope="row"/g)?.length
    expect(shown(await page('tools'))).toBe(50)
    expect(await page('tools?page=40')).toContain('1,951 to 2,000 of 2,000')
    expect(shown(await page('tools?q=tool_1999'))).toBeUndefined()
    expect(shown(await page('tools?q=TOOL_1998'))).toBe(1)
    expect(await page('bindings')).toContain('3 parameters in 2,000 tools')
    expect(await page('bindings?q=tool_1998')).toContain('3 parameters in 1 tool')
    const panels = await rewiring().listPanels(actor, serverId)
    const sockets = panels.map(({ id }) => ({ instanceId: id, parameter: 'key' }))
    const wanted = { source: 'global', key: 'desk' } as const
    expect(await rewiring().bindMany(actor, serverId, { sockets, wanted })).toEqual({ sockets: 2_000, tools: 2_000 })
    expect((await rewiring().listGlobalUses(actor, serverId)).get('desk')?.tools).toHaveLength(2_000)
    expect(await page('globals')).toContain('2,000 parameters in 2,000 tools')
  })
})
