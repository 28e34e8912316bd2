import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { connectListening } from '../servers/mcp.ts'
import { databasesOfRun } from '../support/databases.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { commandOf, everythingCommand, gone, startEverything } from './support.ts'

const Listed = z.object({ tools: z.array(z.looseObject({ name: z.string() })) })

const textOf = (result: Awaited<ReturnType<Client['callTool']>>): string => {
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

describe.each(databasesOfRun)('the tools of an upstream, on $kind', kind => {
  const world = runAttached({ kind })
  const { makeServer } = world

  it('are listed with its prefix, called, and recorded in the history', async () => {
    const { serverId, url } = await makeServer()
    await world.attach(serverId, { name: 'every', ...everythingCommand() })
    const { client } = await connectListening(url)
    await vi.waitFor(async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('every_echo')
    }, 10_000)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'every_echo')?.inputSchema).toMatchObject({
      properties: { message: { type: 'string' } },
    })
    const result = await client.callTool({ name: 'every_echo', arguments: { message: 'hello' } })
    expect(textOf(result)).toBe('Echo: hello')
    const image = await client.callTool({ name: 'every_get-tiny-image', arguments: {} })
    expect(image.content.map(({ type }) => type)).toContain('image')
    await vi.waitFor(async () => {
      const { body } = await world.operator.expectOk('GET', `/servers/${serverId}/executions?tool=every_echo`)
      expect(body).toMatchObject({
        items: [{ tool: 'every_echo', outcome: 'ok', request: { method: 'tools/call', url: 'mcp:every/echo' } }],
      })
    }, 10_000)
  })

  it('are announced to connected clients when it is attached and when its command changes', async () => {
    const { serverId, url } = await makeServer()
    const { client, lastNames } = await connectListening(url)
    expect((await client.listTools()).tools).toEqual([])
    const id = await world.attach(serverId, { name: 'late', ...commandOf('sdk-old') })
    await vi.waitFor(() => expect(lastNames()).toEqual(['late_echo', 'late_grow']), 10_000)
    await world.operator.expectOk('PATCH', `/upstreams/${id}`, { args: commandOf('odd-lists', 'names').args })
    await vi.waitFor(() => expect(lastNames()).toContain('late_whole'), 10_000)
  })
})

