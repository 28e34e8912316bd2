import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { callTexts, connect, findCacheId, toolNames } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { answerJson, startFakeApi } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { everythingCommand } from '../../upstreams/support.ts'

vi.setConfig({ testTimeout: 30_000 })

const BUDGET = { maxResponseTokens: 500 }
const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, town: id === 900 ? 'Ghent' : 'Bruges' }))
const OUTPUT = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] }
/** Results of an upstream whose tool returns structured content with only a short text beside it. */
const STRUCTURED_RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
  'tools/list': { tools: [{ name: 'rows', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'All the rows.' }], structuredContent: { rows } },
}
const LONG = Array.from({ length: 4_000 }, (_, index) => `word${index}`).join(' ')

describe('the budget of a server', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const fake = runFakeApi((_request, response) => answerJson(response, { rows }))
  const ada = runUser(patchbay)
  const plain = () => ({ name: 'plain', method: 'GET', url: `${fake.origin}/` })
  const shaped = () => ({ ...plain(), name: 'shaped', outputSchema: OUTPUT })

  it('does not apply to a tool with an output schema, whose results clients validate', async () => {
    const { url } = await makeServer(ada, [shaped()], { server: BUDGET })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['shaped'])
    const { structured, meta } = await callTexts(client, 'shaped')
    expect([structured, meta]).toEqual([{ rows }, undefined])
  })

  it("is overridden by a tool's own budget, which removes its output schema from the list", async () => {
    const { url, instanceIds } = await makeServer(ada, [plain(), shaped()], { server: BUDGET })
    await ada.expectOk('PATCH', `/instances/${instanceIds.plain}`, { maxResponseTokens: 0 })
    await ada.expectOk('PATCH', `/instances/${instanceIds.shaped}`, { maxResponseTokens: 300 })
    const client = await connect(url)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'shaped')?.outputSchema).toBeUndefined()
    expect(await callTexts(client, 'plain')).toMatchObject({ texts: [JSON.stringify({ rows })], meta: undefined })
    const { meta, structured } = await callTexts(client, 'shaped')
    expect(meta).toMatchObject({ tokensShown: expect.toSatisfy((shown: number) => shown <= 300) })
    expect(structured).toBeUndefined()
  })

  it('applies to grouped tools, and a separate group continues from cut results', async () => {
    const { url } = await makeServer(ada, [plain()], { server: { ...BUDGET, presentation: 'grouped' } })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['call_dynamic_tool', 'get_dynamic_tools'])
    const inner = (group: string, name: string, args: object = {}) =>
      callTexts(client, 'call_dynamic_tool', { group, name, args })
    const listed = await callTexts(client, 'get_dynamic_tools', { group: 'answers' })
    expect(listed.texts[0]).toMatch(/proxy_explore.*proxy_filter.*proxy_search/)
    const cut = await inner('Toolkit', 'plain')
    expect(cut.texts[0]).toContain('in the group "answers", for example call_dynamic_tool {"group":"answers",')
    const found = await inner('answers', 'proxy_search', { cache_id: findCacheId(cut.text), pattern: 'Ghent' })
    expect(found.texts[0]).toContain('rows[900].town')
    const fresh = await inner('answers', 'proxy_filter', {
      group: 'Toolkit',
      tool: 'plain',
      fields: ['rows[900].town'],
    })
    expect(fresh.texts[0]).toContain('Ghent')
    const lost = await inner('answers', 'proxy_filter', { tool: 'plain', fields: ['rows'] })
    expect([lost.isError, lost.texts[0]]).toEqual([true, expect.stringContaining('"group" is missing')])
    const astray = await inner('answers', 'proxy_filter', { group: 'Kit', tool: 'plain', fields: ['rows'] })
    expect([astray.isError, astray.texts[0]]).toEqual([true, expect.stringContaining('"Toolkit"')])
  })

  it('applies to tools of upstreams, or their own budgets', async () => {
    const { id } = await ada.create('/servers', { name: 'Attached', access: 'public', ...BUDGET })
    const upstream = await ada.create(`/servers/${id}/upstreams`, { name: 'every', ...everythingCommand() })
    await ada.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    const client = await connect(`${patchbay.origin}/s/${id}`)
    const echo = () => callTexts(client, 'every_echo', { message: LONG })
    const cut = await echo()
    expect(cut.texts[1]).toMatch(/^Echo: word0 word1 /)
    expect(cut.meta).toMatchObject({ tokensShown: expect.toSatisfy((shown: number) => shown <= 500) })
    const found = await callTexts(client, 'proxy_search', { cache_id: findCacheId(cut.text), pattern: 'word3999' })
    expect(found.texts[0]).toContain('word3999')
    const fresh = await callTexts(client, 'proxy_explore', { tool: 'every_echo', arguments: { message: LONG } })
    expect(fresh.isError).toBe(false)
    await ada.expectOk('PATCH', `/upstreams/${upstream.id}`, { responseTokens: { echo: 0 } })
    await expect.poll(async () => (await echo()).texts).toEqual([`Echo: ${LONG}`])
  })

  it('applies to structured content without text', async () => {
    const upstream = await startFakeApi(({ body }, response) => {
      const { id, method } = z
        .object({ id: z.unknown().optional(), method: z.string() })
        .parse(body === '' ? { method: '' } : JSON.parse(body))
      if (id === undefined) response.writeHead(method === '' ? 405 : 202).end()
      else answerJson(response, { jsonrpc: '2.0', id, result: STRUCTURED_RESULTS[method] ?? {} })
    })
    onTestFinished(upstream.close)
    const { id } = await ada.create('/servers', { name: 'Structured', access: 'public', ...BUDGET })
    const attached = await ada.create(`/servers/${id}/upstreams`, {
      name: 'own',
      transport: 'http',
      url: upstream.origin,
    })
    await ada.expectOk('POST', `/upstreams/${attached.id}/refresh`)
    const client = await connect(`${patchbay.origin}/s/${id}`)
    const cut = await callTexts(client, 'own_rows')
    expect(cut).toMatchObject({ structured: undefined, meta: { bytes: JSON.stringify({ rows }).length } })
    expect(cut.texts).toEqual([
      expect.stringContaining('cache_id'),
      expect.stringMatching(/^\{"rows":/),
      expect.stringContaining('This is only a part'),
      'All the rows.',
    ])
    const found = await callTexts(client, 'proxy_search', { cache_id: findCacheId(cut.text), pattern: 'Ghent' })
    expect(found.texts[0]).toContain('rows[900].town')
  })
})
