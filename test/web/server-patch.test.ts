import { describe, expect, it } from 'vitest'
import type { ServerWiring } from '../../src/servers/bindings/server-wiring.ts'
import type { UpstreamState } from '../../src/upstreams/upstream.ts'
import { buildServerPatch, type UpstreamWiring } from '../../src/web/diagram/server-patch.ts'
import { makeServer } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { wiringText } from './render-part.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

describe('the wiring on the overview page of a server', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi()
  const owner = runUser(patchbay)

  const overviewOf = async (serverId: string): Promise<{ html: string; list: string }> => {
    const person = await signInToPages(patchbay.origin, owner.email)
    const { status, html } = await person.get(`/servers/${serverId}`)
    expect(status).toBe(200)
    return { html, list: wiringText(html) }
  }

  const TOOL = {
    name: 'track',
    method: 'GET',
    url: '',
    headers: [
      { name: 'authorization', value: '{{string:auth}}' },
      { name: 'x-account', value: '{{string:account}}' },
    ],
  }
  const make = (bindings: Record<string, unknown>) =>
    makeServer(owner, [{ ...TOOL, url: `${api.origin}/{{string:id}}?page={{integer:page}}` }], {
      server: { name: 'Desk', access: 'public' },
      bindings: { track: bindings },
    })
  const put = (serverId: string, key: string, body: object) =>
    owner.expectOk('PUT', `/servers/${serverId}/globals/${key}`, body)

  it('shows the source of each parameter, but never a secret', async () => {
    const { serverId } = await make({
      account: { source: 'server', value: 'account_no' },
      page: { source: 'instance', value: 7 },
    })
    await put(serverId, 'account_no', { value: '40-118' })
    await put(serverId, 'unused', { value: 'idle' })
    await put(serverId, 'api_token', { value: 'never shown', secret: true })
    const { html, list } = await overviewOf(serverId)
    expect(list).toContain(
      'track GET · not called account global account_no page fixed 7 id exposed from the model auth exposed',
    )
    expect(list).toContain('global account_no 40-118')
    expect(list).toContain('secret api_token not used')
    expect(html).not.toContain('never shown')
  })

  it('connects a fixed value that contains a secret to the secret', async () => {
    const { serverId, instanceIds } = await make({})
    await put(serverId, 'api_token', { value: 'never shown', secret: true })
    const bindings = { auth: { source: 'instance', value: 'Bearer {{api_token}}' } }
    await owner.expectOk('PATCH', `/instances/${instanceIds.track}`, { bindings })
    const { list } = await overviewOf(serverId)
    expect(list).toContain('auth secret api_token in Bearer {{api_token}}')
    expect(list).toContain('secret api_token hidden')
  })

  it('names the missing global of a parameter', async () => {
    const { serverId } = await make({ account: { source: 'server', value: 'gone' } })
    const { html, list } = await overviewOf(serverId)
    expect(list).toContain('account no “gone”')
    expect(html).toContain('class="hole" data-state="missing"')
  })

  it('links to each tool and toolkit', async () => {
    const { serverId, toolkitId, instanceIds } = await make({})
    const { html } = await overviewOf(serverId)
    const diagram = html.slice(html.indexOf('<figure class="patch'), html.indexOf('<div class="wiring'))
    expect(diagram).toContain(`href="/servers/${serverId}/tools/${instanceIds.track}"`)
    expect(diagram).toContain(`href="/toolkits/${toolkitId}"`)
  })

  it('shows the new parameters after a tool was edited', async () => {
    const { serverId, toolIds } = await make({})
    expect((await overviewOf(serverId)).list).toContain('id exposed')
    await owner.expectOk('PATCH', `/tools/${toolIds.track}`, { url: `${api.origin}/{{string:parcel}}` })
    const { list } = await overviewOf(serverId)
    expect(list).toContain('parcel exposed')
    expect(list).not.toContain('id exposed')
  })

  it('merges the parameters that 300 tools have in common', async () => {
    const { serverId, toolkitId } = await make({})
    const { db } = patchbay.services
    const tools = await db.tool.createManyAndReturn({
      data: Array.from({ length: 300 }, (_, index) => ({
        toolkitId,
        name: `copy_${index}`,
        definition: { method: 'GET', url: `${api.origin}/{{string:id}}`, headers: [], parameters: {} },
      })),
    })
    await db.instance.createMany({ data: tools.map(({ id, name }) => ({ serverId, toolId: id, name })) })
    const { list } = await overviewOf(serverId)
    expect(list).toContain('301 tools all wired, not called 304 parameters exposed from the model')
  })
})

