import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { countTokens, TOKEN_ENCODING } from '../../src/lib/tokens/tokens.ts'
import { signUp } from '../support/api-client.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { runScriptedUpstreams } from '../upstreams/scripted-upstream.ts'
import { beginSession, post } from './wire.ts'

// The first token count starts a thread, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const Listed = z.object({ result: z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() }) })
const Tokens = z.object({
  encoding: z.string(),
  presentation: z.string(),
  shownAs: z.string().nullable(),
  presentations: z.array(
    z.object({ presentation: z.string(), tools: z.number(), tokens: z.number(), bytes: z.number() }),
  ),
  tools: z.array(z.object({ name: z.string(), tokens: z.number() })),
})
const Findings = z.array(
  z.object({ rule: z.string(), level: z.string(), field: z.string(), parameter: z.string().nullable() }),
)
const ServerLint = z.object({
  findings: Findings,
  tools: z.array(z.object({ name: z.string(), findings: Findings })),
})
const ToolLint = z.object({ encoding: z.string(), tokens: z.number(), findings: Findings })

const app = runPatchbay()
const owner = runUser(app)

const DESCRIBED = 'Lists what has happened to a shipment, newest first. Use it for its whereabouts.'

const makeTool = async (toolkitId: string, tool: object) =>
  (
    await owner.create(`/toolkits/${toolkitId}/tools`, {
      method: 'GET',
      url: 'https://api.example.com/?id={{id}}',
      description: DESCRIBED,
      parameters: { id: { description: 'Which one, such as S-17.' } },
      ...tool,
    })
  ).id

/** Creates a public server that offers these tools. */
const makeServer = async (
  tools: readonly ({ name: string } & Record<string, unknown>)[],
  settings: object = { maxResponseTokens: 0 },
) => {
  const toolkit = await owner.create('/toolkits', { title: 'Shipping' })
  const server = await owner.create('/servers', { name: 'Shipping', access: 'public', ...settings })
  for (const tool of tools) {
    const toolId = await makeTool(toolkit.id, tool)
    await owner.create(`/servers/${server.id}/instances`, { toolId, name: tool.name })
  }
  return server.id
}

/** Returns the tools of tools/list as JSON, as a session-era client receives them. */
const listTools = async (serverId: string): Promise<string[]> => {
  const listening = { port: Number(new URL(app.origin).port) }
  const session = await beginSession(listening, serverId)
  const answer = await post(listening, serverId, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, session)
  const { result } = Listed.parse(answer.json())
  expect(result.nextCursor).toBeUndefined()
  return result.tools.map(tool => JSON.stringify(tool))
}

const tokensOf = async (serverId: string) =>
  Tokens.parse((await owner.expectOk('GET', `/servers/${serverId}/tokens`)).body)
const lintOf = async (serverId: string) =>
  ServerLint.parse((await owner.expectOk('GET', `/servers/${serverId}/lint`)).body)

