import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { cacheIdOf, callTexts, connect } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { type Asked, runScriptedUpstreams } from '../../upstreams/scripted-upstream.ts'
import { countAll, readWhenCounted } from './token-sums.ts'

const BUDGET = 1_000
const SEAMS = 4

const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, town: `Town ${id}`, note: 'as before' }))
const short = { rows: rows.slice(0, 3) }
const text = (value: unknown) => ({ type: 'text', text: JSON.stringify(value) })
const RESULTS: Record<string, object> = {
  long: { content: [text({ rows })] },
  short: { content: [text(short)] },
  structured: { content: [text(short)], structuredContent: short },
  remark: { content: [{ type: 'text', text: 'Three rows.' }], structuredContent: short },
}
const tools = Object.keys(RESULTS).map(name => ({ name, inputSchema: { type: 'object' } }))
const resultOf = ({ params }: Asked): string => JSON.stringify(RESULTS[z.string().parse(params?.name)])

describe('the token counts of calls, by every route', () => {
  const patchbay = runPatchbay()
  const upstreams = runScriptedUpstreams({ rows: { tools: () => tools, result: resultOf } })
  const fake = runFakeApi(({ url }, response) => answerJson(response, url.startsWith('/long') ? { rows } : short))
  const operator = runUser(patchbay, 'operator@example.com')

  const open = async (serverId: string) => {
    const client = await connect(`${patchbay.origin}/s/${serverId}`)
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const { texts, meta } = await callTexts(client, name, args)
      return { meta, sent: await countAll(texts) }
    }
    const whenCounted = async (counted: number) => {
      const { tools } = await readWhenCounted(operator, serverId, counted)
      return new Map(tools.map(tool => [tool.tool, tool]))
    }
    return { call, whenCounted }
  }

  const attach = async (server: object = {}) => {
    const { id } = await operator.create('/servers', {
      name: 'Attached',
      access: 'public',
      maxResponseTokens: BUDGET,
      ...server,
    })
    const upstream = await operator.create(`/servers/${id}/upstreams`, {
      name: 'up',
      transport: 'http',
      url: upstreams.urlOf('rows'),
      toolAnswers: { structured: { response: { dropFields: ['rows[].note'] } } },
    })
    await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    return open(id)
  }
  const serve = async (server: Record<string, unknown> = {}) => {
    const definitions = ['long', 'short'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    const made = await makeServer(operator, definitions, { server: { maxResponseTokens: BUDGET, ...server } })
    return { ...made, ...(await open(made.serverId)) }
  }

  it('are recorded for an attached MCP server: unchanged, cut, shaped, and with text beside structured content', async () => {
    const { call, whenCounted } = await attach()
    const [long, plain, remark] = [await call('up_long'), await call('up_short'), await call('up_remark')]
    const shaped = await call('up_structured')
    const counted = await whenCounted(4)
    expect(counted.get('up_short')).toMatchObject({ tokensBefore: plain.sent, tokensSent: plain.sent })
    expect(counted.get('up_long')?.tokensBefore).toBe(await countTokens(JSON.stringify({ rows })))
    expect(Math.abs((counted.get('up_long')?.tokensSent ?? 0) - long.sent)).toBeLessThanOrEqual(SEAMS)
    const both = (await countTokens(JSON.stringify(short))) + remark.sent
    expect(counted.get('up_remark')).toMatchObject({ tokensBefore: both, tokensSent: both })
    expect(counted.get('up_structured')).toMatchObject({
      tokensBefore: await countTokens(JSON.stringify(short)),
      tokensSent: shaped.sent,
    })
  })

  it('are recorded through search as calls of the tool that was found', async () => {
    const { call, whenCounted } = await serve({ presentation: 'search' })
    await call('find_tools', { query: 'short' })
    const { sent } = await call('call_tool', { name: 'short', arguments: {} })
    const counted = await whenCounted(1)
    expect([...counted.keys()]).toEqual(['short'])
    expect(counted.get('short')).toMatchObject({ calls: 1, tokensBefore: sent, tokensSent: sent })
  })

  it('are recorded through groups, including continuations of cut results', async () => {
    const { call, whenCounted } = await serve({ presentation: 'grouped' })
    const { meta } = await call('call_dynamic_tool', { group: 'Toolkit', name: 'long', args: {} })
    const args = { cache_id: cacheIdOf(meta), pattern: 'Town 900', mode: 'text' }
    const { sent } = await call('call_dynamic_tool', { group: 'answers', name: 'proxy_search', args })
    const counted = await whenCounted(2)
    expect(counted.get('long')?.tokensBefore).toBe(await countTokens(JSON.stringify({ rows })))
    expect(counted.get('proxy_search')?.tokensBefore).toBe(0)
    expect(Math.abs((counted.get('proxy_search')?.tokensSent ?? 0) - sent)).toBeLessThanOrEqual(SEAMS)
  })

  it('are recorded for the management API, which cuts nothing', async () => {
    const { instanceIds, whenCounted } = await serve()
    await operator.expectOk('POST', `/instances/${instanceIds.long}/call`, { arguments: {} })
    const tokens = await countTokens(JSON.stringify({ rows }))
    const { tokensBefore = 0, tokensSent = 0 } = (await whenCounted(1)).get('long') ?? {}
    expect(tokensBefore).toBe(tokensSent)
    expect(Math.abs(tokensSent - tokens) / tokens).toBeLessThan(0.1)
  })
})
