import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { callText, callTexts, connect, findCacheId } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const BUDGET = 500
const MEGABYTE = 1_000_000
const count = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index))
const lines = (length: number, make: (index: number) => string): string => count(length, make).join('\n')
const LONG_NUMBER = '9'.repeat(30)

type Case = {
  type: string
  body: () => string | Buffer
  /** How the outline describes the body. */
  outline: RegExp
  /** A pattern to search the body for, and what the search finds, if anything. */
  finds?: [pattern: string, found: string]
}

const CASES: Readonly<Record<string, Case>> = {
  '10 MB of JSON': {
    type: 'application/json',
    body: () => JSON.stringify({ items: count(110_000, id => ({ id, name: `n${id}`, note: 'x'.repeat(50) })) }),
    outline: /items: list of 110,000 items/,
    finds: ['n109999', 'items[109999].name'],
  },
  '10 MB in one line': {
    type: 'text/plain',
    body: () => `${'a'.repeat(9.9 * MEGABYTE)} needle`,
    outline: /1 line, 2 words, 9,900,007 characters/,
    finds: ['needle', 'needle'],
  },
  'invalid UTF-8': {
    type: 'text/plain',
    body: () => Buffer.concat([Buffer.from('hello '.repeat(2_000)), Buffer.from([0xff, 0xc0]), Buffer.from(' needle')]),
    outline: /2,00\d words/,
    finds: ['needle', 'needle'],
  },
  'deep nesting': {
    type: 'application/json',
    body: () => '['.repeat(MEGABYTE) + ']'.repeat(MEGABYTE),
    outline: /Treated as text, not as JSON: it is nested more than 200 levels deep/,
  },
  'huge numbers': {
    type: 'application/json',
    body: () => `{"n":[${count(500, index => `${LONG_NUMBER}${index}`).join()}],"e":1e400,"d":${'1'.repeat(50_000)}}`,
    outline: /list of 500 items, each integer, all different, such as 9{30}0/,
    finds: [`${LONG_NUMBER}499`, 'n[499]'],
  },
  'duplicate keys': {
    type: 'application/json',
    body: () => `[${count(2_000, index => `{"k":1,"k":"v${index}"}`).join()}]`,
    outline: /Keys that occur more than once in their object: 2000/,
    finds: ['v1999', '[1999].k'],
  },
  NDJSON: {
    type: 'application/x-ndjson',
    body: () => lines(2_000, id => JSON.stringify({ id, v: `v${id}` })),
    outline: /list of 2,000 items, each object/,
    finds: ['v1999', '[1999].v'],
  },
  XML: {
    type: 'application/xml',
    body: () => `<?xml version="1.0"?><r>${count(2_000, id => `<i id="${id}">t${id}</i>`).join('')}</r>`,
    outline: /xml: .*\nelements: i 2,000, r 1/,
    finds: ['>t1999<', 't1999'],
  },
  HTML: {
    type: 'text/html',
    body: () => `<!doctype html><h1>News</h1>${count(2_000, id => `<p>p${id}</p>`).join('\n')}`,
    outline: /headings:\n {2}h1 News/,
    finds: ['>p1999<', 'p1999'],
  },
  CSV: {
    type: 'text/csv',
    body: () => `id,name\n${lines(2_000, id => `${id},n${id}`)}`,
    outline: /list of 2,000 items, each object\n {2}id: /,
    finds: ['n1999', '[1999].name'],
  },
  'an empty body': { type: 'application/json', body: () => '', outline: /with an empty body/ },
}

describe('an answer that is not as one hopes is answered well:', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    const { type, body } = CASES[decodeURIComponent(url.slice(1))] ?? { type: 'text/plain', body: () => '' }
    response.writeHead(200, { 'content-type': type }).end(body())
  })
  const nameOf = (title: string): string => title.replaceAll(/\W/g, '_')
  let url = ''
  beforeAll(async () => {
    const tools = Object.keys(CASES).map(title => ({
      name: nameOf(title),
      method: 'GET',
      url: `${fake.origin}/${encodeURIComponent(title)}`,
    }))
    ;({ url } = await makeServer(await signUp(patchbay.origin), tools, { server: { maxResponseTokens: BUDGET } }))
  })

  const callAll = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
    const { text } = await callTexts(client, name, args, { timeout: 50_000 })
    return text
  }

  it.each(Object.keys(CASES))('%s', async title => {
    const { outline, finds } = CASES[title] ?? { outline: /^$/ }
    const client = await connect(url)
    const first = await callAll(client, nameOf(title))
    expect(await countTokens(first)).toBeLessThanOrEqual(BUDGET)
    const id = findCacheId(first)
    const source = id === undefined ? { tool: nameOf(title) } : { cache_id: id }
    expect(await callAll(client, 'proxy_explore', source)).toMatch(outline)
    if (finds !== undefined) {
      const [pattern, found] = finds
      expect(await callAll(client, 'proxy_search', { ...source, pattern })).toContain(found)
    }
    const costly = await callText(client, 'proxy_search', { ...source, mode: 'regex', pattern: '(a+)+$' })
    expect(costly.isError).toBe(false)
    const missed = await callAll(client, 'proxy_filter', { ...source, fields: ['nothing.here'] })
    expect(missed).toMatch(/nothing\.here matches nothing\. There are|has no fields/)
  })
})
