import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { callTexts, connect, toolNames } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { type Answerer, answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const BUDGET = 1_000
const ANSWER_TOOLS = ['proxy_explore', 'proxy_filter', 'proxy_search']

const people = Array.from({ length: 2_000 }, (_, index) => ({
  id: index,
  name: `Person ${index}`,
  address: { street: `${index} Long Street`, city: index === 1_777 ? 'Samarkand' : 'Springfield' },
}))
const prose = Array.from({ length: 3_000 }, (_, index) => `Sentence ${index} of a long report. `).join('')

const lines = ['first', 'second'].map(name => JSON.stringify({ name, notes: Array.from({ length: 2_000 }, String) }))

const manual = Array.from(
  { length: 300 },
  (_, index) => `## Part ${index}\n\nWhat part ${index} does, at length.\n`,
).join('\n')

const answer: Answerer = ({ url }, response) => {
  if (url.startsWith('/people')) answerJson(response, { people, total: people.length })
  else if (url.startsWith('/prose')) response.writeHead(200, { 'content-type': 'text/plain' }).end(prose)
  else if (url.startsWith('/manual')) response.writeHead(200, { 'content-type': 'text/markdown' }).end(manual)
  else if (url.startsWith('/lines'))
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(lines.join('\n'))
  else if (url.startsWith('/image'))
    response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(50_000, 7))
  else if (url.startsWith('/broken')) response.writeHead(500).end('x'.repeat(100_000))
  else answerJson(response, { small: true })
}

const CutResultMeta = z.object({
  cacheId: z.string(),
  tokens: z.int(),
  tokensShown: z.int(),
  tokensEstimated: z.boolean().optional(),
  encoding: z.literal('o200k_base'),
  bytes: z.int(),
  expiresAt: z.string(),
})

