import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { callText, connect, toolNames } from './mcp.ts'

/** Time limit for bulk operations on a busy machine. */
const BIG_MS = 60_000
const Loose = z.looseObject({})
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe.each(databasesOfRun)('servers on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_MAX_TOOLS_PER_SERVER: '12' } })
  const fake = runFakeApi()
  let ada: ApiClient & { userId: string }
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
  })

  const tool = (name = 'tool') => ({ name, method: 'GET', url: `${fake.origin}/{{id}}?key={{key?}}` })
  const makeTool = async () => {
    const toolkit = await ada.create('/toolkits', { title: 'Toolkit' })
    return { toolkitId: toolkit.id, toolId: (await ada.create(`/toolkits/${toolkit.id}/tools`, tool())).id }
  }

  it('are created, read, changed and deleted', async () => {
    const made = await ada.send('POST', '/servers', { name: ' Weather ', description: 'Forecasts' })
    expect(made.status).toBe(201)
    const { id } = z.object({ id: z.string() }).parse(made.body)
    expect(made.body).toEqual({
      id,
      uuid: id,
      organizationId: expect.any(String),
      ownerId: ada.userId,
      name: 'Weather',
      description: 'Forecasts',
      access: 'private',
      allowedUsers: [],
      presentation: 'flat',
      allowAnyOrigin: false,
      reviewUpstreamChanges: false,
      storesBodies: false,
      maxResponseTokens: 8_000,
      cutNotice: null,
      cutResultTools: 'auto',
      compactTables: false,
      pinnedTools: [],
      masking: [],
      maxFlatTokens: 4_000,
      shownAs: null,
      url: `${patchbay.settings.baseUrl}/s/${id}`,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect((await ada.send('GET', `/servers/${id}`)).body).toEqual(made.body)
    expect((await ada.send('GET', '/servers?limit=200')).body).toMatchObject({
      items: expect.arrayContaining([made.body]),
    })
    const changed = await ada.send('PATCH', `/servers/${id}`, {
      ...Loose.parse(made.body),
      name: 'Climate',
      description: null,
    })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Climate', description: null } })
    expect(await ada.send('PATCH', `/servers/${id}`, { ownerId: id, organizationId: id, url: 'x' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'organizationId' }, { path: 'ownerId' }, { path: 'url' }] },
    })
    expect(await ada.send('PATCH', `/servers/${id}`, { presentation: 'grouped' })).toMatchObject({
      status: 200,
      body: { presentation: 'grouped' },
    })
    expect(await ada.send('PATCH', `/servers/${id}`, { presentation: 'anything' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'presentation' }] },
    })
    expect((await ada.send('DELETE', `/servers/${id}`)).status).toBe(204)
    expect((await ada.send('GET', `/servers/${id}`)).status).toBe(404)
  })

  it('are deleted with everything in them at once, without the toolkits', async () => {
    const { serverId, toolkitId } = await makeServer(ada, [tool()])
    await ada.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 'x', secret: true })
    expect((await ada.send('DELETE', `/servers/${serverId}`)).status).toBe(204)
    expect((await ada.send('GET', `/toolkits/${toolkitId}`)).status).toBe(200)
    expect((await ada.send('DELETE', `/toolkits/${toolkitId}`)).status).toBe(204)
  })

  it('contain one instance of each name, even if ten are created at once', async () => {
    const { toolId } = await makeTool()
    const server = await ada.create('/servers', { name: 'Race', maxResponseTokens: 0 })
    const make = (name: string) => ada.send('POST', `/servers/${server.id}/instances`, { toolId, name })
    const answers = await Promise.all(numbers(10).map(() => make('same')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...numbers(9).map(() => 409)])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      detail: expect.stringContaining('"same"'),
      errors: [{ path: 'name' }],
    })
    const other = z.object({ id: z.string() }).parse((await make('other')).body)
    expect(await ada.send('PATCH', `/instances/${other.id}`, { name: 'same' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"same"') },
    })
  })

  it('add ten tools at once, each from a toolkit that they did not use before', async () => {
    const server = await ada.create('/servers', { name: 'Busy', maxResponseTokens: 0, access: 'public' })
    const { toolId } = await makeTool()
    const answers = await Promise.all(
      numbers(10).map(number =>
        ada.send('POST', `/servers/${server.id}/instances`, { toolId, name: `tool_${number}` }),
      ),
    )
    expect(answers.map(({ status, body }) => [status, body])).toEqual(numbers(10).map(() => [201, expect.anything()]))
    expect(await toolNames(await connect(`${patchbay.origin}/s/${server.id}`))).toHaveLength(10)
  })

  it('are limited to the number of tools in the setting, also for concurrent requests', async () => {
    const server = await ada.create('/servers', { name: 'Full', maxResponseTokens: 0 })
    const { toolId } = await makeTool()
    const answers = await Promise.all(
      numbers(16).map(number =>
        ada.send('POST', `/servers/${server.id}/instances`, { toolId, name: `tool_${number}` }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422])
    expect(refused[0]?.body).toMatchObject({ detail: expect.stringContaining('PATCHBAY_MAX_TOOLS_PER_SERVER') })
    expect(refused[0]?.body).toMatchObject({ detail: expect.stringContaining('12') })
  })

  it('with two thousand tools and bindings list them all', {
    timeout: BIG_MS,
  }, async () => {
    const { db } = patchbay.services
    const { serverId, toolkitId, toolIds, url } = await makeServer(ada, [tool('a_last')])
    const { definition } = await db.tool.findUniqueOrThrow({ where: { id: toolIds.a_last ?? '' } })
    const names = numbers(1_999).map(number => `tool_${number}`)
    const copies = names.map(name => ({
      toolkitId,
      name,
      definition: z.record(z.string(), z.json()).parse(definition),
    }))
    await db.tool.createMany({ data: copies })
    const tools = await db.tool.findMany({ where: { toolkitId, name: { in: names } } })
    await db.instance.createMany({ data: tools.map(({ id, name }) => ({ serverId, toolId: id, name })) })
    const instances = await db.instance.findMany({ where: { serverId } })
    const bindings = instances.map(({ id }) => ({
      instanceId: id,
      parameter: 'id',
      source: 'instance' as const,
      value: 'x',
    }))
    await db.binding.createMany({ data: bindings })
    const client = await connect(url)
    expect((await toolNames(client)).sort()).toEqual(['a_last', ...names].sort())
    expect(await callText(client, 'tool_1998')).toMatchObject({ isError: false, text: expect.stringContaining('"/x"') })
    const { body } = await ada.expectOk('GET', `/servers/${serverId}/bindings`)
    const Rows = z.object({ items: z.array(z.object({ parameter: z.string(), instances: z.array(z.unknown()) })) })
    expect(Rows.parse(body).items.map(({ parameter, instances: all }) => [parameter, all.length])).toEqual([
      ['id', 2_000],
      ['key', 2_000],
    ])
  })

  it('keep a tool and its toolkit while it is used; the error names the server', async () => {
    const { toolId, toolkitId } = await makeTool()
    const server = await ada.create('/servers', { name: 'Weather station', maxResponseTokens: 0 })
    const instance = await ada.create(`/servers/${server.id}/instances`, { toolId, name: 'tool' })
    for (const path of [`/tools/${toolId}`, `/toolkits/${toolkitId}`]) {
      expect(await ada.send('DELETE', path)).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('"Weather station"') },
      })
    }
    const use = `/servers/${server.id}/toolkits/${toolkitId}`
    expect(await ada.send('DELETE', use)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"tool"') },
    })
    await ada.expectOk('DELETE', `/instances/${instance.id}`)
    expect((await ada.send('DELETE', `/tools/${toolId}`)).status).toBe(204)
    expect((await ada.send('DELETE', `/toolkits/${toolkitId}`)).status).toBe(409)
    expect((await ada.send('DELETE', use)).status).toBe(204)
    expect((await ada.send('DELETE', `/toolkits/${toolkitId}`)).status).toBe(204)
  })

  it('name a missing global that a tool is bound to, and work again once it exists', async () => {
    const { serverId, instanceIds, url } = await makeServer(ada, [tool(), tool('other')], {
      bindings: {
        tool: { key: { source: 'server', value: 'apiKey' } },
        other: { id: { source: 'instance', value: 'x-{{apiKey}}' } },
      },
    })
    const global = `/servers/${serverId}/globals/apiKey`
    const client = await connect(url)
    const missing = { isError: true, text: expect.stringContaining('"apiKey"') }
    expect(await callText(client, 'tool', { id: '1' })).toMatchObject(missing)
    expect((await ada.send('PUT', global, { value: 'k1' })).status).toBe(201)
    expect(await callText(client, 'tool', { id: '1' })).toMatchObject({ isError: false })
    expect(await callText(client, 'other')).toMatchObject({ text: expect.stringContaining('/x-k1') })
    expect((await ada.send('DELETE', global)).status).toBe(204)
    expect(await callText(client, 'tool', { id: '1' })).toMatchObject(missing)
    expect(await callText(client, 'other')).toMatchObject(missing)
    expect(await ada.send('POST', `/instances/${instanceIds.tool}/call`, { arguments: { id: '1' } })).toMatchObject({
      status: 200,
      body: { isError: true, content: [{ text: expect.stringContaining('"apiKey"') }] },
    })
    expect((await ada.send('DELETE', global)).status).toBe(404)
  })

  it('list the toolkits that they use in pages, also those without instances', async () => {
    const server = await ada.create('/servers', { name: 'Toolkits', maxResponseTokens: 0 })
    const ids: string[] = []
    for (const title of ['A', 'B', 'C']) {
      const { id } = await ada.create('/toolkits', { title })
      for (let twice = 0; twice < 2; twice++) {
        expect((await ada.send('PUT', `/servers/${server.id}/toolkits/${id}`)).status).toBe(204)
      }
      ids.push(id)
    }
    const List = z.object({
      items: z.array(z.object({ id: z.string(), title: z.string(), snapshot: z.null() })),
      nextCursor: z.string().nullable(),
    })
    const list = async (query: string) =>
      List.parse((await ada.expectOk('GET', `/servers/${server.id}/toolkits?${query}`)).body)
    const first = await list('limit=2')
    const second = await list(`limit=2&cursor=${first.nextCursor}`)
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
  })

  it('handle requests about globals without ever returning a secret', async () => {
    const server = await ada.create('/servers', { name: 'Globals', maxResponseTokens: 0 })
    const put = (key: string, body: object) => ada.send('PUT', `/servers/${server.id}/globals/${key}`, body)
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String) }
    expect(await put('plain', { value: 'v' })).toMatchObject({
      status: 201,
      body: { id: expect.any(String), key: 'plain', value: 'v', secret: false, ...times },
    })
    const secret = await put('token', { value: 'sk-canary', secret: true })
    expect(secret.status).toBe(201)
    expect(secret.body).toEqual({ id: expect.any(String), key: 'token', secret: true, origins: null, ...times })
    expect(await put('plain', { value: '' })).toMatchObject({ status: 200, body: { value: '' } })
    // Without the field `secret`, a secret stays a secret.
    const kept = await put('token', { value: 'sk-canary-2' })
    expect(kept.body).toEqual({ id: expect.any(String), key: 'token', secret: true, origins: null, ...times })
    const list = await ada.send('GET', `/servers/${server.id}/globals`)
    expect(list.body).toMatchObject({ items: [{ key: 'plain', value: '' }, { key: 'token' }], nextCursor: null })
    expect(JSON.stringify(list.body)).not.toContain('canary')
    const { db } = patchbay.services
    expect(JSON.stringify(await db.global.findMany())).not.toContain('canary')
    const first = await ada.send('GET', `/servers/${server.id}/globals?limit=1`)
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(first.body)
    expect(await ada.send('GET', `/servers/${server.id}/globals?limit=1&cursor=${nextCursor}`)).toMatchObject({
      body: { items: [{ key: 'token' }], nextCursor: null },
    })
    expect(await put('token', { value: 'open', secret: false })).toMatchObject({
      status: 200,
      body: { value: 'open', secret: false },
    })
    for (const key of ['1st', 'a b', 'a/b', 'a'.repeat(65), '%C3%A9', '__proto__%20']) {
      expect((await put(encodeURIComponent(key), { value: 'x' })).status, key).toBe(400)
    }
    expect((await put('empty', { value: '', secret: true })).status).toBe(400)
    expect(await put('number', { value: 5 })).toMatchObject({ status: 201, body: { value: '5' } })
    expect((await put('list', { value: [5] })).status).toBe(400)
  })
})

