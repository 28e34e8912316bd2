import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { insertToken } from '../oauth/support/tokens.ts'
import { connectListening } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { type ClientExtras, connectClient, jsonOf } from '../upstreams/clients.ts'
import { commandOf, everythingCommand } from '../upstreams/support.ts'

vi.setConfig({ testTimeout: 30_000 })

const Listed = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })),
})
const Text = z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]).rest(z.looseObject({})) })
const Found = z.looseObject({ structuredContent: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
const Auto = z.looseObject({
  shownAs: z
    .object({ presentation: z.string(), tokens: z.number(), maxTokens: z.number(), why: z.string() })
    .nullable(),
})

type Kind = 'sdk 1' | 'sdk 2 stateless'
const ERAS: readonly Kind[] = ['sdk 1', 'sdk 2 stateless']

describe('a server whose tools are found by search', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const api = runFakeApi()
  const operator = runUser(patchbay, 'operator@example.com')

  const open = async (kind: Kind, serverId: string, extras: ClientExtras = {}) => {
    const client = await connectClient(kind, `${patchbay.origin}/s/${serverId}`, extras)
    const find = (queries: unknown, more: object = {}) => client.callTool('find_tools', { queries, ...more })
    return {
      ...client,
      find,
      call: (name: unknown, given?: unknown) =>
        client.callTool('call_tool', { name, ...(given === undefined ? {} : { arguments: given }) }),
      list: async () => Listed.parse(await client.request('tools/list')).tools,
      namesFor: async (queries: string | readonly string[], more: object = {}): Promise<string[]> =>
        Found.parse(await find(queries, more)).structuredContent.tools.map(({ name }) => name),
    }
  }
  const textOf = (answer: unknown): string => Text.parse(answer).content[0].text
  const attachKnown = async (serverId: string, body: object): Promise<void> => {
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, body)
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
  }

  const toolsOf = (origin: string) => [
    {
      name: 'forecast',
      method: 'GET',
      url: `${origin}/forecast/{{string:city}}`,
      description: 'What the sky will be like tomorrow',
    },
    { name: 'createInvoice', method: 'POST', url: `${origin}/invoices`, description: 'Writes an invoice' },
    { name: 'list_invoices', method: 'GET', url: `${origin}/invoices`, annotations: { readOnlyHint: true } },
  ]
  const makeSearched = async (server: object = {}) =>
    makeServer(operator, toolsOf(api.origin), { server: { presentation: 'search', ...server } })

  it.each(ERAS)('lists two tools, one to find the others and one to call them (%s)', async kind => {
    const { serverId } = await makeSearched()
    const client = await open(kind, serverId)
    expect((await client.list()).map(({ name }) => name)).toEqual(['call_tool', 'find_tools'])
    const answer = await client.find('weather')
    const { tools } = Found.parse(answer).structuredContent
    expect(JSON.parse(textOf(answer))).toEqual(tools)
    expect(tools[0]).toEqual({
      name: 'forecast',
      description: 'What the sky will be like tomorrow',
      inputSchema: expect.objectContaining({ properties: { city: { type: 'string' } }, required: ['city'] }),
    })
    expect(textOf(await client.call('forecast', { city: 'Bern' }))).toContain('/forecast/Bern')
    expect(await client.namesFor('invoices')).toEqual(expect.arrayContaining(['createInvoice', 'list_invoices']))
    expect(await client.namesFor('invoices', { limit: 1 })).toHaveLength(1)
  })

  it.each(ERAS)('lists pinned tools in full, which can be called directly (%s)', async kind => {
    const { serverId } = await makeSearched({ pinnedTools: ['forecast', 'not there'] })
    const client = await open(kind, serverId)
    expect((await client.list()).map(({ name }) => name)).toEqual(['call_tool', 'find_tools', 'forecast'])
    expect(textOf(await client.callTool('forecast', { city: 'Basel' }))).toContain('/forecast/Basel')
    expect(textOf(await client.call('forecast', { city: 'Bern' }))).toContain('/forecast/Bern')
    await expect(client.callTool('createInvoice')).rejects.toThrow(
      /Find the tools of this server with find_tools and call them with call_tool/,
    )
  })

  it.each(ERAS)('sends as many found tools as the budget allows and names the rest (%s)', async kind => {
    const tools = Array.from({ length: 8 }, (_, index) => ({
      name: `invoice_${index}`,
      method: 'GET',
      url: `${api.origin}/invoices/${index}`,
      description: `Writes invoice ${index}. ${'It has many words to say of it. '.repeat(12)}`,
    }))
    const made = (server: object) => makeServer(operator, tools, { server: { presentation: 'search', ...server } })
    const ask = async (server: object) => {
      const client = await open(kind, (await made(server)).serverId)
      const answer = await client.find('invoice', { limit: 8 })
      const { content } = z.looseObject({ content: z.array(z.object({ text: z.string() })) }).parse(answer)
      return { names: Found.parse(answer).structuredContent.tools.map(({ name }) => name), content }
    }
    const { names, content } = await ask({ maxResponseTokens: 500 })
    expect(names.length).toBeGreaterThan(1)
    expect(names.length).toBeLessThan(8)
    expect(await countTokens(content.map(({ text }) => text).join('\n'))).toBeLessThanOrEqual(500)
    expect(JSON.parse(content[0]?.text ?? '')).toHaveLength(names.length)
    expect(content[1]?.text).toMatch(/^These also match: "invoice_\d".* They do not fit the token budget\./)
    expect((await ask({ maxResponseTokens: 200 })).names).toHaveLength(1)
    expect((await ask({ maxResponseTokens: 0 })).names).toHaveLength(8)
  })

  it('reserves the names of its own two tools, and still calls other tools of these names', async () => {
    const own = ['call_tool', 'find_tools'].map(name => ({ name, method: 'GET', url: `${api.origin}/own/${name}` }))
    const server = { presentation: 'search', pinnedTools: ['call_tool', 'find_tools'] }
    const { serverId } = await makeServer(operator, own, { server })
    const client = await open('sdk 1', serverId)
    expect((await client.list()).map(({ name }) => name)).toEqual(['call_tool', 'find_tools'])
    expect(await client.namesFor('find tools')).toContain('find_tools')
    expect(textOf(await client.call('find_tools'))).toContain('/own/find_tools')
    expect(textOf(await client.call('call_tool'))).toContain('/own/call_tool')
  })

  it.each(ERAS)('answers a wrong request with what is possible (%s)', async kind => {
    const { serverId } = await makeSearched()
    const client = await open(kind, serverId)
    expect(await client.call('create_invoce')).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching(/^There is no tool "create_invoce"\. The nearest are: "createInvoice"/) },
      ],
    })
    expect(textOf(await client.call('qqqq'))).toBe('There is no tool "qqqq". find_tools finds tools.')
    expect(textOf(await client.call('<b>\n'.repeat(1_000))).length).toBeLessThan(1_000)
    for (const [name, given, text] of [
      ['find_tools', {}, '"queries" is missing. Describe the task in a few words.'],
      ['find_tools', { queries: [' ', ''] }, '"queries" is empty. Describe the task in a few words.'],
      ['find_tools', { queries: ['x', 7] }, '"queries" is not a list of strings. Describe the task in a few words.'],
      ['find_tools', { queries: [...'abcdef'] }, '"queries" has more than 5 phrasings.'],
      ['find_tools', { queries: ['x'], group: 'Tools' }, 'There is no group "Tools". The groups: "Toolkit".'],
      ['find_tools', { queries: ['x'], group: 7 }, '"group" is not a string. The groups: "Toolkit".'],
      ['call_tool', { name: 'find_tools' }, 'find_tools cannot be called through call_tool: call it directly.'],
      ['find_tools', { queries: ['x'], limit: 21 }, '"limit" must be a whole number from 1 to 20.'],
      [
        'find_tools',
        { query: 'x', top: 1 },
        'There is no parameter "top". The parameters: "queries", "group", "limit".',
      ],
      ['call_tool', {}, '"name" is missing. find_tools finds tools.'],
      [
        'call_tool',
        { name: 'forecast', arguments: [] },
        '"arguments" must be an object with the arguments of the tool.',
      ],
    ] as const) {
      expect(await client.callTool(name, given)).toMatchObject({ isError: true, content: [{ text }] })
    }
    expect(await client.find('xylophone')).toMatchObject({
      content: [{ text: expect.stringMatching(/^No tool matches "xylophone"/) }],
      structuredContent: { tools: [] },
    })
    expect(textOf(await client.call('forecast', null))).toMatch(/city/)
  })

  it.each(ERAS)('takes several phrasings, of which the one that fits best decides (%s)', async kind => {
    const { serverId } = await makeSearched()
    const client = await open(kind, serverId)
    const phrasings = ['what is it like outside', 'bills', 'forecast of a city']
    expect(await client.namesFor(phrasings, { limit: 1 })).toEqual(['forecast'])
    expect(await client.namesFor(['forecast', 'list invoices'])).toEqual(
      expect.arrayContaining(['forecast', 'list_invoices']),
    )
    expect(await client.find(['xylophone', 'zither'])).toMatchObject({
      content: [{ text: expect.stringMatching(/^No tool matches "xylophone" or "zither"/) }],
    })
    const before = Found.parse(await client.callTool('find_tools', { query: 'forecast' }))
    expect(before.structuredContent.tools[0]).toMatchObject({ name: 'forecast' })
  })

  it.each(ERAS)('finds the tools of one group, whose names and sizes its description lists (%s)', async kind => {
    const { serverId } = await makeSearched()
    await attachKnown(serverId, { name: 'talks', ...commandOf('talks-old') })
    const client = await open(kind, serverId)
    const all = await client.namesFor('talks', { group: 'talks', limit: 20 })
    expect(all.length).toBeGreaterThan(1)
    expect(all.every(name => name.startsWith('talks_'))).toBe(true)
    expect(await client.namesFor(['invoices', 'talks'], { group: 'Toolkit' })).toEqual(
      expect.arrayContaining(['createInvoice', 'list_invoices']),
    )
    expect(await client.find('invoices', { group: 'talks' })).toMatchObject({
      content: [{ text: expect.stringMatching(/^No tool in the group "talks" matches "invoices"/) }],
    })
    const description = (await client.list()).find(({ name }) => name === 'find_tools')?.description
    expect(description).toContain('in English, each as API documentation would put it')
    expect(description).toMatch(/"talks" \(\d+\), "Toolkit" \(3\)/)
  })

  it('names the most used tools that every caller may use, in the order of the days before', async () => {
    const tools = ['first', 'second', 'third', 'writes'].map(name => ({
      name,
      method: 'GET',
      url: `${api.origin}/${name}`,
      ...(name !== 'writes' && { annotations: { readOnlyHint: true } }),
    }))
    const { serverId } = await makeServer(operator, tools, {
      server: { presentation: 'search', pinnedTools: ['third'] },
    })
    const client = await open('sdk 1', serverId)
    const describeTools = async () => (await client.list()).find(({ name }) => name === 'find_tools')?.description
    expect(await describeTools()).not.toContain('Most used')
    const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    const used = (tool: string, calls: number, days: number) => ({ serverId, tool, calls, day: dayBefore(days) })
    await patchbay.services.db.toolDay.createMany({
      data: [
        used('writes', 100, 1),
        used('third', 50, 1),
        used('second', 9, 2),
        used('second', 9, 1),
        used('first', 10, 1),
        used('removed', 30, 1),
      ],
    })
    await patchbay.services.upkeep.run()
    expect(await describeTools()).toMatch(/Most used: second, first\.$/)
    const changed: string[] = []
    patchbay.services.bus.subscribe('server_changed', event => void changed.push(event.serverId))
    // Tools that are not named change places.
    await patchbay.services.db.toolDay.create({ data: used('removed', 1_000, 2) })
    await patchbay.services.upkeep.run()
    expect(changed).not.toContain(serverId)
    // The calls of today count tomorrow, so that the list changes at most once a day.
    await patchbay.services.db.toolDay.create({ data: used('first', 1_000, 0) })
    await operator.expectOk('PATCH', `/servers/${serverId}`, { description: 'Compiled again' })
    expect(await describeTools()).toMatch(/Most used: second, first\.$/)
  })

  it.each(ERAS)('finds only read-only tools for a token that may only read (%s)', async kind => {
    const { serverId } = await makeSearched({ access: 'private' })
    const wish = { origin: patchbay.origin, userId: operator.userId, serverId, scope: 'mcp:read' }
    const { token } = await insertToken(patchbay.services, wish)
    const client = await open(kind, serverId, { token })
    expect(await client.namesFor('invoices')).toEqual(['list_invoices'])
    expect(textOf(await client.call('list_invoices'))).toContain('/invoices')
    const before = api.seen.length
    for (const name of ['createInvoice', 'no such tool']) {
      await expect(client.call(name)).rejects.toThrow(/scope|403|Forbidden/i)
    }
    expect(api.seen).toHaveLength(before)
  })

  it('refuses a search by somebody who may not use the server', async () => {
    const { serverId } = await makeSearched({ access: 'private' })
    const stranger = await signUp(patchbay.origin, 'stranger@example.com')
    const wish = { origin: patchbay.origin, userId: stranger.userId, serverId, scope: 'mcp:read mcp:call' }
    const { token } = await insertToken(patchbay.services, wish)
    await expect(open('sdk 1', serverId, { token })).rejects.toThrow()
    await expect(open('sdk 2 stateless', serverId, { token })).rejects.toThrow()
  })

  it.each(ERAS)(
    'finds and calls the tools of upstreams, which history records under the same names (%s)',
    async kind => {
      const { serverId } = await makeSearched()
      await attachKnown(serverId, { name: 'talks', ...commandOf('talks-old') })
      const client = await open(kind, serverId)
      expect(await client.namesFor('invoices')).toContain('createInvoice')
      const names = await client.namesFor('talks', { limit: 20 })
      expect(names.length).toBeGreaterThan(1)
      expect(names.every(name => name.startsWith('talks_'))).toBe(true)
    },
  )

  it.each(ERAS)('lets an upstream ask the calling client (%s)', async kind => {
    const { serverId } = await makeSearched()
    await attachKnown(serverId, { name: 'talks', ...commandOf('talks-old') })
    const answer = { action: 'accept' as const, content: { name: 'Ada' } }
    const client = await open(kind, serverId, {
      capabilities: { elicitation: { form: {} } },
      prepare1: asked => asked.setRequestHandler(ElicitRequestSchema, () => answer),
      prepare2: asked => asked.setRequestHandler('elicitation/create', () => answer),
    })
    expect(jsonOf(await client.call('talks_ask'))).toEqual(answer)
  })

  it('finds and calls tools that an upstream offers only to clients that can be asked', async () => {
    const { serverId } = await makeSearched()
    await attachKnown(serverId, { name: 'every', ...everythingCommand() })
    const answer = { action: 'accept' as const, content: { name: 'Ada' } }
    const asked = await open('sdk 1', serverId, {
      capabilities: { elicitation: { form: {} } },
      prepare1: client => client.setRequestHandler(ElicitRequestSchema, () => answer),
    })
    const name = 'every_trigger-elicitation-request'
    expect(JSON.stringify(await asked.call(name))).toContain('Name: Ada')
    await vi.waitFor(async () => expect(await asked.namesFor('trigger elicitation')).toContain(name), 10_000)
    const other = await open('sdk 1', serverId)
    expect(await other.namesFor('trigger elicitation')).not.toContain(name)
    expect(textOf(await other.call(name))).toContain('There is no tool')
  })

  it('names missing upstreams in its list and says why their tools cannot be called', async () => {
    const { serverId } = await makeSearched()
    const away = { name: 'away', transport: 'http', url: 'http://127.0.0.1:1/mcp' }
    await operator.create(`/servers/${serverId}/upstreams`, away)
    const client = await open('sdk 2 stateless', serverId)
    const missing = async () =>
      z.looseObject({ _meta: z.looseObject({}) }).parse(await client.request('tools/list'))._meta
    expect(await missing()).toMatchObject({ 'patchbay/missing': [{ upstream: 'away' }] })
    expect(textOf(await client.call('away_thing'))).toContain('The MCP server "away" is unavailable')
  })

  it('costs at most a thousand tokens with a thousand tools and finds each of them', async () => {
    const { id: serverId } = await operator.create('/servers', {
      name: 'Large',
      access: 'public',
      presentation: 'search',
    })
    await attachKnown(serverId, { name: 'alpha', ...commandOf('large', 'alpha') })
    const client = await open('sdk 1', serverId)
    const tools = await client.list()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_tool', 'find_tools']))
    expect(await countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(1_000)
    expect(tools.find(({ name }) => name === 'find_tools')?.description).toContain('1000')
    expect((await client.namesFor('alpha_tool_999'))[0]).toBe('alpha_tool_999')
    expect(await client.call('alpha_tool_999', { text: 'x' })).toMatchObject({
      structuredContent: { given: { text: 'x' } },
    })
  })

  it.each(['legacy', 'auto'] as const)(
    'notifies connected clients when search is turned on and off (%s)',
    async mode => {
      const { serverId } = await makeSearched({ presentation: 'flat' })
      const { client, lastNames } = await connectListening(`${patchbay.origin}/s/${serverId}`, mode)
      expect((await client.listTools()).tools).toHaveLength(3)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'search' })
      await vi.waitFor(() => expect(lastNames()).toEqual(['call_tool', 'find_tools']), 10_000)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { pinnedTools: ['forecast'] })
      await vi.waitFor(() => expect(lastNames()).toEqual(['call_tool', 'find_tools', 'forecast']), 10_000)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
      await vi.waitFor(() => expect(lastNames()).toHaveLength(3), 10_000)
    },
  )

  describe('with the presentation auto', () => {
    const shownAsOf = async (serverId: string) =>
      Auto.parse((await operator.send('GET', `/servers/${serverId}`)).body).shownAs

    it.each(ERAS)('is flat while its tools are cheap, and says so (%s)', async kind => {
      const { serverId } = await makeSearched({ presentation: 'auto', maxFlatTokens: 4_000 })
      const client = await open(kind, serverId)
      expect(await client.list()).toHaveLength(3)
      const shownAs = await shownAsOf(serverId)
      expect(shownAs).toMatchObject({
        presentation: 'flat',
        maxTokens: 4_000,
        why: expect.stringContaining('within the limit of 4,000'),
      })
      const tokens = shownAs?.tokens ?? 0
      expect(tokens).toBeGreaterThan(50)

      await operator.expectOk('PATCH', `/servers/${serverId}`, { maxFlatTokens: tokens })
      expect(await client.list()).toHaveLength(3)
      await operator.expectOk('PATCH', `/servers/${serverId}`, { maxFlatTokens: tokens - 1 })
      expect((await client.list()).map(({ name }) => name)).toEqual(['call_tool', 'find_tools'])
      expect(await shownAsOf(serverId)).toEqual({
        presentation: 'search',
        tokens,
        maxTokens: tokens - 1,
        why: `The tools cost ${tokens} tokens, which is over the limit of ${tokens - 1}, so they are found by search.`,
      })
    })

    it('is searched once added tools make the list expensive', async () => {
      const { serverId } = await makeSearched({ presentation: 'auto' })
      const client = await open('sdk 1', serverId)
      expect(await client.list()).toHaveLength(3)
      await attachKnown(serverId, { name: 'alpha', ...commandOf('large', 'alpha') })
      expect((await client.list()).map(({ name }) => name)).toEqual(['call_tool', 'find_tools'])
      expect(textOf(await client.call('forecast', { city: 'Bern' }))).toContain('/forecast/Bern')
    })

    it('says nothing if the builder has chosen, and accepts no value for it', async () => {
      const { serverId } = await makeSearched()
      expect(await shownAsOf(serverId)).toBeNull()
      const shownAs = { presentation: 'flat', tokens: 1, maxTokens: 2, why: 'x' }
      expect((await operator.send('PATCH', `/servers/${serverId}`, { shownAs })).status).toBe(400)
      expect((await operator.send('PATCH', `/servers/${serverId}`, { presentation: 'searched' })).status).toBe(400)
      expect((await operator.send('PATCH', `/servers/${serverId}`, { pinnedTools: [''] })).status).toBe(400)
      expect((await operator.send('PATCH', `/servers/${serverId}`, { maxFlatTokens: -1 })).status).toBe(400)
    })
  })
})
