import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TOKEN_ENCODING } from '../../../src/lib/tokens/tokens.ts'
import { cacheIdOf, callTexts, connect } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { type Asked, runScriptedUpstreams } from '../../upstreams/scripted-upstream.ts'
import { numberOf, readExposition } from './exposition-format.ts'
import { readWhenCounted } from './token-sums.ts'

const TOKEN = 'canary-metrics-token-9f3c01aa-5d71'

const people = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `Person ${id}` }))

/** Label values that need escaping. */
const ODD_NAMES = ['say "hi"', 'two\nlines', 'back\\slash', 'curly{a="b"} 1', 'comma,"x']
const isOdd = (name: unknown): boolean => ODD_NAMES.some(odd => odd === name)
const resultOf = ({ params }: Asked): string =>
  JSON.stringify({ content: [{ type: 'text', text: 'Done.' }], isError: !isOdd(params?.name) })

type ToolTokens = { tool: string; counted: number; tokensBefore: number; tokensSent: number }
const Costs = z.object({ presentations: z.array(z.object({ presentation: z.string(), tokens: z.int() })) })

const byName = (a: ToolTokens, b: ToolTokens): number => (a.tool < b.tool ? -1 : 1)

describe('metrics', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_METRICS_TOKEN: TOKEN } })
  const fake = runFakeApi(({ url }, response) => {
    if (url.startsWith('/broken')) response.writeHead(500).end('no weather today')
    else answerJson(response, url.startsWith('/people') ? { people } : { weather: 'fine' })
  })
  const upstreams = runScriptedUpstreams({
    odd: {
      tools: () => [...ODD_NAMES, 'fails'].map(name => ({ name, inputSchema: { type: 'object' } })),
      result: resultOf,
    },
  })
  const ada = runUser(patchbay)

  const ask = (authorization?: string, method = 'GET') =>
    fetch(`${patchbay.origin}/metrics`, { method, headers: authorization === undefined ? {} : { authorization } })
  const collect = async () => {
    const response = await ask(`Bearer ${TOKEN}`)
    expect(response.status).toBe(200)
    return readExposition(await response.text())
  }
  /** Reads the metrics of a server and returns them in the shape of the API. */
  const collectTools = async (serverId: string): Promise<ToolTokens[]> => {
    const metrics = await collect()
    const read = (name: string): Map<string, number> =>
      new Map(
        metrics
          .get(name)
          ?.series.filter(({ labels }) => labels.server === serverId)
          .map(({ labels, value }) => [labels.tool ?? '', value]),
      )
    const [counted, before, sent] = [
      read('patchbay_answers_counted_total'),
      read('patchbay_answer_tokens_before_total'),
      read('patchbay_answer_tokens_sent_total'),
    ]
    expect([[...before.keys()], [...sent.keys()]]).toEqual([[...counted.keys()], [...counted.keys()]])
    return [...counted]
      .map(([tool, count]) => ({
        tool,
        counted: count,
        tokensBefore: before.get(tool) ?? 0,
        tokensSent: sent.get(tool) ?? 0,
      }))
      .sort(byName)
  }
  /** Returns the API's sums once this many results have been counted. */
  const whenCounted = async (serverId: string, counted: number): Promise<ToolTokens[]> => {
    const { tools } = await readWhenCounted(ada, serverId, counted)
    return tools
      .map(({ tool, counted, tokensBefore, tokensSent }) => ({ tool, counted, tokensBefore, tokensSent }))
      .sort(byName)
  }
  const serve = async () => {
    const tools = ['people', 'small', 'broken'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    const made = await makeServer(ada, tools, { server: { maxResponseTokens: 1_000 } })
    return { ...made, client: await connect(made.url) }
  }

  it("of results equal the API's figures, also for a cut one", async () => {
    const { client, serverId } = await serve()
    const cacheId = cacheIdOf((await callTexts(client, 'people')).meta)
    await client.callTool({ name: 'small' })
    await client.callTool({ name: 'small' })
    await client.callTool({ name: 'broken' })
    await client.callTool({ name: 'proxy_filter', arguments: { cache_id: cacheId, fields: ['people[0].name'] } })
    await client.callTool({ name: 'proxy_filter', arguments: { cache_id: 7 } })
    const told = await whenCounted(serverId, 6)
    expect(told.map(({ tool, counted }) => [tool, counted])).toEqual([
      ['broken', 1],
      ['people', 1],
      ['proxy_filter', 2],
      ['small', 2],
    ])
    expect(told[1]?.tokensBefore).toBeGreaterThan(5 * (told[1]?.tokensSent ?? 0))
    expect(await collectTools(serverId)).toEqual(told)
  })

  it('count the results that do not match the output schema of their tool', async () => {
    const outputSchema = { type: 'object', properties: { weather: { type: 'integer' } } }
    const tool = { method: 'GET', url: `${fake.origin}/small` }
    const { url, serverId } = await makeServer(ada, [
      { name: 'fits', ...tool },
      { name: 'misses', ...tool, outputSchema },
    ])
    const client = await connect(url)
    for (const name of ['fits', 'misses', 'misses']) await client.callTool({ name })
    await whenCounted(serverId, 3)
    const series = (await collect()).get('patchbay_schema_mismatches_total')?.series ?? []
    expect(series.filter(({ labels }) => labels.server === serverId)).toEqual([
      expect.objectContaining({ labels: { server: serverId, tool: 'fits' }, value: 0 }),
      expect.objectContaining({ labels: { server: serverId, tool: 'misses' }, value: 2 }),
    ])
  })

  it('name the number of results and the tokenizer', async () => {
    const metrics = await collect()
    const of = (name: string): number => numberOf(metrics, `patchbay_ledger_answers_${name}`)
    expect(of('total')).toBe(of('counted_total') + of('not_counted_total') + of('waiting'))
    expect(of('counted_total')).toBeGreaterThanOrEqual(6)
    for (const [name, { help }] of metrics) {
      if (/tokens|(?<!not)_counted/.test(name)) expect(help, name).toContain(TOKEN_ENCODING)
    }
  })

  it('name tools of attached MCP servers as clients know them, and exclude failed calls', async () => {
    const { serverId, client } = await serve()
    const url = upstreams.urlOf('odd')
    const upstream = await ada.create(`/servers/${serverId}/upstreams`, { name: 'up', transport: 'http', url })
    await ada.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    const { tools } = await client.listTools()
    const odd = tools.map(({ name }) => name).filter(name => name.startsWith('up_') && name !== 'up_fails')
    expect(odd).toHaveLength(ODD_NAMES.length)
    const before = numberOf(await collect(), 'patchbay_ledger_answers_counted_total')
    for (const name of odd) await client.callTool({ name })
    expect((await client.callTool({ name: 'up_fails' })).isError).toBe(true)
    const told = await whenCounted(serverId, odd.length)
    expect(told.map(({ tool }) => tool)).toEqual([...odd].sort())
    await expect
      .poll(async () => numberOf(await collect(), 'patchbay_ledger_answers_counted_total') - before, {
        timeout: 20_000,
      })
      .toBe(odd.length + 1)
    expect(await collectTools(serverId)).toEqual(told)
  })

  it('contain nothing of a removed server', async () => {
    const { client, serverId } = await serve()
    await client.callTool({ name: 'small' })
    await whenCounted(serverId, 1)
    expect(await collectTools(serverId)).toHaveLength(1)
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    expect(await collectTools(serverId)).toEqual([])
  })

  it('drop a server whose removal was missed, at the next resync', async () => {
    const [gone, there] = [await serve(), await serve()]
    for (const { client, serverId } of [gone, there]) {
      await client.callTool({ name: 'small' })
      await whenCounted(serverId, 1)
    }
    const { db, bus } = patchbay.services
    await db.server.update({ where: { id: gone.serverId }, data: { removedAt: new Date() } })
    await bus.publish({ type: 'resync' })
    expect(await collectTools(gone.serverId)).toEqual([])
    expect(await collectTools(there.serverId)).toHaveLength(1)
  })

  it('report the cost of a tool list once somebody has viewed it, without computing anything', async () => {
    const { serverId } = await serve()
    const collectCosts = async () =>
      (await collect())
        .get('patchbay_catalogue_tokens')
        ?.series.filter(({ labels }) => labels.server === serverId)
        .map(({ labels: { presentation }, value: tokens }) => ({ presentation, tokens }))
    expect(await collectCosts()).toEqual([])
    const { presentations } = Costs.parse((await ada.expectOk('GET', `/servers/${serverId}/tokens`)).body)
    expect(presentations.length).toBeGreaterThan(2)
    expect(await collectCosts()).toEqual(presentations)
    await ada.expectOk('PATCH', `/servers/${serverId}`, { name: 'Renamed' })
    expect(await collectCosts()).toEqual([])
  })

  it.each([
    ['no token', undefined, 'Bearer realm="Patchbay"'],
    ['another scheme', `Basic ${TOKEN}`, 'Bearer realm="Patchbay"'],
    ['a wrong token', `Bearer ${TOKEN.slice(0, -1)}x`, 'Bearer realm="Patchbay", error="invalid_token"'],
    ['the beginning of the token', `Bearer ${TOKEN.slice(0, -1)}`, 'Bearer realm="Patchbay", error="invalid_token"'],
    ['an empty token', 'Bearer ', 'Bearer realm="Patchbay", error="invalid_token"'],
  ])('are refused with %s', async (_what, authorization, challenge) => {
    const response = await ask(authorization)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(challenge)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const text = await response.text()
    expect(text).toContain('Send the value of PATCHBAY_METRICS_TOKEN')
    expect(text).not.toContain('patchbay_')
    expect(text).not.toContain(TOKEN.slice(0, 6))
  })

  it("are refused to an operator's own token", async () => {
    expect((await ask(`Bearer ${ada.token}`)).status).toBe(401)
  })

  it('must not be cached, and are not in the API description', async () => {
    const response = await ask(`bearer ${TOKEN}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const head = await ask(`Bearer ${TOKEN}`, 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await ask(`Bearer ${TOKEN}`, 'POST')).status).toBe(404)
    const described = await (await fetch(`${patchbay.origin}/api/v1/openapi.json`)).text()
    expect(described).not.toContain('/metrics')
  })
})

describe('disabled metrics', () => {
  const patchbay = runPatchbay()

  it('return 404 like any unknown address', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${patchbay.origin}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
      const headers = [...response.headers].filter(
        ([name]) => !/^(date|set-cookie|content-security-policy|x-request-id)$/.test(name),
      )
      // Each response has the id of its own request.
      const text = (await response.text()).replace(/"requestId":"[^"]*"/, '')
      return { status: response.status, headers, text }
    }
    const answer = await get('/metrics')
    expect(answer.status).toBe(404)
    expect(answer).toEqual(await get('/metricz'))
  })
})
