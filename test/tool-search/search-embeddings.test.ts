import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { insertToken } from '../oauth/support/tokens.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, type SeenRequest } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { connectClient } from '../upstreams/clients.ts'

vi.setConfig({ testTimeout: 30_000 })

const Asked = z.object({ model: z.string(), input: z.array(z.string()), encoding_format: z.literal('float') })
const Found = z.looseObject({ structuredContent: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
const Text = z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]).rest(z.looseObject({})) })

/** The vocabulary of this test's model. Each pattern is one meaning. */
const MEANINGS = [/forecast|umbrella|parasol/i, /invoice|ledger|dunning/i, /kettle|teapot/i]
const vectorOf = (text: string): number[] => [...MEANINGS.map(meaning => (meaning.test(text) ? 1 : 0)), 0.01]
const listVectors = (texts: readonly string[]) =>
  texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))

type Answering = (texts: string[], response: ServerResponse) => void
/** Returns the vectors in reverse order, because only the index assigns a vector to its input. */
const answerWell: Answering = (texts, response) => answerJson(response, { data: listVectors(texts).reverse() })
const isForTools = (texts: readonly string[]) => texts.some(text => text.includes('\n'))

const toolsOf = (origin: string, more = '') => [
  {
    name: `forecast${more}`,
    method: 'GET',
    url: `${origin}/{{string:city}}`,
    description: 'Tells of tomorrow',
    annotations: { readOnlyHint: true },
  },
  { name: `createInvoice${more}`, method: 'POST', url: `${origin}/invoices`, description: 'Writes one' },
  {
    name: `kettle${more}`,
    method: 'GET',
    url: `${origin}/kettle`,
    description: 'Boils water',
    annotations: { readOnlyHint: true },
  },
]

const connect = async (url: string, token?: string) => {
  const client = await connectClient('sdk 1', url, { token })
  return {
    ...client,
    namesFor: async (query: string): Promise<string[]> =>
      Found.parse(await client.callTool('find_tools', { queries: [query] })).structuredContent.tools.map(
        ({ name }) => name,
      ),
  }
}

