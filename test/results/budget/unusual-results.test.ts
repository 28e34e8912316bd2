import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { insertToken } from '../../oauth/support/tokens.ts'
import { callTexts, connect, findCacheId } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { type Answerer, answerJson, startFakeApi } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { CLIENT_KINDS, connectClient } from '../../upstreams/clients.ts'

const BUDGET = 500
const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, town: id === 900 ? 'Ghent' : 'Bruges' }))
const few = Array.from({ length: 20 }, (_, id) => ({ id, list: [id, id + 1] }))
const PRETTY = JSON.stringify(few, undefined, '\n\t  ')
/** Characters that take one token per byte, in parts that each fit into a budget of 200 tokens. */
const SIGNS = [60, 46, 31, 21].map(count => `Content-Type: text/plain\r\n\r\n${'\ua9c5'.repeat(count)}\r\n`)

/** Longer than what is counted before the reply. */
const LONG = 'A long sentence of words. '.repeat(4_000)
/** A text of many tokens, with blanks where an estimate takes its samples. */
const UNEVEN = Array.from({ length: 30_000 }, (_, index) => ((index * 7_919_777) % 1e9).toString(36))
  .join(' ')
  .slice(0, 154_096)
  .replace(/(.{4096})(.{5904}|$)/gs, (_, sampled: string, other: string) => ' '.repeat(sampled.length) + other)

const BODIES: Readonly<Record<string, [type: string, body: string | Buffer]>> = {
  '/rows': ['application/json', JSON.stringify({ rows })],
  '/zeros': ['text/plain', `a\0b ${rows.map(({ id, town }) => `${id} ${town}.\n`).join('')}`],
  '/pretty': ['application/json', PRETTY],
  '/image': ['image/png', Buffer.alloc(1_234, 7)],
  '/lines': ['application/jsonl', rows.map(row => JSON.stringify(row)).join('\n')],
  '/long': ['text/plain', LONG],
  '/uneven': ['text/plain', UNEVEN],
  '/pair': ['text/csv', 'day,note\n2026-01-02,"7, at noon"'],
  '/feed': ['application/rss+xml', '<rss><item>One</item></rss>'],
  '/columns': ['text/tab-separated-values', rows.map(({ id, town }) => `${id}\t${town}`).join('\n')],
  '/parts': ['multipart/mixed; boundary=cut', `--cut\r\n${SIGNS.join('--cut\r\n')}--cut--\r\n`],
}
const answer: Answerer = ({ url }, response) => {
  const [type, body] = BODIES[url] ?? ['text/plain', '']
  response.writeHead(200, { 'content-type': type }).end(body)
}

/** Results of an upstream whose only tool fails with a long explanation. */
const FAILING: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
  'tools/list': { tools: [{ name: 'fail', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'It is broken. '.repeat(20_000) }], isError: true },
}