describe('the patch of a server', () => {
  const WIRING: ServerWiring = {
    server: { id: '1', name: 'Desk', access: 'organization' },
    toolkits: [
      { id: 'kit', title: 'Own', isSnapshot: false },
      { id: 'copy', title: 'Copied', isSnapshot: true },
    ],
    tools: [
      { id: 'a', name: 'fine', toolId: 't1', toolkitId: 'kit', method: 'GET', isEnabled: true, parameters: [] },
      { id: 'b', name: 'bad', toolId: 't2', toolkitId: 'kit', method: 'POST', isEnabled: true, parameters: [] },
      {
        id: 'c',
        name: 'broken',
        toolId: 't3',
        toolkitId: 'copy',
        method: 'PUT',
        isEnabled: true,
        parameters: undefined,
      },
    ],
    globals: [],
  }
  const figureOf = (tool: string, calls: number, failed: number, p50Ms: number, isFailing = false, rejected = 0) => ({
    tool,
    calls,
    rejected,
    failed,
    p50Ms,
    isFailing,
  })
  const groupsOf = (figures: readonly ReturnType<typeof figureOf>[], wiring = WIRING) =>
    buildServerPatch({ wiring, figures, callers: [], now: NOW }).groups

  const upstreamOf = (state: UpstreamState, tools: readonly string[] = ['yard_read']): UpstreamWiring => ({
    upstream: {
      id: 'far',
      serverId: '1',
      name: 'yard',
      description: undefined,
      isEnabled: true,
      responseTokens: {},
      toolAnswers: {},
      config: {
        transport: 'http',
        url: 'https://mcp.example.com',
        headers: {},
        timeoutMs: 1_000,
        isEager: false,
        features: { tools: true, resources: true, prompts: true },
        auth: { type: 'none' },
      },
      createdAt: new Date(0),
      updatedAt: new Date(0),
    },
    hasCatalogue: tools.length > 0,
    tools: tools.map(name => ({ name, parameters: ['gate'] })),
    state,
  })
  const since = NOW
  it.each<[string, string, UpstreamState, ReturnType<typeof figureOf>[]]>([
    ['good', 'connected', { kind: 'connected' }, []],
    ['good', 'healthy, 12 ms', { kind: 'connected' }, [figureOf('yard_read', 3, 0, 12)]],
    ['failed', '3 of 3 calls failed', { kind: 'connected' }, [figureOf('yard_read', 3, 3, 12, true)]],
    ['slow', 'connecting', { kind: 'connecting' }, []],
    ['idle', 'idle', { kind: 'idle' }, []],
    ['idle', 'switched off', { kind: 'disabled' }, [figureOf('yard_read', 3, 0, 12)]],
    [
      'failed',
      'failed, next try in 5 min',
      { kind: 'failed', why: 'It refuses.', since, nextTryAt: new Date('2026-11-22T10:05:00Z') },
      [figureOf('yard_read', 3, 0, 12)],
    ],
    ['failed', 'failed', { kind: 'failed', why: 'It crashed.', since, nextTryAt: undefined }, []],
  ])('shows the state of an attached MCP server as %s: "%s"', (state, health, connection, figures) => {
    const upstreams = [upstreamOf(connection)]
    const groups = buildServerPatch({ wiring: WIRING, figures, upstreams, callers: [], now: NOW }).groups
    expect(groups.at(-1)).toMatchObject({
      kind: 'upstream',
      name: 'yard',
      href: '/servers/1/sources/upstreams/far',
      state,
      health,
      tools: [{ name: 'yard_read', parameters: [{ name: 'gate', source: 'exposed' }] }],
    })
  })

  it('says that an attached MCP server was never connected', () => {
    const upstreams = [upstreamOf({ kind: 'idle' }, [])]
    const groups = buildServerPatch({ wiring: WIRING, figures: [], upstreams, callers: [], now: NOW }).groups
    expect(groups.at(-1)).toMatchObject({ state: 'idle', health: 'idle, never connected', tools: [] })
  })

  it('describes a toolkit by the median of its calls, and a tool by its last calls', () => {
    const [own] = groupsOf([figureOf('fine', 1_204, 2, 182), figureOf('bad', 60, 41, 900, true)])
    expect(own).toMatchObject({ state: 'good', health: 'healthy, 182 ms' })
    expect(own?.tools).toMatchObject([
      { meta: 'GET · 1,204 calls, 2 failed', calls: 1_204 },
      { meta: 'POST · 41 of 60 calls failed', state: 'failed' },
    ])
  })

  it.each([
    ['slow', 'slow, 2.4 s', [figureOf('fine', 10, 0, 2_400)]],
    ['failed', '41 of 60 calls failed', [figureOf('bad', 60, 41, 10, true)]],
    ['slow', '41 of 60 calls rejected', [figureOf('bad', 60, 1, 10, false, 41)]],
    ['idle', 'not called', []],
    ['good', 'healthy, 1.4 s', [figureOf('fine', 1, 0, 1_400)]],
  ])('shows the state of a toolkit as %s: "%s"', (state, health, figures) => {
    expect(groupsOf(figures)[0]).toMatchObject({ state, health })
  })

  it('shows a tool whose template no longer compiles as failed', () => {
    expect(groupsOf([])[1]?.tools).toMatchObject([{ name: 'broken', state: 'failed', parameters: [] }])
  })

  it('shows a disabled tool as such, whatever is wrong with it, and leaves its calls out of the toolkit’s state', () => {
    const disable = (...names: string[]) => ({
      ...WIRING,
      tools: WIRING.tools.map(one => ({ ...one, isEnabled: !names.includes(one.name) })),
    })
    const figures = [figureOf('fine', 10, 0, 182), figureOf('bad', 60, 41, 900, true)]
    const groups = groupsOf(figures, disable('bad', 'broken'))
    expect(groups).toMatchObject([
      {
        state: 'good',
        health: 'healthy, 182 ms',
        tools: [{ name: 'fine' }, { name: 'bad', meta: 'POST · disabled', parameters: [] }],
      },
      { state: 'idle', health: 'all tools disabled', tools: [{ name: 'broken' }] },
    ])
    expect(JSON.stringify(groups)).not.toContain('failed')
  })

  it('links a snapshot to the Sources tab, since its toolkit may be deleted', () => {
    expect(groupsOf([]).map(({ href }) => href)).toEqual(['/toolkits/kit', '/servers/1/sources'])
  })

  it('shows toolkits without tools in use', () => {
    expect(groupsOf([], { ...WIRING, tools: [] })).toMatchObject([
      { name: 'Own', health: 'no tools in use', tools: [] },
      { name: 'Copied', state: 'idle' },
    ])
  })
})