describe('a server whose tools are found by search, where an embeddings endpoint is set', () => {
  let patchbay: TestApp
  let operator: ApiClient & { userId: string }
  let answering = answerWell
  const textsOf = ({ body }: SeenRequest): string[] => Asked.parse(JSON.parse(body)).input
  const listSeen = (): string[] => endpoint.seen.flatMap(textsOf)

  const endpoint = runFakeApi((request, response) => answering(textsOf(request), response))
  beforeAll(async () => {
    patchbay = await startTestApp({
      env: {
        PATCHBAY_EMBEDDINGS_URL: `${endpoint.origin}/v1/embeddings`,
        PATCHBAY_EMBEDDINGS_MODEL: 'of-this-test',
        PATCHBAY_EMBEDDINGS_KEY: 'hush-hush',
        // Tools may not call loopback addresses, but the operator's endpoint may be at one.
        PATCHBAY_ALLOW_PRIVATE_NETWORKS: '',
      },
      services: { embeddingLimits: { pauseMs: 0 } },
    })
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })
  afterAll(async () => {
    await patchbay?.close()
  })

  const makeSearched = async (more = '', server: object = {}) =>
    makeServer(operator, toolsOf('https://api.example.com', more), { server: { presentation: 'search', ...server } })
  const untilFound = (client: Awaited<ReturnType<typeof connect>>, query: string, name: string) =>
    vi.waitFor(async () => expect((await client.namesFor(query))[0]).toBe(name))

  it('ranks a match by meaning first', async () => {
    const { url } = await makeSearched()
    const client = await connect(url)
    await untilFound(client, 'umbrella', 'forecast')
    expect((await client.namesFor('dunning'))[0]).toBe('createInvoice')
    // Both rankings contribute: one tool is found by its words, the other by its meaning.
    expect((await client.namesFor('teapot tomorrow')).slice(0, 2).sort()).toEqual(['forecast', 'kettle'])
    const text = listSeen().find(seen => seen.startsWith('forecast'))
    expect(text).toBe('forecast\nTells of tomorrow\ncity')
    const [asked] = endpoint.seen
    expect(asked).toMatchObject({ method: 'POST', url: '/v1/embeddings' })
    expect(asked?.headers.authorization).toBe('Bearer hush-hush')
    expect(Asked.parse(JSON.parse(asked?.body ?? '')).model).toBe('of-this-test')
  })

  it('embeds each text once, and after a change only new ones', async () => {
    const { url, toolkitId, serverId } = await makeSearched('Once')
    const client = await connect(url)
    await untilFound(client, 'umbrella', 'forecastOnce')
    const [more] = toolsOf('https://api.example.com', 'Later')
    const { id: toolId } = await operator.create(`/toolkits/${toolkitId}/tools`, more ?? {})
    await operator.create(`/servers/${serverId}/instances`, { toolId, name: 'forecastLater' })
    await vi.waitFor(async () => expect(await client.namesFor('parasol')).toContain('forecastLater'))
    const counts = ['forecast once', 'kettle once', 'forecast later'].map(
      name => listSeen().filter(text => text.startsWith(`${name}\n`)).length,
    )
    expect(counts).toEqual([1, 1, 1])
  })

  it('finds no tool of another server or beyond the token’s scope', async () => {
    const { url: otherUrl } = await makeSearched('Other')
    const { url, serverId } = await makeSearched('Mine', { access: 'private' })
    const wish = { origin: patchbay.origin, userId: operator.userId, serverId }
    const { token: full } = await insertToken(patchbay.services, { ...wish, scope: 'mcp:read mcp:call' })
    const { token: reading } = await insertToken(patchbay.services, { ...wish, scope: 'mcp:read' })
    await untilFound(await connect(otherUrl), 'dunning', 'createInvoiceOther')
    await untilFound(await connect(url, full), 'dunning', 'createInvoiceMine')
    const reader = await connect(url, reading)
    await untilFound(reader, 'umbrella', 'forecastMine')
    expect((await reader.namesFor('dunning')).sort()).toEqual(['forecastMine', 'kettleMine'])
  })

  it.each<[what: string, answer: Answering]>([
    ['fails', (_, response) => answerJson(response, { error: 'overloaded' }, 503)],
    ['hangs up', (_, response) => response.destroy()],
    ['never answers', () => {}],
    ['answers no JSON', (_, response) => response.end('<html>')],
    ['answers other JSON', (_, response) => answerJson(response, { data: [{ index: 0, embedding: ['1'] }] })],
    ['answers one too many', (texts, response) => answerJson(response, { data: listVectors([...texts, 'umbrella']) })],
    ['answers none', (_, response) => answerJson(response, { data: [] })],
    ['answers a shorter one', (_, response) => answerJson(response, { data: [{ index: 0, embedding: [1] }] })],
    [
      'answers nothing but zeros',
      (_, response) => answerJson(response, { data: [{ index: 0, embedding: [0, 0, 0, 0] }] }),
    ],
    ['answers too much', (_, response) => response.end(`"${'x'.repeat(5_000_000)}"`)],
    ['sends elsewhere', (_, response) => response.writeHead(307, { location: '/v1/embeddings' }).end()],
  ])('finds by words alone where it %s for a question', async (what, answer) => {
    const { url } = await makeSearched(what.replaceAll(' ', ''))
    const client = await connect(url)
    await untilFound(client, 'umbrella', `forecast${what.replaceAll(' ', '')}`)
    answering = answer
    expect(await client.namesFor('umbrella')).toEqual([])
    expect((await client.namesFor('invoices'))[0]).toMatch(/^createInvoice/)
    answering = answerWell
    await untilFound(client, 'umbrella', `forecast${what.replaceAll(' ', '')}`)
  })

  it('lists, searches by words and calls while embeddings are pending, and continues by itself', async () => {
    const held: (() => void)[] = []
    answering = (texts, response) => void held.push(() => answerWell(texts, response))
    const { url } = await makeSearched('Held')
    const client = await connect(url)
    expect(await client.request('tools/list')).toHaveProperty('tools')
    await vi.waitFor(() => expect(held).toHaveLength(1))
    expect(await client.namesFor('umbrella')).toEqual([])
    expect((await client.namesFor('invoices'))[0]).toBe('createInvoiceHeld')
    expect(held).toHaveLength(1)
    answering = answerWell
    for (const release of held) release()
    await untilFound(client, 'umbrella', 'forecastHeld')
  })

  it('searches by meaning once an endpoint is back that was down at mount', async () => {
    answering = (_, response) => response.destroy()
    const { url } = await makeSearched('Down')
    const client = await connect(url)
    expect((await client.namesFor('invoices'))[0]).toBe('createInvoiceDown')
    expect(await client.namesFor('umbrella')).toEqual([])
    answering = (texts, response) =>
      isForTools(texts) ? answerJson(response, { data: listVectors(texts.slice(1)) }) : answerWell(texts, response)
    expect(await client.namesFor('umbrella')).toEqual([])
    answering = answerWell
    await untilFound(client, 'umbrella', 'forecastDown')
  })

  it('sends no request for names, for pages, or for a server whose tools are listed', async () => {
    const { url } = await makeSearched('Named')
    const client = await connect(url)
    await untilFound(client, 'umbrella', 'forecastNamed')
    const { serverId: unused } = await makeSearched('Unused')
    const { url: flat } = await makeSearched('Flat', { presentation: 'flat' })
    const before = endpoint.seen.length
    expect(Text.parse(await client.callTool('call_tool', { name: 'umbrella' })).content[0].text).toContain('no tool')
    await operator.expectOk('GET', `/servers/${unused}/tokens`)
    await (await connect(flat)).request('tools/list')
    expect(endpoint.seen).toHaveLength(before)
    await untilFound(client, 'parasol', 'forecastNamed')
    expect(listSeen().filter(text => /unused|flat/i.test(text))).toEqual([])
  })
})

describe('a server whose tools are found by search, where no endpoint is set', () => {
  const patchbay = runPatchbay()
  it('searches by words only', async () => {
    const operator = await signUp(patchbay.origin, 'operator@example.com')
    const { url } = await makeServer(operator, toolsOf('https://api.example.com'), {
      server: { presentation: 'search' },
    })
    const client = await connect(url)
    expect(await client.namesFor('umbrella')).toEqual([])
    expect(await client.namesFor('invoices')).toEqual(['createInvoice'])
  })
})
