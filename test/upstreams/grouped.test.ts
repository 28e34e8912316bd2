import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { insertToken } from '../oauth/support/tokens.ts'
import { connectListening } from '../servers/mcp.ts'
import { makeServer } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { during, runFakeApi } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type ClientExtras, jsonOf } from './clients.ts'
import { commandOf, everythingCommand } from './support.ts'

vi.setConfig({ testTimeout: 30_000 })

const Listed = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })),
  _meta: z.record(z.string(), z.unknown()).optional(),
})
const Text = z.looseObject({
  content: z.tuple([z.looseObject({ text: z.string() })]).rest(z.looseObject({})),
  isError: z.boolean().optional(),
})
const Tools = z.looseObject({ structuredContent: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
const Resources = z.looseObject({
  resources: z.array(z.looseObject({ uri: z.string() })),
  nextCursor: z.string().optional(),
})
const Templates = z.looseObject({ resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string() })) })
const Prompts = z.looseObject({ prompts: z.array(z.looseObject({ name: z.string() })) })
const Contents = z.looseObject({ contents: z.array(z.looseObject({ uri: z.string() })) })
const Attached = z.looseObject({ skipped: z.array(z.looseObject({})) })
const Executions = z.object({ items: z.array(z.object({ id: z.string() })) })
const Messages = z.looseObject({ messages: z.array(z.looseObject({ content: z.looseObject({}) })) })

type Kind = 'sdk 1' | 'sdk 2 stateless'
const ERAS: readonly Kind[] = ['sdk 1', 'sdk 2 stateless']