describe('the tools of an upstream', () => {
  const world = runAttached()
  const { makeServer } = world
  const every = during(() => makeServer({ every: everythingCommand() }))

  it('are passed on whole without hidden characters; invalid ones are left out and flagged', async () => {
    const { url, ids } = await makeServer({ odd: commandOf('odd-lists', 'names') })
    const Offer = z.object({
      tools: z.array(z.string()),
      flags: z.array(z.object({ item: z.string(), message: z.string() })),
    })
    const { tools: known, flags } = Offer.parse(await world.refresh(ids.odd ?? ''))
    expect(known).toEqual(['hidden', `${'longlong'.repeat(37)}long`, 'plain', 'schema', 'whole', 'with spaces'])
    expect(flags.map(({ item, message }) => `${item.slice(0, 8)}: ${message}`)).toEqual([
      'plain: it is listed twice; left out',
      'hidden: its description contained hidden characters, which were removed',
      'hidden: its name contains hidden characters',
      'schema: its inputSchema contains hidden characters and is passed on unchanged',
      ': it has no name; left out',
      'array: its inputSchema does not describe an object; left out',
      'deep: JSON is nested more than 64 levels deep; left out',
      'large: it is larger than 256 KiB; left out',
    ])
    const { client } = await connectListening(url)
    const listed = Listed.parse(await client.request({ method: 'tools/list' }, Listed)).tools
    const names = listed.map(({ name }) => name)
    expect(names).toEqual([
      expect.stringMatching(/^odd_hid_den_[0-9a-f]{8}$/),
      expect.stringMatching(/^odd_longlong.*_[0-9a-f]{8}$/),
      'odd_plain',
      'odd_schema',
      'odd_whole',
      expect.stringMatching(/^odd_with_spaces_[0-9a-f]{8}$/),
    ])
    expect(names.every(name => name.length <= 64)).toBe(true)
    expect(listed[0]).toMatchObject({ description: 'Adds. And more.\nA line.' })
    expect(listed[4]).toEqual({
      name: 'odd_whole',
      title: 'Whole',
      inputSchema: { type: 'object', properties: { self: { $ref: '#' } }, 'x-own': [1] },
      outputSchema: { type: 'object', 'x-own': true },
      annotations: { readOnlyHint: true, 'x-own': 'kept' },
      icons: [{ src: 'data:image/png;base64,AAAA' }],
      _meta: { 'example.com/own': { a: 1 } },
      'x-more': 'kept',
    })
    const call = { method: 'tools/call', params: { name: names[5], arguments: {} } }
    expect(await client.request(call, z.looseObject({}))).toMatchObject({
      content: [{ type: 'text', text: 'with spaces', annotations: { priority: 1 }, 'x-own': 'kept' }],
      'x-own': 'kept',
    })
  })

  it('that would have the name of an earlier one are left out', async () => {
    const { url } = await makeServer({
      first: { prefix: 'same', ...commandOf('sdk-old') },
      second: { prefix: 'same', ...commandOf('sdk-new') },
    })
    const { client } = await connectListening(url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['same_echo', 'same_grow'])
    expect(textOf(await client.callTool({ name: 'same_echo', arguments: {} }))).toBe('from the older line')
  })

  it.each(['sdk-old', 'sdk-new'] as const)('that it adds later are announced to the client (%s)', async line => {
    const { url } = await makeServer({ own: commandOf(line) })
    const { client, lastNames } = await connectListening(url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['own_echo', 'own_grow'])
    await client.callTool({ name: 'own_grow', arguments: {} })
    await vi.waitFor(() => expect(lastNames()).toEqual(['own_echo', 'own_grow', 'own_grown']), 10_000)
  })

  it('explain that its process died, and the next call starts it again', async () => {
    const { url } = await makeServer({ frail: commandOf('hostile') })
    const { client } = await connectListening(url)
    const died = await client.callTool({ name: 'frail_die', arguments: {} })
    expect(died.isError).toBe(true)
    expect(textOf(died)).toMatch(/^The MCP server "frail" failed: .*code 7/)
    expect(textOf(await client.callTool({ name: 'frail_echo', arguments: { text: 'back' } }))).toBe('back')
  })

  it('have secrets masked in their results', async () => {
    const { serverId, url } = await makeServer()
    await world.operator.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 'sk-canary-77', secret: true })
    await world.refresh(
      await world.attach(serverId, { name: 'told', ...commandOf('hostile'), env: { SECRET: '{{key}}' } }),
    )
    const { client } = await connectListening(url)
    const text = textOf(await client.callTool({ name: 'told_environment', arguments: {} }))
    expect(text).toContain('SECRET')
    expect(text).not.toContain('sk-canary-77')
  })

  it('are removed and its process ends once it is disabled', async () => {
    const { url, ids } = await makeServer({ brief: commandOf('hostile') })
    const { client, lastNames } = await connectListening(url)
    const pid = Number(textOf(await client.callTool({ name: 'brief_pid', arguments: {} })))
    await world.operator.expectOk('PATCH', `/upstreams/${ids.brief}`, { enabled: false })
    await gone([pid])
    await vi.waitFor(() => expect(lastNames()).toEqual([]))
    expect((await world.operator.send('POST', `/upstreams/${ids.brief}/refresh`)).status).toBe(409)
  })

  it.each(['legacy', 'auto'] as const)(
    'are listed beside its resources, templates and prompts, which are found by URI and by prefix (%s)',
    async mode => {
      const { client } = await connectListening(every.url, mode)
      const { resources } = await client.listResources()
      const [first] = resources
      if (first === undefined) throw new Error('there are no resources')
      const { contents } = await client.readResource({ uri: first.uri })
      expect(contents[0]?.uri).toBe(first.uri)
      const { resourceTemplates } = await client.listResourceTemplates()
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
        'demo://resource/dynamic/text/{resourceId}',
      )
      const dynamic = await client.readResource({ uri: 'demo://resource/dynamic/text/7' })
      expect(dynamic.contents[0]?.uri).toBe('demo://resource/dynamic/text/7')
      await expect(client.readResource({ uri: 'demo://nothing/here' })).rejects.toThrow(/not found/i)
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toContain('every_simple-prompt')
      const { messages } = await client.getPrompt({ name: 'every_simple-prompt' })
      expect(messages[0]?.role).toBe('user')
      expect(textOf(await client.callTool({ name: 'every_echo', arguments: { message: mode } }))).toBe(`Echo: ${mode}`)
      const structured = await client.callTool({
        name: 'every_get-structured-content',
        arguments: { location: 'New York' },
      })
      expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) })
      await expect(client.getPrompt({ name: 'simple-prompt' })).rejects.toThrow('Unknown prompt')
    },
  )

  it('are all that is listed if its other features are off', async () => {
    const features = { resources: false, prompts: false }
    const { url, ids } = await makeServer({ every: { ...everythingCommand(), features } })
    expect(await world.refresh(ids.every ?? '')).toMatchObject({ resources: [], resourceTemplates: [], prompts: [] })
    const { client } = await connectListening(url)
    expect((await client.listResources()).resources).toEqual([])
    expect((await client.listPrompts()).prompts).toEqual([])
    await expect(client.getPrompt({ name: 'every_simple-prompt' })).rejects.toThrow(
      'The feature "prompts" of the MCP server "every" is off',
    )
    await expect(client.readResource({ uri: 'demo://resource/dynamic/text/7' })).rejects.toThrow(
      'Resource not found: demo://resource/dynamic/text/7. The feature "resources" of the MCP server "every" is off',
    )
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
  })

  it('are named as missing, and delay nobody, if it has never responded', async () => {
    const { serverId, url } = await makeServer()
    await world.attach(serverId, { name: 'mute', ...commandOf('hostile', 'is-silent') })
    await world.attach(serverId, { name: 'gone', ...commandOf('hostile', 'exits') })
    await world.refresh(await world.attach(serverId, { name: 'good', ...commandOf('sdk-old') }))
    const { client } = await connectListening(url)
    const listed = await client.request({ method: 'tools/list' }, z.looseObject({}))
    expect(listed).toMatchObject({
      tools: [{ name: 'good_echo' }, { name: 'good_grow' }],
      _meta: {
        'patchbay/missing': [
          { upstream: 'gone', why: expect.stringContaining('code 3') },
          { upstream: 'mute', why: 'It has not responded yet.' },
        ],
      },
    })
  })

  it('are filtered by its allow and deny patterns, over HTTP', async () => {
    const port = await startEverything('streamableHttp')
    const mcpUrl = `http://127.0.0.1:${port}/mcp`
    const { url } = await makeServer({
      far: { transport: 'http', url: mcpUrl, allow: ['e*', 'get-sum'], deny: ['*sum'] },
    })
    const { client } = await connectListening(url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['far_echo'])
    expect(textOf(await client.callTool({ name: 'far_echo', arguments: { message: 'hi' } }))).toBe('Echo: hi')
  })
})
