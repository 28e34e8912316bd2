import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { insertToken } from '../oauth/support/tokens.ts'
import { runFakeApi, runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { type ClientExtras, connectClient, jsonOf } from './clients.ts'
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
const Messages = z.looseObject({ messages: z.array(z.looseObject({ content: z.looseObject({}) })) })

type Kind = 'sdk 1' | 'sdk 2 stateless'
const ERAS: readonly Kind[] = ['sdk 1', 'sdk 2 stateless']

describe('a grouped server', () => {
  const patchbay = runPatchbay(undefined, { PATCHBAY_ALLOW_STDIO: 'true' })
  const api = runFakeApi()
  let operator: ApiClient & { userId: string }
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })

  const makeGrouped = async (access = 'public'): Promise<string> =>
    (await operator.create('/servers', { name: 'Grouped', maxResponseTokens: 0, access, presentation: 'grouped' })).id
  const attach = async (serverId: string, body: object): Promise<string> =>
    (await operator.create(`/servers/${serverId}/upstreams`, body)).id
  const attachKnown = async (serverId: string, body: object): Promise<string> => {
    const id = await attach(serverId, body)
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    return id
  }
  const urlOf = (serverId: string): string => `${patchbay.origin}/s/${serverId}`
  const open = async (kind: Kind, serverId: string, extras: ClientExtras = {}) => {
    const client = await connectClient(kind, urlOf(serverId), extras)
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

  /** Four HTTP tools in two toolkits, one of which has the title of an upstream, and a published MCP server. */
  const makeMixed = async () => {
    const tools = [
      { name: 'forecast', method: 'GET', url: `${api.origin}/forecast/{{string:city}}`, description: 'Tomorrow' },
      { name: 'report', method: 'POST', url: `${api.origin}/report`, outputSchema: { type: 'object' } },
    ]
    const { serverId, toolkitId } = await makeServer(operator, tools, { server: { presentation: 'grouped' } })
    await operator.expectOk('PATCH', `/toolkits/${toolkitId}`, { title: 'every', description: 'Weather\nby city.' })
    await attachKnown(serverId, { name: 'every', description: 'What npm has.', ...everythingCommand() })
    return { serverId, toolkitId }
  }

  it.each(ERAS)(
    'has two tools: one lists the tools of a toolkit or upstream, the other calls them (%s)',
    async kind => {
      const { serverId } = await makeMixed()
      const client = await open(kind, serverId)
      const { tools, _meta } = Listed.parse(await client.request('tools/list'))
      expect(tools.map(({ name }) => name)).toEqual(['call_dynamic_tool', 'get_dynamic_tools'])
      expect(_meta?.['patchbay/missing']).toBeUndefined()
      expect(tools).toMatchObject([
        {
          inputSchema: {
            properties: { group: { type: 'string' }, name: { type: 'string' }, args: { type: 'object' } },
          },
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
    },
  )

  it('records the inner tool, which validates its own arguments', async () => {
    const { serverId } = await makeMixed()
    const client = await open('sdk 1', serverId)
    const refused = await client.call('every 2', 'forecast', { town: 'Oslo' })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toContain('There is no parameter "town"')
    await client.call('every 2', 'forecast', { city: 'Oslo' })
    await client.call('every', 'echo', { message: 'hello' })
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({
      items: [
        { tool: 'every_echo', outcome: 'ok', request: { url: 'mcp:every/echo' } },
        { tool: 'forecast', outcome: 'ok' },
        { tool: 'forecast', outcome: 'error' },
      ],
    })
  })

  it.each(ERAS)('explains invalid arguments of its two tools, and lists what is available (%s)', async kind => {
    const { serverId } = await makeMixed()
    const client = await open(kind, serverId)
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
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({ items: [] })
  })

  it.each(ERAS)('lists resources, templates and prompts of all groups, or of one (%s)', async kind => {
    const serverId = await makeGrouped()
    await attachKnown(serverId, { name: 'alpha', ...commandOf('large', 'alpha') })
    await attachKnown(serverId, { name: 'beta', ...commandOf('large', 'beta') })
    const client = await open(kind, serverId)
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

  it('omits nothing that would have a name conflict without groups', async () => {
    const serverId = await makeGrouped()
    await attachKnown(serverId, { name: 'one', prefix: 'same', ...commandOf('large', 'one') })
    const second = await attachKnown(serverId, { name: 'two', prefix: 'same', ...commandOf('large', 'two') })
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
      Attached.parse((await operator.expectOk('GET', `/upstreams/${second}`)).body).skipped
    expect(await listSkipped()).toEqual([])
    await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
    expect((await listSkipped()).length).toBeGreaterThan(0)
  })

  it('respects features and patterns, and calls tools by their visible names', async () => {
    const serverId = await makeGrouped()
    const features = { tools: false }
    await attachKnown(serverId, { name: 'books', features, ...commandOf('large', 'books') })
    await attachKnown(serverId, { name: 'odd', deny: ['plain'], ...commandOf('odd-lists', 'names') })
    const client = await open('sdk 1', serverId)
    expect(await client.describe()).toMatch(/The groups:\n- odd \(\d+ tools\)$/)
    expect(textOf(await client.get('books'))).toContain('The feature "tools" of the upstream "books" is off')
    expect(textOf(await client.call('books', 'tool_1'))).toContain('The feature "tools" of the upstream "books" is off')
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

  it.each(ERAS)("reports progress of an upstream's call and cancels it, as without groups (%s)", async kind => {
    const serverId = await makeGrouped()
    await attachKnown(serverId, { name: 'talks', ...commandOf('talks-old') })
    const client = await open(kind, serverId)
    const steps: unknown[] = []
    const call = (name: string, options: object) =>
      client.callTool('call_dynamic_tool', { group: 'talks', name }, options)
    await call('count', { onprogress: (step: unknown) => steps.push(step) })
    expect(steps).toEqual([1, 2, 3].map(progress => ({ progress, total: 3, message: `step ${progress}` })))
    const stop = new AbortController()
    const waiting = call('wait', { signal: stop.signal })
    const toldOf = async () => jsonOf<{ told: string[] }>(await client.call('talks', 'told')).told
    await vi.waitFor(async () => expect(await toldOf()).toContain('waiting'))
    stop.abort()
    await expect(waiting).rejects.toThrow()
    await vi.waitFor(async () => expect(await toldOf()).toContain('cancelled'))
  })

  it.each(ERAS)('lets an upstream ask the client during a call (%s)', async kind => {
    const serverId = await makeGrouped()
    await attachKnown(serverId, { name: 'talks', ...commandOf('talks-old') })
    const answer = { action: 'accept' as const, content: { name: 'Ada' } }
    const client = await open(kind, serverId, {
      capabilities: { elicitation: { form: {} } },
      prepare1: asked => asked.setRequestHandler(ElicitRequestSchema, () => answer),
      prepare2: asked => asked.setRequestHandler('elicitation/create', () => answer),
    })
    expect(jsonOf(await client.call('talks', 'ask'))).toEqual(answer)
  })

  it.each(ERAS)('completes arguments and announces updates under the names of its groups (%s)', async kind => {
    const serverId = await makeGrouped()
    for (const name of ['alpha', 'beta']) await attachKnown(serverId, { name, ...commandOf('talks-old') })
    const client = await open(kind, serverId)
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

  it('limits the descriptions of its groups, however many and long they are', async () => {
    const serverId = await makeGrouped()
    const description = 'As long as a description may be. '.repeat(300)
    const names = Array.from({ length: 100 }, (_, index) => `upstream-${String(index).padStart(3, '0')}`)
    for (const name of names) {
      await attach(serverId, { name, description, transport: 'http', url: 'http://127.0.0.1:1/mcp' })
    }
    const client = await open('sdk 1', serverId)
    await vi.waitFor(async () => expect((await client.describe()).match(/; failed: /g)).toHaveLength(100), 10_000)
    const text = await client.describe()
    expect(names.filter(name => !text.includes(`- ${name} (`))).toEqual([])
    expect(await countTokens(text)).toBeLessThan(6_000)
    expect(textOf(await client.get('x')).length).toBeLessThan(5_000)
  })

  it('costs a model a few hundred tokens with thousands of tools', async () => {
    const serverId = await makeGrouped()
    await attachKnown(serverId, { name: 'alpha', ...commandOf('large', 'alpha') })
    await attachKnown(serverId, { name: 'beta', ...commandOf('large', 'beta') })
    const client = await open('sdk 1', serverId)
    const { tools } = Listed.parse(await client.request('tools/list'))
    expect(await countTokens(JSON.stringify(tools))).toBeLessThan(400)
    expect(Tools.parse(await client.get('beta')).structuredContent.tools).toHaveLength(1_000)
    expect(await client.call('beta', 'tool_999', { text: 'x' })).toMatchObject({
      content: [{ text: 'tool_999 of beta: {"text":"x"}' }],
      structuredContent: { given: { text: 'x' } },
      _meta: { 'example.com/own': 'beta' },
    })
    await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
    const flat = Listed.parse(await client.request('tools/list')).tools
    expect(await countTokens(JSON.stringify(flat))).toBeGreaterThan(10_000)
  })

  it.each(['legacy', 'auto'] as const)(
    'becomes flat and grouped again while clients are connected (%s)',
    async mode => {
      const { serverId } = await makeMixed()
      const changes: string[][] = []
      const client = new Client(
        { name: 'official', version: '1.0.0' },
        {
          versionNegotiation: { mode },
          listChanged: {
            tools: { onChanged: (_error, tools) => changes.push((tools ?? []).map(({ name }) => name)), debounceMs: 0 },
          },
        },
      )
      await client.connect(new StreamableHTTPClientTransport(new URL(urlOf(serverId))))
      onTestFinished(() => client.close())
      expect((await client.listTools()).tools).toHaveLength(2)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['every_echo', 'forecast', 'report']),
      )
      await vi.waitFor(() => expect(changes.at(-1)).toContain('every_echo'), 10_000)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
      await vi.waitFor(() => expect(changes.at(-1)).toEqual(['call_dynamic_tool', 'get_dynamic_tools']), 10_000)
      await expect(client.callTool({ name: 'forecast', arguments: { city: 'x' } })).rejects.toThrow('Unknown tool')
    },
  )

  it.each(ERAS)('lets a read-only token list tools and call read-only ones (%s)', async kind => {
    const hint = { annotations: { readOnlyHint: true } }
    const tools = [
      { name: 'look', method: 'GET', url: `${api.origin}/look`, ...hint },
      { name: 'change', method: 'POST', url: `${api.origin}/change` },
    ]
    const server = { presentation: 'grouped', access: 'private' }
    const { serverId } = await makeServer(operator, tools, { server })
    const wish = { origin: patchbay.origin, userId: operator.userId, serverId, scope: 'mcp:read' }
    const { token } = await insertToken(patchbay.services, wish)
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

/** Starts only while the file exists. */
const whileThere = (file: string, { command, args }: ReturnType<typeof commandOf>) => ({
  transport: 'stdio',
  command: '/bin/sh',
  args: ['-c', 'test -e "$0" || { echo "not ready" >&2; exit 3; }; exec "$@"', file, command, ...args],
})

describe('an upstream that fails', () => {
  const patchbay = runPatchbay(undefined, { PATCHBAY_ALLOW_STDIO: 'true' })
  let operator: ApiClient & { userId: string }
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })

  const NEVER = [{ upstream: 'late', why: expect.stringContaining('code 3') }]
  const missingOf = (answer: unknown): unknown =>
    z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).parse(answer)._meta?.['patchbay/missing']

  /** A server with an upstream that works and one that fails while the file is missing. */
  const makeFailing = async (presentation: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-late-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'ready')
    const { id: serverId } = await operator.create('/servers', {
      name: 'Failing',
      maxResponseTokens: 0,
      access: 'public',
      presentation,
    })
    const good = await operator.create(`/servers/${serverId}/upstreams`, { name: 'good', ...commandOf('sdk-old') })
    await operator.expectOk('POST', `/upstreams/${good.id}/refresh`)
    const body = { name: 'late', description: 'Comes late.', ...whileThere(file, commandOf('hostile')) }
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, body)
    return {
      serverId,
      id,
      appear: () => writeFileSync(file, ''),
      vanish: () => rmSync(file),
      refresh: () => operator.expectOk('POST', `/upstreams/${id}/refresh`),
    }
  }
  const connectListening = async (serverId: string, mode: 'legacy' | 'auto') => {
    const told: string[] = []
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      {
        versionNegotiation: { mode },
        listChanged: {
          tools: {
            onChanged: (_error, tools) => told.push(tools?.find(isGet)?.description ?? ''),
            debounceMs: 0,
          },
        },
      },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${patchbay.origin}/s/${serverId}`)))
    onTestFinished(() => client.close())
    const describe = async (): Promise<string> => (await client.listTools()).tools.find(isGet)?.description ?? ''
    return { client, told, describe }
  }
  const isGet = ({ name }: { name: string }): boolean => name === 'get_dynamic_tools'

  it.each([
    ['flat', 'sdk 1'],
    ['flat', 'sdk 2 stateless'],
    ['grouped', 'sdk 1'],
    ['grouped', 'sdk 2 stateless'],
  ] as const)('is said to be missing in the lists, with the reason, until it comes: %s (%s)', async (how, kind) => {
    const { serverId, appear, refresh } = await makeFailing(how)
    const client = await connectClient(kind, `${patchbay.origin}/s/${serverId}`)
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

  it.each(['legacy', 'auto'] as const)('is named in the list of groups until it recovers (%s)', async mode => {
    const { serverId, appear, vanish, refresh } = await makeFailing('grouped')
    const { client, told, describe } = await connectListening(serverId, mode)
    const failed = /- late \(tools not known yet; failed: [^\n]*code 3[^\n]*\): Comes late\.$/
    await vi.waitFor(async () => expect(await describe()).toMatch(failed), 10_000)
    expect(await client.callTool({ name: 'get_dynamic_tools', arguments: { group: 'late' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^The group "late" is not available yet: .*code 3/) }],
    })
    appear()
    await refresh()
    await vi.waitFor(() => expect(told.at(-1)).toMatch(/- late \(\d+ tools\): Comes late\.$/), 10_000)

    const call = (name: string) =>
      client.callTool({ name: 'call_dynamic_tool', arguments: { group: 'late', name, args: { text: 'back' } } })
    vanish()
    expect(await call('die')).toMatchObject({ isError: true })
    expect(await call('echo')).toMatchObject({ isError: true })
    await vi.waitFor(() => expect(told.at(-1)).toMatch(/- late \(\d+ tools; failed: [^\n]*code 3/), 10_000)
    expect(await client.callTool({ name: 'get_dynamic_tools', arguments: { group: 'late' } })).toMatchObject({
      structuredContent: { tools: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]) },
    })
    appear()
    expect(await call('echo')).toMatchObject({ content: [{ text: 'back' }] })
    await vi.waitFor(() => expect(told.at(-1)).toMatch(/- late \(\d+ tools\): Comes late\.$/), 10_000)
  })
})