describe('a server with a token budget', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(answer)
  const ada = runUser(patchbay)

  const paths = ['people', 'prose', 'manual', 'lines', 'image', 'broken', 'small']
  const tools = () => paths.map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
  const serve = (server: Record<string, unknown> = {}) =>
    makeServer(ada, tools(), { server: { maxResponseTokens: BUDGET, ...server } })

  const open = async (server?: Record<string, unknown>) => {
    const { url } = await serve(server)
    const client = await connect(url)
    const call = (name: string, args?: Record<string, unknown>) => callTexts(client, name, args)
    const cut = async (name: string) => {
      const result = await call(name)
      return { ...result, about: CutResultMeta.parse(result.meta) }
    }
    return { client, call, cut }
  }

  it('lists the three tools that continue from cut results, and other servers do not', async () => {
    const { client } = await open()
    expect(await toolNames(client)).toEqual([...paths, ...ANSWER_TOOLS].sort())
    const { client: other } = await open({ maxResponseTokens: 0 })
    expect(await toolNames(other)).toEqual([...paths].sort())
  })

  it('lists them at a cost of few tokens', async () => {
    const { client } = await open()
    const listed = (await client.listTools()).tools.filter(({ name }) => ANSWER_TOOLS.includes(name))
    expect(await countTokens(JSON.stringify(listed))).toBeLessThan(800)
  })

  it('sends a result within the budget unchanged', async () => {
    const { call } = await open()
    const { texts, meta } = await call('small')
    expect(texts).toEqual(['{"small":true}'])
    expect(meta).toBeUndefined()
  })

  it('sends the beginning of a larger one as valid JSON, with its size and how to continue', async () => {
    const { cut } = await open()
    const { texts, about } = await cut('people')
    const [notice = '', beginning = '', outline = ''] = texts
    const shown = z.object({ people: z.array(z.looseObject({ id: z.int() })) }).parse(JSON.parse(beginning))
    expect(shown.people.length).toBeGreaterThan(5)
    expect(shown.people).toEqual(people.slice(0, shown.people.length))
    expect(await countTokens(texts.join('\n'))).toBeLessThanOrEqual(BUDGET)
    expect(about.bytes).toBe(Buffer.byteLength(JSON.stringify({ people, total: people.length })))
    const exact = await countTokens(JSON.stringify({ people, total: people.length }))
    expect(about.tokensEstimated).toBe(true)
    expect(Math.abs(about.tokens - exact) / exact).toBeLessThan(0.01)
    expect(notice).toMatch(/^Cut: this shows [\d,]+ of about [\d,]+ tokens; /)
    expect(notice).toMatch(/proxy_filter, proxy_search or proxy_explore/)
    const [, example = ''] = /for example proxy_search (\{.*\})\.$/.exec(notice) ?? []
    expect(JSON.parse(example)).toMatchObject({ cache_id: about.cacheId, pattern: expect.any(String) })
    expect(outline).toMatch(/^people: \d+ of 2,000 items shown; each has id, name, address$/m)
    expect(about.cacheId).toMatch(/^[A-Za-z0-9_-]{22}$/)
  })

  it('cuts a text at the end of a sentence or line', async () => {
    const { cut } = await open()
    const { texts } = await cut('prose')
    expect(prose.startsWith(texts[1] ?? '-')).toBe(true)
    expect(texts[1]?.trimEnd()).toMatch(/\.$/)
  })

  it("uses the builder's own notice", async () => {
    const { cut } = await open({ cutNotice: 'Ask again with {cache_id}, please.' })
    const { texts, about } = await cut('people')
    expect(texts[0]).toBe(`Ask again with ${about.cacheId}, please.`)
  })

  it('leaves images unchanged and counts no tokens for them', async () => {
    const { call } = await open()
    const { content } = await call('image')
    expect(content).toMatchObject([{ type: 'image', mimeType: 'image/png' }])
  })

  it('keeps isError for a failed call', async () => {
    const { call } = await open()
    expect(await call('broken')).toMatchObject({ isError: true })
  })

  it('finds what was omitted by search, by fields and by outline', async () => {
    const { call, cut } = await open()
    const { about } = await cut('people')
    const cache_id = about.cacheId
    const found = await call('proxy_search', { cache_id, pattern: 'Samarkand' })
    expect(found.texts.join('\n')).toContain('people[1777].address.city')
    const { texts } = await call('proxy_filter', { cache_id, fields: ['people[].name'], offset: 1_990, limit: 5 })
    expect(JSON.parse(texts[0] ?? '')).toEqual({ people: people.slice(1_990, 1_995).map(({ name }) => ({ name })) })
    const last = await call('proxy_filter', { cache_id, fields: ['people[].name'], offset: -1 })
    expect(JSON.parse(last.texts[0] ?? '')).toEqual({ people: [{ name: 'Person 1999' }] })
    const outline = await call('proxy_explore', { cache_id })
    expect(outline.texts.join('\n')).toMatch(/address/)
    expect(outline.texts.join('\n')).toMatch(/2,?000/)
    expect(outline.texts.join('\n')).toContain('0 at [0] "Person 0" to 1999 at [1999] "Person 1999"')
  })

  it('finds a text with the heading above it, and the last lines', async () => {
    const { call, cut } = await open()
    const { about } = await cut('manual')
    const found = await call('proxy_search', { cache_id: about.cacheId, pattern: 'What part 123' })
    expect(found.texts[0]).toBe('under Part 123:\n495: What part 123 does, at length.')
    const last = await call('proxy_filter', { cache_id: about.cacheId, offset: -1 })
    expect(last.texts[0]?.trim()).toBe('What part 299 does, at length.')
  })

  it('reads a new result at once, without sending the whole of it', async () => {
    const { call } = await open()
    const before = fake.seen.length
    const { texts, isError, meta } = await call('proxy_search', {
      tool: 'people',
      arguments: {},
      pattern: 'Samarkand',
    })
    expect([isError, fake.seen.length - before]).toEqual([false, 1])
    expect(texts.join('\n')).toContain('Samarkand')
    expect(CutResultMeta.parse(meta).tokens).toBeGreaterThan(10_000)
  })

  it('returns another id if the output exceeds the budget too', async () => {
    const { call, cut } = await open()
    const { about } = await cut('people')
    const first = await call('proxy_filter', { cache_id: about.cacheId, fields: ['people[].address.city'] })
    const { cacheId: next, tokens, bytes } = CutResultMeta.parse(first.meta)
    expect(next).not.toBe(about.cacheId)
    // `tokens` and `bytes` describe the newly stored result.
    expect([tokens < about.tokens, bytes < about.bytes]).toEqual([true, true])
    const found = await call('proxy_search', { cache_id: next, pattern: 'Samarkand' })
    expect(found.texts.join('\n')).toContain('Samarkand')
    expect(found.texts.join('\n')).not.toContain('Long Street')
  })

  it('reads its own output in the same format: one line of JSON lines is a list of one', async () => {
    const { call } = await open()
    const first = await call('proxy_filter', { tool: 'lines', arguments: {}, limit: 1 })
    const next = CutResultMeta.parse(first.meta).cacheId
    const { texts } = await call('proxy_filter', { cache_id: next, fields: ['[0].name'] })
    expect(JSON.parse(texts[0] ?? '')).toEqual({ name: 'first' })
  })

  it.each([
    ['an id that was made up', { cache_id: 'a'.repeat(22), pattern: 'x' }, /no result with this cache_id/],
    ['neither id nor tool', { pattern: 'x' }, /cache_id .* or the tool/],
    ['both of them', { cache_id: 'a'.repeat(22), tool: 'people', pattern: 'x' }, /not both/],
    ['a tool that is not there', { tool: 'persons', pattern: 'x' }, /no tool "persons".*"people"/],
    ['one of the three tools', { tool: 'proxy_explore', pattern: 'x' }, /no tool "proxy_explore"/],
    ['no pattern', { tool: 'people' }, /^"pattern" is missing\.$/],
    [
      'a parameter that there is not',
      { tool: 'people', pattern: 'x', patern: 'y' },
      /^There is no parameter "patern"\. The parameters: "cache_id", "tool", "arguments", "pattern", /,
    ],
    ['a number that is too large', { tool: 'people', pattern: 'x', top_k: 1_001 }, /^"top_k" must be at most 1,000\.$/],
    ['a text for a number', { tool: 'people', pattern: 'x', top_k: '5' }, /^"top_k" must be a whole number\.$/],
    ['half a number', { tool: 'people', pattern: 'x', top_k: 0.5 }, /^"top_k" must be a whole number\.$/],
    ['a field that is no text', { tool: 'people', pattern: 'x', fields: [7] }, /^"fields\.0" must be a string\.$/],
    [
      'a mode that there is not',
      { tool: 'people', pattern: 'x', mode: 'glob' },
      /^"mode" must be one of regex, bm25, /,
    ],
    ['arguments as a text', { tool: 'people', arguments: '{}', pattern: 'x' }, /^"arguments" must be an object\.$/],
    ['an expression that is none', { tool: 'people', mode: 'regex', pattern: '(' }, /\(/],
  ])('explains the error of a search with %s', async (_what, args, why) => {
    const { call } = await open()
    const { texts, isError } = await call('proxy_search', args)
    expect(isError).toBe(true)
    expect(texts[0]).toMatch(why)
  })

  it('treats null and an empty name as missing, and a single field as a list of one', async () => {
    const { call, cut } = await open()
    const { about } = await cut('people')
    const left = { tool: '', arguments: null, mode: null, offset: null, limit: null }
    const kept = await call('proxy_filter', { ...left, cache_id: about.cacheId, fields: 'total' })
    expect(kept.texts[0]).toBe('{"total":2000}')
    const fresh = await call('proxy_filter', { cache_id: '', tool: 'people', arguments: {}, fields: ['total'] })
    expect(fresh.texts[0]).toBe('{"total":2000}')
  })

  it('returns the record of a match, for few tokens', async () => {
    const { call, cut } = await open()
    const { about } = await cut('people')
    const show = { cache_id: about.cacheId, pattern: 'Samarkand', show: ['name'] }
    const { texts } = await call('proxy_search', show)
    expect(JSON.parse(texts[0] ?? '')).toEqual({
      matches: 1,
      results: [{ path: 'people[1777]', record: { name: 'Person 1777' } }],
    })
    expect(texts[1]).toMatch(/^Matches are in address\.city\.$/m)
    expect(await countTokens(texts.join('\n'))).toBeLessThan(60)
    expect((await call('proxy_search', { ...show, show: '*' })).texts[0]).toContain('1777 Long Street')
    expect((await call('proxy_search', { ...show, show: [] })).texts[0]).toContain('people[1777].address.city')
  })

  it('states the limits of all arguments in the schemas', async () => {
    const { client } = await open()
    const { tools } = await client.listTools()
    const propertiesOf = (name: string) => tools.find(tool => tool.name === name)?.inputSchema.properties
    expect(propertiesOf('proxy_search')).toMatchObject({
      pattern: { maxLength: 1_000 },
      top_k: { minimum: 1, maximum: 1_000 },
      context_lines: { minimum: 0, maximum: 50 },
      max_distance: { minimum: 0, maximum: 10 },
      fields: { maxItems: 100, items: { maxLength: 1_000 } },
      show: { maxItems: 20 },
      tool: { maxLength: 400 },
    })
    expect(propertiesOf('proxy_filter')).toMatchObject({
      limit: { minimum: 1, maximum: 100_000 },
      offset: { type: 'integer', description: expect.stringContaining('negative') },
    })
    expect(propertiesOf('proxy_explore')).toMatchObject({
      depth: { minimum: 1, maximum: 10 },
      samples: { minimum: 0, maximum: 20 },
    })
  })

  it('says what exists if a path matches nothing', async () => {
    const { call, cut } = await open()
    const { about } = await cut('people')
    const { texts } = await call('proxy_filter', { cache_id: about.cacheId, fields: ['persons[].name'] })
    expect(texts.join('\n')).toMatch(/people/)
  })
})