describe('a grouped server', () => {
  const world = runAttached()
  const { patchbay } = world
  const api = runFakeApi()

  /** Creates a grouped server and returns its id. */
  const makeGrouped = async (upstreams: Readonly<Record<string, object>> = {}): Promise<string> =>
    (await world.makeServer(upstreams, { presentation: 'grouped' })).serverId
  /** Grouped servers for tests that do not change them. */
  const large = during(async () => ({
    serverId: await makeGrouped({ alpha: commandOf('large', 'alpha'), beta: commandOf('large', 'beta') }),
  }))
  const talks = during(async () => ({
    serverId: await makeGrouped({ alpha: commandOf('talks-old'), beta: commandOf('talks-old') }),
  }))
  const mixed = during(async () => ({ serverId: await makeMixed() }))
  const open = async (kind: Kind, serverId: string, extras: ClientExtras = {}) => {
    const client = await world.connect(kind, serverId, extras)
    return {
      ...client,
      get: async (group: unknown) => client.callTool('get_dynamic_tools', { group }),
      call: async (group: unknown, name: unknown, given?: unknown) =>
        client.callTool('call_dynamic_tool', { group, name, ...(given === undefined ? {} : { args: given }) }),
      describe: async (): Promise<string> => {
        const { tools } = Listed.parse(await client.request('tools/list'))
        return tools.find(({ name }) => name === 'get_dynamic_tools')?.description ?? ''
      },
    }
  }
  const textOf = (answer: unknown): string => Text.parse(answer).content[0].text

  /** Four HTTP tools in two toolkits, one of which has the title of an upstream, and an upstream of npm. */
  const makeMixed = async (): Promise<string> => {
    const tools = [
      { name: 'forecast', method: 'GET', url: `${api.origin}/forecast/{{string:city}}`, description: 'Tomorrow' },
      { name: 'report', method: 'POST', url: `${api.origin}/report`, outputSchema: { type: 'object' } },
    ]
    const { serverId, toolkitId } = await makeServer(world.operator, tools, { server: { presentation: 'grouped' } })
    await world.operator.expectOk('PATCH', `/toolkits/${toolkitId}`, {
      title: 'every',
      description: 'Weather\nby city.',
    })
    const every = { name: 'every', description: 'What npm has.', ...everythingCommand() }
    await world.refresh(await world.attach(serverId, every))
    return serverId
  }

  it.each(ERAS)('has one tool that lists the tools of a group and one that calls them (%s)', async kind => {
    const client = await open(kind, mixed.serverId)
    const { tools, _meta } = Listed.parse(await client.request('tools/list'))
    expect(tools.map(({ name }) => name)).toEqual(['call_dynamic_tool', 'get_dynamic_tools'])
    expect(_meta?.['patchbay/missing']).toBeUndefined()
    expect(tools).toMatchObject([
      {
        inputSchema: { properties: { group: { type: 'string' }, name: { type: 'string' }, args: { type: 'object' } } },
      },
      { inputSchema: { properties: { group: { type: 'string' } }, required: ['group'] } },
    ])
    expect(tools[1]?.description).toMatch(
      /- every \(\d+ tools\): What npm has\.\n- every 2 \(2 tools\): Weather by city\.$/,
    )

    const answer = await client.get('every')
    const { structuredContent } = Tools.parse(answer)
    expect(JSON.parse(textOf(answer))).toEqual(structuredContent.tools)
    expect(structuredContent.tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: expect.any(String),
      inputSchema: { properties: { message: { type: 'string' } } },
    })
    const own = Tools.parse(await client.get('every 2')).structuredContent.tools
    expect(own).toMatchObject([
      {
        name: 'forecast',
        description: 'Tomorrow',
        inputSchema: { required: ['city'] },
        annotations: { readOnlyHint: true },
      },
      { name: 'report', outputSchema: { type: 'object' } },
    ])

    expect(textOf(await client.call('every', 'echo', { message: 'hello' }))).toBe('Echo: hello')
    const image = await client.call('every', 'get-tiny-image')
    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }))
    expect(await client.call('every', 'get-structured-content', { location: 'New York' })).toMatchObject({
      structuredContent: { temperature: expect.any(Number) },
    })
    expect(textOf(await client.call('every 2', 'forecast', { city: 'Oslo' }))).toContain('/forecast/Oslo')
    expect(await client.call('every 2', 'report')).toMatchObject({ structuredContent: { method: 'POST' } })
  })

  it('records the called tool, which also checks its own arguments', async () => {
    const serverId = await makeMixed()
    const client = await open('sdk 1', serverId)
    const refused = await client.call('every 2', 'forecast', { town: 'Oslo' })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toContain('There is no parameter "town"')
    await client.call('every 2', 'forecast', { city: 'Oslo' })
    await client.call('every', 'echo', { message: 'hello' })
    const { body } = await world.operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({
      items: [
        { tool: 'every_echo', outcome: 'ok', request: { url: 'mcp:every/echo' } },
        { tool: 'forecast', outcome: 'ok' },
        { tool: 'forecast', outcome: 'error' },
      ],
    })
    // The page that makes a recorded call again knows the tool's group and its name in it.
    const id = Executions.parse(body).items[0]?.id
    const person = await signInToPages(world.patchbay.origin, 'operator@example.com')
    const { html } = await person.get(`/servers/${serverId}/inspector?tool=every_echo&call=${id}`)
    expect(html).toMatch(/<textarea[^>]* name="argument:group"[^>]*>\s*every</)
    expect(html).toMatch(/<textarea[^>]* name="argument:name"[^>]*>\s*echo</)
  })

  it.each(ERAS)(
    'rejects wrong arguments of its own two tools, names what exists, and records nothing (%s)',
    async kind => {
      const client = await open(kind, mixed.serverId)
      const listExecutionIds = async (): Promise<string[]> => {
        const { body } = await world.operator.expectOk('GET', `/servers/${mixed.serverId}/executions?limit=200`)
        return Executions.parse(body).items.map(({ id }) => id)
      }
      const before = await listExecutionIds()
      const wrong = async (answer: Promise<unknown>): Promise<string> => {
        const result = await answer
        expect(result).toMatchObject({ isError: true })
        return textOf(result)
      }
      expect(await wrong(client.get('nothing'))).toBe('There is no group "nothing". The groups: "every", "every 2".')
      expect(await wrong(client.get(undefined))).toBe('"group" is missing. The groups: "every", "every 2".')
      expect(await wrong(client.get(5))).toBe('"group" is not a string. The groups: "every", "every 2".')
      expect(await wrong(client.get('x\u200b'.repeat(10_000)))).toMatch(/^There is no group "x{99}…"\./)
      expect(await wrong(client.call('nothing', 'echo'))).toContain('The groups: "every", "every 2".')
      expect(await wrong(client.call('every 2', 'every_echo'))).toBe(
        'There is no tool "every_echo" in the group "every 2". Its tools: "forecast", "report".',
      )
      expect(await wrong(client.call('every', '__proto__'))).toContain('Its tools: "echo"')
      expect(await wrong(client.call('every', undefined))).toContain('"name" is missing.')
      expect(await wrong(client.call('every', 'echo', 'text'))).toContain('"args" must be an object')
      expect(await wrong(client.callTool('call_dynamic_tool', { group: 'every', name: 'echo', arguments: {} }))).toBe(
        'There is no parameter "arguments". The parameters: "group", "name", "args".',
      )
      await expect(client.callTool('every_echo', { message: 'x' })).rejects.toThrow('in groups: see get_dynamic_tools')
      expect(await listExecutionIds()).toEqual(before)
    },
  )

  it.each(ERAS)('lists resources, templates and prompts of all groups or of one (%s)', async kind => {
    const client = await open(kind, large.serverId)
    const listAll = async (params: Record<string, unknown> = {}) => {
      const all: z.infer<typeof Resources>['resources'] = []
      let cursor: string | undefined
      do {
        const page = Resources.parse(
          await client.request('resources/list', { ...params, ...(cursor === undefined ? {} : { cursor }) }),
        )
        expect(page.resources.length).toBeLessThanOrEqual(200)
        all.push(...page.resources)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return all
    }
    const all = await listAll()
    expect(all).toHaveLength(902)
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(902)
    const uris = (await listAll({ group: 'beta' })).map(({ uri }) => uri)
    expect(uris).toHaveLength(451)
    expect(uris.every(uri => uri.startsWith('beta'))).toBe(true)
    const shared = all.filter(({ name }) => name === 'shared')
    expect(shared).toMatchObject([
      {
        uri: 'alpha+file:///shared',
        mimeType: 'text/plain',
        size: 12,
        annotations: { audience: ['user'], priority: 0.5 },
      },
      { uri: 'beta+file:///shared' },
    ])
    const { resourceTemplates } = Templates.parse(await client.request('resources/templates/list'))
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: 'alpha+file:///made/{id}', mimeType: 'text/plain' },
      { uriTemplate: 'beta+file:///made/{id}' },
    ])
    const { prompts } = Prompts.parse(await client.request('prompts/list', { group: 'alpha' }))
    expect(prompts).toMatchObject([{ name: 'alpha_ask', arguments: [{ name: 'topic', required: true }] }])

    const read = async (uri: string, params = {}) =>
      Contents.parse(await client.request('resources/read', { uri, ...params })).contents
    expect(await read('beta+file:///shared')).toEqual([
      { uri: 'beta+file:///shared', mimeType: 'text/plain', text: 'file:///shared of beta' },
      { uri: 'file:///shared#image', mimeType: 'image/png', blob: 'AAAA' },
    ])
    expect(await read('alpha+file:///made/7')).toMatchObject([{ text: 'file:///made/7 of alpha' }, {}])
    expect(await read('beta:///007')).toMatchObject([{ text: 'beta:///007 of beta' }, {}])
    expect(await read('file:///shared', { group: 'alpha' })).toMatchObject([{ text: 'file:///shared of alpha' }, {}])
    await expect(read('file:///shared')).rejects.toThrow('Resource not found')
    const get = async (name: string, params = {}) =>
      Messages.parse(await client.request('prompts/get', { name, arguments: { topic: 'x' }, ...params })).messages
    expect(await get('beta_ask')).toMatchObject([{ content: { text: 'ask of beta' } }])
    expect(await get('ask', { group: 'alpha' })).toMatchObject([{ content: { text: 'ask of alpha' } }])

    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
      await expect(client.request(method, { group: 'nothing' })).rejects.toThrow('Unknown group: nothing')
      await expect(client.request(method, { group: 5 })).rejects.toThrow('group is not a string')
    }
    expect(Listed.parse(await client.request('tools/list', { group: 'alpha' })).tools).toHaveLength(2)
  })

  it('lists every item, also those whose names would collide without groups', async () => {
    const upstreams = {
      one: { prefix: 'same', ...commandOf('large', 'one') },
      two: { prefix: 'same', ...commandOf('large', 'two') },
    }
    const { serverId, ids } = await world.makeServer(upstreams, { presentation: 'grouped' })
    const client = await open('sdk 1', serverId)
    for (const name of ['one', 'two']) {
      expect(textOf(await client.call(name, 'tool_7', { text: 'x' }))).toBe(`tool_7 of ${name}: {"text":"x"}`)
    }
    const { prompts } = Prompts.parse(await client.request('prompts/list'))
    expect(prompts.map(({ name }) => name)).toEqual(['one+same_ask', 'two+same_ask'])
    expect(await client.request('prompts/get', { name: 'two+same_ask' })).toMatchObject({
      messages: [{ content: { text: 'ask of two' } }],
    })
    const listSkipped = async () =>
      Attached.parse((await world.operator.expectOk('GET', `/upstreams/${ids.two}`)).body).skipped
    expect(await listSkipped()).toEqual([])
    await world.operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
    expect((await listSkipped()).length).toBeGreaterThan(0)
  })

  it('applies features and patterns, and finds tools by their visible names', async () => {
    const serverId = await makeGrouped({
      books: { features: { tools: false }, ...commandOf('large', 'books') },
      odd: { deny: ['plain'], ...commandOf('odd-lists', 'names') },
    })
    const client = await open('sdk 1', serverId)
    expect(await client.describe()).toMatch(/The groups:\n- odd \(\d+ tools\)$/)
    expect(textOf(await client.get('books'))).toContain('The feature "tools" of the MCP server "books" is off')
    expect(textOf(await client.call('books', 'tool_1'))).toContain(
      'The feature "tools" of the MCP server "books" is off',
    )
    expect(Resources.parse(await client.request('resources/list', { group: 'books' })).resources).toHaveLength(200)
    const names = Tools.parse(await client.get('odd')).structuredContent.tools.map(({ name }) => name)
    expect(names).toContain('with spaces')
    expect(names).toContain('hidden')
    expect(names).not.toContain('plain')
    expect(await client.call('odd', 'plain')).toMatchObject({ isError: true })
    expect(textOf(await client.call('odd', 'with spaces'))).toBe('with spaces')
    expect(textOf(await client.call('odd', 'hidden'))).toBe('hid\u200bden')
    expect(await client.call('odd', 'whole')).toMatchObject({ 'x-own': 'kept', _meta: { 'example.com/own': 1 } })
  })

  it.each(ERAS)('passes on progress and cancellation of a call (%s)', async kind => {
    const client = await open(kind, talks.serverId)
    const steps: unknown[] = []
    const call = (name: string, options: object) =>
      client.callTool('call_dynamic_tool', { group: 'alpha', name }, options)
    await call('count', { onprogress: (step: unknown) => steps.push(step) })
    expect(steps).toEqual([1, 2, 3].map(progress => ({ progress, total: 3, message: `step ${progress}` })))
    const toldOf = async () => jsonOf<{ told: string[] }>(await client.call('alpha', 'told')).told
    const before = await toldOf()
    const stop = new AbortController()
    const waiting = call('wait', { signal: stop.signal })
    await vi.waitFor(async () => expect(await toldOf()).toEqual([...before, 'waiting']))
    stop.abort()
    await expect(waiting).rejects.toThrow()
    await vi.waitFor(async () => expect(await toldOf()).toEqual([...before, 'waiting', 'cancelled']))
  })

  it.each(ERAS)('lets the upstream ask the client during a call (%s)', async kind => {
    const answer = { action: 'accept' as const, content: { name: 'Ada' } }
    const client = await open(kind, talks.serverId, {
      capabilities: { elicitation: { form: {} } },
      prepare1: asked => asked.setRequestHandler(ElicitRequestSchema, () => answer),
      prepare2: asked => asked.setRequestHandler('elicitation/create', () => answer),
    })
    expect(jsonOf(await client.call('beta', 'ask'))).toEqual(answer)
  })

  it.each(ERAS)('completes arguments and announces updates under the names of its groups (%s)', async kind => {
    const client = await open(kind, talks.serverId)
    const complete = async (ref: object, params = {}) =>
      client.request('completion/complete', { ref, argument: { name: 'id', value: 'o' }, ...params })
    const template = { type: 'ref/resource', uri: 'beta+talks://any/{id}' }
    const done = { completion: { values: ['ref/resource:id=o'], total: 7, hasMore: true } }
    expect(await complete(template)).toMatchObject(done)
    expect(await complete({ ...template, uri: 'talks://any/{id}' }, { group: 'beta' })).toMatchObject(done)
    expect(await complete({ type: 'ref/prompt', name: 'alpha_greet' })).toMatchObject({
      completion: { values: ['ref/prompt:id=o'] },
    })
    expect(await complete({ type: 'ref/prompt', name: 'greet' }, { group: 'alpha' })).toMatchObject({
      completion: { values: ['ref/prompt:id=o'] },
    })
    const unsubscribe = await client.subscribe('beta+talks://one')
    expect(jsonOf(await client.call('beta', 'touch'))).toEqual(['talks://one'])
    expect(jsonOf(await client.call('alpha', 'touch'))).toEqual([])
    await vi.waitFor(() => expect(client.updated).toEqual(['beta+talks://one']))
    await unsubscribe()
  })

  it('limits the length of the list of groups, however many and however long they are', async () => {
    const serverId = await makeGrouped()
    const description = 'As long as a description may be. '.repeat(300)
    const names = Array.from({ length: 50 }, (_, index) => `upstream-${String(index).padStart(3, '0')}`)
    for (const name of names) {
      await world.attach(serverId, { name, description, transport: 'http', url: 'http://127.0.0.1:1/mcp' })
    }
    const client = await open('sdk 1', serverId)
    await vi.waitFor(
      async () => expect((await client.describe()).match(/; failed: /g)).toHaveLength(names.length),
      10_000,
    )
    const text = await client.describe()
    expect(names.filter(name => !text.includes(`- ${name} (`))).toEqual([])
    expect(await countTokens(text)).toBeLessThan(6_000)
    expect(textOf(await client.get('x')).length).toBeLessThan(5_000)
  })

  it('costs the model a few hundred tokens for thousands of tools', async () => {
    const client = await open('sdk 1', large.serverId)
    const { tools } = Listed.parse(await client.request('tools/list'))
    expect(await countTokens(JSON.stringify(tools))).toBeLessThan(400)
    expect(Tools.parse(await client.get('beta')).structuredContent.tools).toHaveLength(1_000)
    expect(await client.call('beta', 'tool_999', { text: 'x' })).toMatchObject({
      content: [{ text: 'tool_999 of beta: {"text":"x"}' }],
      structuredContent: { given: { text: 'x' } },
      _meta: { 'example.com/own': 'beta' },
    })
    await world.operator.expectOk('PATCH', `/servers/${large.serverId}`, { presentation: 'flat' })
    const flat = Listed.parse(await client.request('tools/list')).tools
    expect(await countTokens(JSON.stringify(flat))).toBeGreaterThan(10_000)
    await world.operator.expectOk('PATCH', `/servers/${large.serverId}`, { presentation: 'grouped' })
  })

  it.each(['legacy', 'auto'] as const)(
    'announces to connected clients that it becomes flat and grouped again (%s)',
    async mode => {
      const serverId = mixed.serverId
      const { client, lastNames } = await connectListening(`${patchbay.origin}/s/${serverId}`, mode)
      expect((await client.listTools()).tools).toHaveLength(2)
      await world.operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['every_echo', 'forecast', 'report']),
      )
      await vi.waitFor(() => expect(lastNames()).toContain('every_echo'), 10_000)
      await world.operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
      await vi.waitFor(() => expect(lastNames()).toEqual(['call_dynamic_tool', 'get_dynamic_tools']), 10_000)
      await expect(client.callTool({ name: 'forecast', arguments: { city: 'x' } })).rejects.toThrow('Unknown tool')
    },
  )

  it.each(ERAS)('lets a read-only token list tools and call those with readOnlyHint (%s)', async kind => {
    const hint = { annotations: { readOnlyHint: true } }
    const tools = [
      { name: 'look', method: 'GET', url: `${api.origin}/look`, ...hint },
      { name: 'change', method: 'POST', url: `${api.origin}/change` },
    ]
    const server = { presentation: 'grouped', access: 'private' }
    const { serverId } = await makeServer(world.operator, tools, { server })
    const input = { origin: patchbay.origin, userId: world.operator.userId, serverId, scope: 'mcp:read' }
    const { token } = await insertToken(patchbay.services, input)
    const client = await open(kind, serverId, { token })
    expect(Tools.parse(await client.get('Toolkit')).structuredContent.tools).toHaveLength(2)
    expect(textOf(await client.call('Toolkit', 'look'))).toContain('/look')
    for (const [group, name] of [
      ['Toolkit', 'change'],
      ['Toolkit', 'x'],
      ['x', 'look'],
    ]) {
      await expect(client.call(group, name)).rejects.toThrow(/scope|403|Forbidden/i)
    }
    expect(api.seen.map(({ url }) => url)).not.toContain('/change')
  })
})