describe('a budget for unusual results', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(answer)
  const ada = runUser(patchbay)
  const tools = () =>
    Object.keys(BODIES).map(path => ({ name: path.slice(1), method: 'GET', url: `${fake.origin}${path}` }))
  const make = (server: Record<string, unknown> = {}) =>
    makeServer(ada, tools(), { server: { maxResponseTokens: BUDGET, ...server } })
  const open = async (server?: Record<string, unknown>) => connect((await make(server)).url)

  it('cuts a text with a NUL near its beginning, and searches the rest', async () => {
    const client = await open()
    const cut = await callTexts(client, 'zeros')
    expect(cut.texts[1]).toMatch(/^a\0b 0 Bruges\./)
    expect(await countTokens(cut.text)).toBeLessThanOrEqual(BUDGET)
    const found = await callTexts(client, 'proxy_search', { cache_id: findCacheId(cut.text), pattern: 'Ghent' })
    expect(found.texts[0]).toContain('900 Ghent.')
  })

  it('cuts a long result whose estimated tokens are within the budget by mistake', async () => {
    expect(UNEVEN).toHaveLength(154_096)
    const client = await open({ maxResponseTokens: 8_000 })
    const cut = await callTexts(client, 'uneven')
    expect(z.object({ tokens: z.int().max(8_000), tokensEstimated: z.literal(true) }).parse(cut.meta)).toBeTruthy()
    expect(await countTokens(cut.text)).toBeLessThanOrEqual(8_000)
  })

  it('sends a long result unchanged if all of it fits by real count', async () => {
    const client = await open({ maxResponseTokens: 40_000 })
    const { texts, meta } = await callTexts(client, 'long')
    expect(texts).toEqual([LONG])
    expect(meta).toBeUndefined()
  })

  it('removes whitespace from JSON if that is enough to fit, without cutting it', async () => {
    const client = await open()
    expect(await countTokens(PRETTY)).toBeGreaterThan(BUDGET)
    const { texts, meta } = await callTexts(client, 'pretty')
    expect(texts).toEqual([JSON.stringify(few)])
    expect(meta).toEqual({
      tokens: await countTokens(PRETTY),
      tokensShown: await countTokens(texts[0] ?? ''),
      encoding: 'o200k_base',
      bytes: PRETTY.length,
    })
  })

  it('applies to all text blocks together', async () => {
    const client = await open({ maxResponseTokens: 200 })
    const { meta } = await callTexts(client, 'parts')
    expect(meta).toMatchObject({ tokens: expect.toSatisfy((tokens: number) => tokens > 200) })
  })

  it("leaves room for the longest builder's notice", async () => {
    const cutNotice = `${'Ask for more of it with {cache_id}, please. '.repeat(11)}`
    const client = await open({ cutNotice })
    const { text } = await callTexts(client, 'rows')
    expect(text).toContain('please. Ask for more')
    expect(await countTokens(text)).toBeLessThanOrEqual(BUDGET)
  })

  it('recognizes lines of JSON by each of their media types', async () => {
    const client = await open()
    const { text } = await callTexts(client, 'proxy_filter', {
      tool: 'lines',
      fields: ['[].town'],
      offset: 900,
      limit: 1,
    })
    expect(text).toContain('{"town":"Ghent"}')
  })

  it("reads a new, cached or cut result by the API's Content-Type", async () => {
    const kept = { annotations: { readOnlyHint: true }, cacheSeconds: 60, cacheShared: true }
    const [pair, ...others] = tools().filter(({ name }) => ['pair', 'feed', 'columns'].includes(name))
    const server = { maxResponseTokens: BUDGET }
    const client = await connect((await makeServer(ada, [{ ...pair, ...kept }, ...others], { server })).url)
    for (const _time of ['fresh', 'again']) {
      const { texts } = await callTexts(client, 'proxy_filter', { tool: 'pair', fields: ['[].note'] })
      expect(texts[0]).toBe('note\n"7, at noon"')
    }
    expect((await callTexts(client, 'proxy_explore', { tool: 'feed' })).text).toMatch(/^xml: /)
    const cut = await callTexts(client, 'columns')
    const { text } = await callTexts(client, 'proxy_filter', { cache_id: findCacheId(cut.text), offset: 899, limit: 1 })
    expect(text).toMatch(/^0,Bruges\n900,Ghent\n/)
  })

  it.each([
    ['proxy_explore', {}],
    ['proxy_filter', { fields: ['[].mimeType', '[].data'] }],
  ])('describes an image by %s', async (name, more) => {
    const client = await open()
    const { text } = await callTexts(client, name, { tool: 'image', ...more })
    expect(text).toContain('image/png')
    expect(text).toContain('1,234 bytes of binary content')
  })

  it('shows the beginning of a long error of the tool that was to be read', async () => {
    const upstream = await startFakeApi(({ body }, response) => {
      const { id, method } = z
        .object({ id: z.unknown().optional(), method: z.string() })
        .parse(body === '' ? { method: '' } : JSON.parse(body))
      if (id === undefined) response.writeHead(method === '' ? 405 : 202).end()
      else answerJson(response, { jsonrpc: '2.0', id, result: FAILING[method] ?? {} })
    })
    onTestFinished(upstream.close)
    const { id } = await ada.create('/servers', { name: 'Failing', access: 'public', maxResponseTokens: BUDGET })
    const own = await ada.create(`/servers/${id}/upstreams`, { name: 'own', transport: 'http', url: upstream.origin })
    await ada.expectOk('POST', `/upstreams/${own.id}/refresh`)
    const client = await connect(`${patchbay.origin}/s/${id}`)
    const failed = await callTexts(client, 'proxy_search', { tool: 'own_fail', pattern: 'why' })
    expect([failed.isError, failed.texts[1]?.startsWith('It is broken.')]).toEqual([true, true])
    expect(await countTokens(failed.text)).toBeLessThanOrEqual(BUDGET)
  })

  it.each(CLIENT_KINDS)(
    'are gone on from in every era, also behind a search, and live with each change (%s)',
    async kind => {
      const { url, serverId } = await make({ presentation: 'search' })
      const client = await connectClient(kind, url)
      const inner = async (name: string, args: object = {}) =>
        JSON.stringify(await client.callTool('call_tool', { name, arguments: args }))
      const kept = { cache_id: findCacheId((await inner('rows')).replaceAll('\\"', '"')), pattern: 'Ghent' }
      expect(JSON.stringify(await client.callTool('proxy_search', kept))).toContain('rows[900].town')
      expect(await inner('proxy_search', kept)).toContain('rows[900].town')
      await ada.expectOk('PATCH', `/servers/${serverId}`, { maxResponseTokens: 0 })
      expect(await inner('rows')).toContain('{\\"id\\":999,')
      await expect(client.callTool('proxy_search', kept)).rejects.toThrow(/proxy_search/)
      await ada.expectOk('PATCH', `/servers/${serverId}`, { maxResponseTokens: BUDGET })
      expect(JSON.stringify(await client.callTool('proxy_search', kept))).toContain('rows[900].town')
    },
  )

  describe('in groups', () => {
    const inGroup = (client: Client, group: string, name: string, args: object = {}) =>
      callTexts(client, 'call_dynamic_tool', { group, name, args })

    it('can be continued by a read-only token that may call their tool', async () => {
      const readable = [{ ...tools()[0], annotations: { readOnlyHint: true } }, tools()[1] ?? {}]
      const server = { access: 'private', presentation: 'grouped', maxResponseTokens: BUDGET }
      const { url, serverId } = await makeServer(ada, readable, { server })
      const wish = { origin: patchbay.origin, userId: ada.userId, serverId, scope: 'mcp:read' }
      const { token } = await insertToken(patchbay.services, wish)
      const client = await connect(url, token)
      const cut = await inGroup(client, 'Toolkit', 'rows')
      const kept = { cache_id: findCacheId(cut.text), pattern: 'Ghent' }
      expect((await inGroup(client, 'answers', 'proxy_search', kept)).text).toContain('rows[900].town')
      const fresh = (tool: string) =>
        inGroup(client, 'answers', 'proxy_search', { group: 'Toolkit', tool, pattern: 'Ghent' })
      expect((await fresh('rows')).text).toContain('rows[900].town')
      await expect(fresh('zeros')).rejects.toThrow(/scope|403|Forbidden/i)
    })

    it('can be continued if only their tool has a budget', async () => {
      const { url, instanceIds } = await make({ presentation: 'grouped', maxResponseTokens: 0 })
      await ada.expectOk('PATCH', `/instances/${instanceIds.rows}`, { maxResponseTokens: BUDGET })
      const client = await connect(url)
      const cut = await inGroup(client, 'Toolkit', 'rows')
      const { text } = await inGroup(client, 'answers', 'proxy_explore', { cache_id: findCacheId(cut.text) })
      expect(text).toContain('list of 1,000 items')
      const all = await inGroup(client, 'answers', 'proxy_filter', { cache_id: findCacheId(cut.text) })
      expect(await countTokens(all.text)).toBeLessThanOrEqual(8_000)
    })

    it('can be continued through the group that the notice names if its name is taken', async () => {
      const { url, toolkitId } = await make({ presentation: 'grouped' })
      await ada.expectOk('PATCH', `/toolkits/${toolkitId}`, { title: 'answers' })
      const client = await connect(url)
      const cut = await inGroup(client, 'answers', 'rows')
      const group = /in the group "([^"]*)"/.exec(cut.text)?.[1] ?? ''
      const kept = { cache_id: findCacheId(cut.text), pattern: 'Ghent' }
      expect((await inGroup(client, group, 'proxy_search', kept)).text).toContain('rows[900].town')
    })
  })
})