describe('an instance', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  let ada: ApiClient
  let serverId: string
  let toolIds: Record<string, string>
  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
    const parameters = {
      id: { pattern: '^[a-z]+$' },
      count: { minimum: 1, maximum: 9 },
      mode: { enum: ['fast', 'slow'], default: 'fast' },
    }
    const url = `${fake.origin}/{{id}}?count={{integer:count}}&mode={{mode}}&flag={{boolean:flag?}}`
    const made = await makeServer(ada, [
      { name: 'full', method: 'POST', url, body: '{{json:payload?}}', parameters, description: 'The tool’s own' },
      { name: 'bare', method: 'GET', url: `${fake.origin}/bare` },
      { name: 'page', method: 'GET', url: `${fake.origin}/page?count={{integer:count}}&id={{id}}` },
    ])
    serverId = made.serverId
    toolIds = made.toolIds
  })
  let made = 0
  const create = (body: object) =>
    ada.send('POST', `/servers/${serverId}/instances`, { toolId: toolIds.full, name: `made_${++made}`, ...body })

  it('is returned with its bindings and the schema of its exposed parameters', async () => {
    const bindings = {
      id: { source: 'instance', value: 'abc' },
      count: { source: 'server', value: 'pageSize' },
      flag: { source: 'server' },
      payload: { source: 'exposed' },
    }
    const { status, body } = await create({ name: 'shown', description: 'Mine', bindings })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      serverId,
      toolId: toolIds.full,
      name: 'shown',
      description: 'Mine',
      maxResponseTokens: null,
      enabled: true,
      bindings,
      inputSchema: {
        type: 'object',
        properties: { mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' }, payload: {} },
        additionalProperties: false,
      },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const { id } = z.object({ id: z.string() }).parse(body)
    expect((await ada.send('GET', `/instances/${id}`)).body).toEqual(body)
    const same = await ada.send('PATCH', `/instances/${id}`, body)
    expect(same).toMatchObject({ status: 200, body: { bindings, name: 'shown' } })
    const changed = await ada.send('PATCH', `/instances/${id}`, { description: null, bindings: {} })
    expect(changed.body).toMatchObject({ description: null, bindings: {}, inputSchema: { required: ['id', 'count'] } })
    const moved = await ada.send('PATCH', `/instances/${id}`, { toolId: toolIds.bare })
    expect(moved.body).toMatchObject({ toolId: toolIds.bare, inputSchema: { properties: {} } })
    expect(await ada.send('PATCH', `/instances/${id}`, { serverId: id })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'serverId' }] },
    })
    expect((await ada.send('DELETE', `/instances/${id}`)).status).toBe(204)
    expect((await ada.send('GET', `/instances/${id}`)).status).toBe(404)
  })

  it.each(['', 'a b', 'naïve', 'a'.repeat(65), 'a.b', 'proxy_tool', 'proxy_'])('cannot be named %j', async name => {
    expect(await create({ name })).toMatchObject({ status: 400, body: { errors: [{ path: 'name' }] } })
  })

  it.each([
    ['of an unknown parameter', { nobody: { source: 'exposed' } }, 'bindings.nobody', /"id", "count"/],
    ['with an unknown source', { id: { source: 'magic' } }, 'bindings.id.source', /./],
    ['without its fixed value', { id: { source: 'instance' } }, 'bindings.id.value', /./],
    ['to an invalid key', { id: { source: 'server', value: 'a b' } }, 'bindings.id', /key/],
    ['with a value although it is exposed', { id: { source: 'exposed', value: 'x' } }, 'bindings.id.value', /./],
    ['with an unknown field', { id: { source: 'exposed', more: 1 } }, 'bindings.id', /more/],
    ['to text for an integer', { count: { source: 'instance', value: 'many' } }, 'bindings.count', /integer/],
    ['to a fraction for an integer', { count: { source: 'instance', value: 1.5 } }, 'bindings.count', /integer/],
    ['below the minimum', { count: { source: 'instance', value: 0 } }, 'bindings.count', /at least 1/],
    ['above the maximum', { count: { source: 'instance', value: '10' } }, 'bindings.count', /at most 9/],
    [
      'to a value that is not in the enum',
      { mode: { source: 'instance', value: 'idle' } },
      'bindings.mode',
      /"fast", "slow"/,
    ],
    ['that does not match', { id: { source: 'instance', value: 'ABC' } }, 'bindings.id', /matches/],
    ['to text for a boolean', { flag: { source: 'instance', value: 'yes' } }, 'bindings.flag', /true or false/],
    ['to text that is not JSON', { payload: { source: 'instance', value: '{' } }, 'bindings.payload', /JSON/],
  ])('with a binding %s is refused, naming it', async (_what, bindings, path, message) => {
    const { status, body } = await create({ bindings })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { errors: expect.arrayContaining([{ path, message: expect.stringMatching(message) }]) },
    })
    const whole = z.object({ id: z.string() }).parse((await create({})).body)
    expect((await ada.send('PATCH', `/instances/${whole.id}`, { bindings })).status).toBe(400)
    expect((await ada.send('GET', `/instances/${whole.id}`)).body).toMatchObject({ bindings: {} })
  })

  it('accepts a fixed value with an escaped pair of braces, and checks the resulting value', async () => {
    const bindings = { payload: { source: 'instance', value: '["\\{{x}}", 1]' } }
    expect((await create({ bindings })).status).toBe(201)
  })

  it.each([
    ['that does not exist', () => '0190a5a0-0000-7000-8000-000000000000'],
    ['that is not an id', () => 'tool'],
  ])('of a tool %s is refused', async (_what, toolId) => {
    expect(await create({ toolId: toolId() })).toMatchObject({ status: 400, body: { errors: [{ path: 'toolId' }] } })
  })

  it('is in the binding matrix of its server, by parameter and type', async () => {
    const server = await ada.create('/servers', { name: 'Matrix', maxResponseTokens: 0 })
    await ada.expectOk('PUT', `/servers/${server.id}/globals/pageSize`, { value: 'sk-canary', secret: true })
    const ids: string[] = []
    for (const [toolId, name, bindings] of [
      [toolIds.page, 'a', { count: { source: 'server', value: 'pageSize' } }],
      [toolIds.full, 'b', { count: { source: 'instance', value: '{{pageSize}}' }, id: { source: 'server' } }],
      [toolIds.bare, 'c', {}],
    ] as const) {
      ids.push((await ada.create(`/servers/${server.id}/instances`, { toolId, name, bindings })).id)
    }
    const { body } = await ada.expectOk('GET', `/servers/${server.id}/bindings`)
    const [a, b] = ids
    const exposed = (id: string | undefined, name: string) => ({ id, name, source: 'exposed' })
    expect(body).toEqual({
      nextCursor: null,
      items: [
        {
          parameter: 'count',
          type: 'integer',
          instances: [
            { id: a, name: 'a', source: 'server', value: 'pageSize' },
            { id: b, name: 'b', source: 'instance', value: '{{pageSize}}' },
          ],
        },
        { parameter: 'flag', type: 'boolean', instances: [exposed(b, 'b')] },
        { parameter: 'id', type: 'string', instances: [exposed(a, 'a'), { id: b, name: 'b', source: 'server' }] },
        { parameter: 'mode', type: 'string', instances: [exposed(b, 'b')] },
        { parameter: 'payload', type: 'json', instances: [exposed(b, 'b')] },
      ],
    })
  })
})