/** Returns a command that starts only while the file exists. */
const whileThere = (file: string, { command, args }: ReturnType<typeof commandOf>) => ({
  transport: 'stdio',
  command: '/bin/sh',
  args: ['-c', 'test -e "$0" || { echo "not ready" >&2; exit 3; }; exec "$@"', file, command, ...args],
})

describe('an upstream that fails', () => {
  const world = runAttached()

  const NEVER = [{ upstream: 'late', why: expect.stringContaining('code 3') }]
  const missingOf = (answer: unknown): unknown =>
    z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).parse(answer)._meta?.['patchbay/missing']

  /** Creates a server with an upstream that works and one that works only while a file exists. */
  const makeFailing = async (presentation: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-late-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'ready')
    const { serverId, url } = await world.makeServer({ good: commandOf('sdk-old') }, { presentation })
    const body = { name: 'late', description: 'Comes late.', ...whileThere(file, commandOf('hostile')) }
    const id = await world.attach(serverId, body)
    return {
      serverId,
      url,
      appear: () => writeFileSync(file, ''),
      vanish: () => rmSync(file),
      refresh: () => world.refresh(id),
    }
  }
  const connectToGroups = async (url: string) => {
    const { client, changes } = await connectListening(url)
    const told = () => changes.map(tools => tools.find(isGet)?.description ?? '')
    const describe = async (): Promise<string> => (await client.listTools()).tools.find(isGet)?.description ?? ''
    return { client, told, describe }
  }
  const isGet = ({ name }: { name: string }): boolean => name === 'get_dynamic_tools'

  it.each([
    ['flat', 'sdk 1'],
    ['grouped', 'sdk 2 stateless'],
  ] as const)('is named as missing in %s lists, with the reason, until it works (%s)', async (how, kind) => {
    const { serverId, appear, refresh } = await makeFailing(how)
    const client = await world.connect(kind, serverId)
    const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']
    await vi.waitFor(async () => {
      for (const method of lists) expect(missingOf(await client.request(method))).toEqual(NEVER)
    }, 10_000)
    if (how === 'grouped') {
      expect(missingOf(await client.request('prompts/list', { group: 'late' }))).toEqual(NEVER)
      expect(missingOf(await client.request('prompts/list', { group: 'good' }))).toBeUndefined()
    }
    appear()
    await refresh()
    for (const method of lists) expect(missingOf(await client.request(method))).toBeUndefined()
  })

  it('is marked in the list of groups until it works again', async () => {
    const { url, appear, vanish, refresh } = await makeFailing('grouped')
    const { client, told, describe } = await connectToGroups(url)
    const failed = /- late \(tools not known yet; failed: [^\n]*code 3[^\n]*\): Comes late\.$/
    await vi.waitFor(async () => expect(await describe()).toMatch(failed), 10_000)
    expect(await client.callTool({ name: 'get_dynamic_tools', arguments: { group: 'late' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^The group "late" is not available yet: .*code 3/) }],
    })
    appear()
    await refresh()
    await vi.waitFor(() => expect(told().at(-1)).toMatch(/- late \(\d+ tools\): Comes late\.$/), 10_000)

    const call = (name: string) =>
      client.callTool({ name: 'call_dynamic_tool', arguments: { group: 'late', name, args: { text: 'back' } } })
    vanish()
    expect(await call('die')).toMatchObject({ isError: true })
    expect(await call('echo')).toMatchObject({ isError: true })
    await vi.waitFor(() => expect(told().at(-1)).toMatch(/- late \(\d+ tools; failed: [^\n]*code 3/), 10_000)
    expect(await client.callTool({ name: 'get_dynamic_tools', arguments: { group: 'late' } })).toMatchObject({
      structuredContent: { tools: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]) },
    })
    appear()
    expect(await call('echo')).toMatchObject({ content: [{ text: 'back' }] })
    await vi.waitFor(() => expect(told().at(-1)).toMatch(/- late \(\d+ tools\): Comes late\.$/), 10_000)
  })
})