describe('the tokens of a catalogue', () => {
  it('are counted from the JSON that clients receive, by tool and in total', async () => {
    const serverId = await makeServer([
      { name: 'list_events', outputSchema: { type: 'array', items: { type: 'string' } } },
      { name: 'cancel_shipment', method: 'DELETE', description: 'Cancels a shipment that has not been sent yet.' },
    ])
    const listed = await listTools(serverId)
    const { encoding, presentation, presentations, tools } = await tokensOf(serverId)
    expect({ encoding, presentation }).toEqual({ encoding: TOKEN_ENCODING, presentation: 'flat' })
    expect(tools.map(({ name }) => name)).toEqual(['cancel_shipment', 'list_events'])
    expect(tools.map(({ tokens }) => tokens)).toEqual(await Promise.all(listed.map(countTokens)))
    const list = `[${listed.join(',')}]`
    expect(presentations.find(each => each.presentation === 'flat')).toEqual({
      presentation: 'flat',
      tools: 2,
      tokens: await countTokens(list),
      bytes: Buffer.byteLength(list),
    })
  })

  it('are compared by presentation, each as clients would receive it', async () => {
    const tools = Array.from({ length: 12 }, (_, index) => ({ name: `tool_${index}` }))
    const serverId = await makeServer(tools)
    const before = await tokensOf(serverId)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    const listed = `[${(await listTools(serverId)).join(',')}]`
    const grouped = before.presentations.find(({ presentation }) => presentation === 'grouped')
    expect(grouped).toMatchObject({ tools: 2, tokens: await countTokens(listed), bytes: Buffer.byteLength(listed) })
    const flat = before.presentations.find(({ presentation }) => presentation === 'flat')
    expect(flat?.tokens).toBeGreaterThan(2 * (grouped?.tokens ?? Number.NaN))
    expect((await tokensOf(serverId)).presentation).toBe('grouped')
  })

  it('are those of the search if auto chooses it, with pinned tools and tools for cut results', async () => {
    const tools = Array.from({ length: 30 }, (_, index) => ({ name: `tool_${index}` }))
    const serverId = await makeServer(tools, { presentation: 'auto', maxFlatTokens: 1_000, pinnedTools: ['tool_3'] })
    const listed = await listTools(serverId)
    expect(listed).toHaveLength(6)
    const { presentation, shownAs, presentations } = await tokensOf(serverId)
    expect({ presentation, shownAs }).toEqual({ presentation: 'auto', shownAs: 'search' })
    const list = `[${listed.join(',')}]`
    expect(presentations.find(each => each.presentation === 'search')).toEqual({
      presentation: 'search',
      tools: listed.length,
      tokens: await countTokens(list),
      bytes: Buffer.byteLength(list),
    })
    await owner.expectOk('PATCH', `/servers/${serverId}`, { maxFlatTokens: 100_000 })
    expect(await tokensOf(serverId)).toMatchObject({ presentation: 'auto', shownAs: 'flat' })
  })

  it('are not given for a passthrough server', async () => {
    const serverId = await makeServer([], { presentation: 'passthrough' })
    expect(await tokensOf(serverId)).toMatchObject({ presentation: 'passthrough', shownAs: null })
  })

  it('are counted again after a tool changed', async () => {
    const serverId = await makeServer([{ name: 'list_events' }])
    const before = await tokensOf(serverId)
    const [instance] = z
      .object({ items: z.array(z.object({ id: z.string() })) })
      .parse((await owner.expectOk('GET', `/servers/${serverId}/instances`)).body).items
    await owner.expectOk('PATCH', `/instances/${instance?.id}`, { description: 'Lists.' })
    const after = await tokensOf(serverId)
    expect(after.tools[0]?.tokens).toBeLessThan(before.tools[0]?.tokens ?? 0)
    expect(after.tools[0]?.tokens).toBe(await countTokens((await listTools(serverId))[0] ?? ''))
  })

  it('of a server without tools are those of an empty list', async () => {
    const serverId = await makeServer([])
    const { presentations, tools } = await tokensOf(serverId)
    expect(tools).toEqual([])
    expect(presentations[0]).toEqual({ presentation: 'flat', tools: 0, tokens: 1, bytes: 2 })
  })
})

describe('the lint of a server', () => {
  it('reports the problems of each tool, and nothing about sound ones', async () => {
    const serverId = await makeServer([
      { name: 'sound' },
      { name: 'silent', description: undefined, parameters: {} },
      {
        name: 'listing',
        description: 'Takes a list of shipments and answers where each of them is.',
        inputSchema: { type: 'object', properties: { id: { type: 'array', description: 'Which ones.' } } },
      },
    ])
    const { findings, tools } = await lintOf(serverId)
    expect(findings).toEqual([])
    expect(tools.map(({ name }) => name)).toEqual(['listing', 'silent'])
    expect(tools[0]?.findings).toMatchObject([{ rule: 'array-without-items', level: 'error', parameter: 'id' }])
    expect(tools[1]?.findings.map(({ rule }) => rule)).toEqual(['no-description', 'no-parameter-description'])
  })

  it('reports two tools with the same description', async () => {
    const serverId = await makeServer([{ name: 'berlin_events' }, { name: 'paris_events' }])
    const { tools } = await lintOf(serverId)
    expect(tools.map(({ findings }) => findings.map(({ rule }) => rule))).toEqual([
      ['same-description'],
      ['same-description'],
    ])
  })

  it('reports a secret that comes from the model until it is bound, which the lint of its tool cannot know', async () => {
    const headers = [{ name: 'Authorization', value: 'Bearer {{carrier}}' }]
    const parameters = { id: { description: 'Which one.' }, carrier: { description: 'Who carries it.' } }
    const toolkit = await owner.create('/toolkits', { title: 'Shipping' })
    const toolId = await makeTool(toolkit.id, { name: 'carry', headers, parameters })
    const server = await owner.create('/servers', { name: 'Shipping', maxResponseTokens: 0 })
    const instance = await owner.create(`/servers/${server.id}/instances`, { toolId, name: 'carry' })
    const { tools } = await lintOf(server.id)
    expect(tools).toMatchObject([{ name: 'carry', findings: [{ rule: 'secret-from-model', parameter: 'carrier' }] }])
    expect(ToolLint.parse((await owner.expectOk('GET', `/tools/${toolId}/lint`)).body).findings).toEqual([])

    const secret = { value: 'c-1', secret: true, origins: ['https://api.example.com'] }
    await owner.expectOk('PUT', `/servers/${server.id}/globals/carrier_token`, secret)
    const bindings = { carrier: { source: 'server', value: 'carrier_token' } }
    await owner.expectOk('PATCH', `/instances/${instance.id}`, { bindings })
    expect((await lintOf(server.id)).tools).toEqual([])
  })

  it('is only advice: tools with problems are still saved, listed and called', async () => {
    const serverId = await makeServer([{ name: 'bad', description: '', inputSchema: { type: 'object' } }])
    expect((await lintOf(serverId)).tools[0]?.findings[0]).toMatchObject({ rule: 'no-properties', level: 'error' })
    expect(await listTools(serverId)).toHaveLength(1)
  })
})