describe('a Patchbay with little memory', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MEMORY_MB: '256' } })
  const many = Array.from({ length: 60_000 }, (_, id) => ({ id, town: 'Bruges', note: 'x'.repeat(70) }))
  const some = { rows: many.slice(0, 1_000) }
  const fake = runFakeApi(({ url }, response) =>
    answerJson(response, url === '/some' ? some : { total: many.length, rows: many }),
  )
  const ada = runUser(patchbay)
  const serve = async () => {
    const tools = ['many', 'some'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    const { url, serverId } = await makeServer(ada, tools, { server: { maxResponseTokens: BUDGET } })
    return { client: await connect(url), serverId }
  }

  it('begins a result that is too large to be read as valid JSON with an outline', async () => {
    const { client } = await serve()
    const { texts, text } = await callTexts(client, 'many')
    const [notice, beginning = '', outline] = texts
    expect(notice).toMatch(/^Cut: this is the beginning of [\d.]+ MB; the whole has cache_id "/)
    const { rows: shown } = z.object({ rows: z.array(z.unknown()) }).parse(JSON.parse(beginning))
    expect(shown).toEqual(many.slice(0, shown.length))
    expect(shown.length).toBeGreaterThan(0)
    expect(outline).toMatch(/^rows: \d items? shown, of a result of [\d.]+ MB/m)
    expect(await countTokens(text)).toBeLessThanOrEqual(BUDGET)
  })

  it('estimates the tokens of a long result for the reply, and counts them exactly afterwards', async () => {
    const { client, serverId } = await serve()
    const exact = await countTokens(JSON.stringify(some))
    const cut = await callTexts(client, 'some')
    expect(cut.meta).toMatchObject({ tokensEstimated: true })
    const history = async () => (await ada.expectOk('GET', `/servers/${serverId}/executions`)).body
    const counted = { items: [{ tool: 'some', tokensBefore: exact, tokensEstimated: false }] }
    await expect.poll(history, { timeout: 20_000 }).toMatchObject(counted)
    const look = { cache_id: findCacheId(cut.text), fields: ['rows[7].id'] }
    const { meta, text } = await callTexts(client, 'proxy_filter', look)
    expect(meta).toMatchObject({ tokens: exact })
    expect(meta).not.toHaveProperty('tokensEstimated')
    expect(text).not.toContain('about')
  })
})
