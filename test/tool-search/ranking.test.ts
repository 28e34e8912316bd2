import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { spreadOut } from '../../src/tool-search/ranking/rank.ts'
import { createToolFinder, type ToolIndex } from '../../src/tool-search/ranking/tool-index.ts'
import type { ToolText } from '../../src/tool-search/ranking/tool-words.ts'

const tool = (name: string, description?: string, more: Partial<ToolText> = {}): ToolText => ({
  name,
  description,
  inputSchema: { type: 'object' },
  ...more,
})

const TOOLS: readonly ToolText[] = [
  tool('createInvoice', 'Creates an invoice for a customer.'),
  tool('list_invoices', 'Lists the invoices of an account.'),
  tool('delete-repository', 'Deletes a repository for good.'),
  tool('searchRepositories', undefined, { title: 'Search repositories' }),
  tool('HTTPProbe', 'Measures how long an address takes to answer.'),
  tool('weather', 'What the sky will be like.', {
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where to look, such as Zürich' },
        units: { enum: ['celsius', 'fahrenheit'] },
        wind: { type: 'object', properties: { gustSpeed: { type: 'number' } } },
      },
    },
  }),
  tool('mailer', 'Will send a letter.'),
  tool('purge_cache', 'Empties what is cached at the edge. See https://example.com/wombats for more.'),
]

const finder = createToolFinder()
let index: ToolIndex
beforeAll(async () => {
  index = await finder.buildIndex(TOOLS)
})
const find = (query: string, limit = 5): string[] => index.find(query, limit).map(place => TOOLS[place]?.name ?? '')

describe('finding tools', () => {
  it.each([
    ['the parts of a name in camel case', 'invoice create', 'createInvoice'],
    ['the parts of a name with underscores', 'list invoices', 'list_invoices'],
    ['the parts of a name with hyphens', 'repository deletion', 'delete-repository'],
    ['a name as it is', 'purge_cache', 'purge_cache'],
    ['a name in capitals', 'http probe', 'HTTPProbe'],
    ['a title', 'search for repositories', 'searchRepositories'],
    ['a description', 'sky', 'weather'],
    ['the name of a parameter', 'wind', 'weather'],
    ['a parameter within a parameter', 'gust speed', 'weather'],
    ['the description of a parameter, without its accents', 'zurich', 'weather'],
    ['a value that a parameter may have', 'celsius', 'weather'],
    ['another form of a word', 'creating invoicing', 'createInvoice'],
    ['the beginning of a word', 'fahr', 'weather'],
    ['a typing error', 'repostory delete', 'delete-repository'],
    ['two letters in each other’s place', 'wnid', 'weather'],
    ['two typing errors in a long word', 'fahrenhiet', 'weather'],
    ['a word of the same meaning where APIs are spoken of', 'throw a codebase away', 'delete-repository'],
    ['what people say in several words', 'get rid of a repository', 'delete-repository'],
    ['what a word is short for', 'repo search', 'searchRepositories'],
    ['a form that no rule leads back from', 'what was sent', 'mailer'],
  ])('finds by %s', (_what, query, expected) => {
    expect(find(query)[0]).toBe(expected)
  })

  it.each([
    ['nothing', ''],
    ['blanks and signs', ' ,;!  ?'],
    ['words that no tool has anything of', 'xylophone zzyzx'],
    ['the address of a page that a description names', 'wombats'],
    ['one endless word', 'a'.repeat(100_000)],
  ])('finds nothing by %s', (_what, query) => {
    expect(find(query)).toEqual([])
  })

  it('finds at most the limit, and only allowed tools', () => {
    expect(find('invoice', 1)).toHaveLength(1)
    const allowed = index.find('invoice', 5, place => place !== 0).map(place => TOOLS[place]?.name)
    expect(allowed).toContain('list_invoices')
    expect(allowed).not.toContain('createInvoice')
  })

  it('leaves room among the first results for another kind if many are variants of one', () => {
    const variant = new Set(['list', 'token', 'user'])
    const ranked = [1, 0.99, 0.98].map((score, at) => ({ tool: at, score, called: variant }))
    const other = { tool: 3, score: 0.85, called: new Set(['export']) }
    expect(spreadOut([...ranked, other], 3)).toEqual([0, 1, 3])
    expect(spreadOut([...ranked, { ...other, score: 0.5 }], 3)).toEqual([0, 1, 2])
    expect(spreadOut([], 3)).toEqual([])
  })

  it('finds nothing in an empty list', async () => {
    const none = await finder.buildIndex([])
    expect(none.find('invoice', 5)).toEqual([])
  })

  it('finds the same whatever was searched before', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 4 }), before => {
        const first = find('list invoices')
        for (const query of before) find(query)
        expect(find('list invoices')).toEqual(first)
      }),
    )
  })

  it('finds each existing tool at most once, for any query and any names', async () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.lorem())
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: text, description: text }), { maxLength: 8 }),
        text,
        fc.integer({ min: 1, max: 10 }),
        async (texts, query, limit) => {
          const own = await finder.buildIndex(texts.map(({ name, description }) => tool(name, description)))
          const found = own.find(query, limit)
          expect(found.length).toBeLessThanOrEqual(limit)
          expect(new Set(found).size).toBe(found.length)
          expect(found.every(place => place >= 0 && place < texts.length)).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('reads texts with unclosed code or links as it reads others', async () => {
    const endless = [`\`${'/'.repeat(3_999)}`, ']('.repeat(2_000)].map(text => `${text} zebra`)
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`p${index}`, { description: endless[index % 2] ?? '' }]),
    )
    const tools = Array.from({ length: 60 }, (_, index) => ({
      name: `tool_${index}`,
      inputSchema: { type: 'object', properties },
    }))
    const own = await finder.buildIndex([...tools, tool('feed_zebra', 'Feeds a zebra')])
    expect(own.find('zebra', 1)).toEqual([60])
  })

  it('finds a tool by its name before those that share a word with it', () => {
    const names = TOOLS.map(({ name }) => name)
    expect(names.filter(name => find(name)[0] !== name)).toEqual([])
  })
})