describe('the tools of an attached MCP server', () => {
  const HOSTILE = '<b>draft</b> 4 '.repeat(200)
  const upstreams = runScriptedUpstreams({
    odd: {
      tools: () => [
        { name: 'odd.name', description: HOSTILE, inputSchema: { type: 'object', oneOf: [{ required: ['a'] }] } },
        {
          name: 'old',
          description: 'Counts what is there, up to a limit that is not told.',
          inputSchema: {
            type: 'object',
            properties: { upTo: { type: 'integer', minimum: 1, exclusiveMinimum: true, description: 'The limit.' } },
          },
        },
      ],
    },
  })

  it('are counted and linted like the others, as clients receive them', async () => {
    const serverId = await makeServer([{ name: 'list_events' }])
    const odd = { name: 'odd', transport: 'http', url: upstreams.urlOf('odd') }
    const { id } = await owner.create(`/servers/${serverId}/upstreams`, odd)
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    const { tools } = await lintOf(serverId)
    expect(tools.map(({ name, findings }) => [name, findings.map(({ rule }) => rule)])).toEqual([
      [expect.stringMatching(/^odd_odd_name_/), ['no-properties', 'root-combination', 'long-description', 'costly']],
      ['odd_old', ['invalid-schema']],
    ])
    const listed = await listTools(serverId)
    const counted = await tokensOf(serverId)
    expect(counted.tools.map(({ tokens }) => tokens)).toEqual(await Promise.all(listed.map(countTokens)))
    await owner.expectOk('DELETE', `/upstreams/${id}`)
    expect((await lintOf(serverId)).tools).toEqual([])
  })
})

describe('the lint of a saved tool', () => {
  it('includes its cost, and what it has in common with another tool of its toolkit', async () => {
    const toolkit = await owner.create('/toolkits', { title: 'Shipping' })
    const id = await makeTool(toolkit.id, { name: 'list_events' })
    const lint = async () => ToolLint.parse((await owner.expectOk('GET', `/tools/${id}/lint`)).body)
    expect(await lint()).toMatchObject({ encoding: TOKEN_ENCODING, findings: [] })
    expect((await lint()).tokens).toBeGreaterThan(40)
    await makeTool(toolkit.id, { name: 'show_events' })
    expect((await lint()).findings).toMatchObject([{ rule: 'same-description', level: 'warning' }])
  })

  it('is hidden from others, unless its toolkit is public', async () => {
    const stranger = await signUp(app.origin)
    const hidden = await owner.create('/toolkits', { title: 'Ours' })
    const shown = await owner.create('/toolkits', { title: 'For all', visibility: 'public' })
    const [ours, everybodys] = [await makeTool(hidden.id, { name: 'a' }), await makeTool(shown.id, { name: 'a' })]
    expect((await stranger.send('GET', `/tools/${ours}/lint`)).status).toBe(404)
    expect((await stranger.send('GET', `/tools/${everybodys}/lint`)).status).toBe(200)
  })
})
