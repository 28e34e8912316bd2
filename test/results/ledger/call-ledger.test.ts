import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { countTokens, TOKEN_ENCODING } from '../../../src/lib/tokens/tokens.ts'
import { cacheIdOf, callTexts, connect } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { type Answerer, answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { countAll, readTokens, readWhenCounted } from './token-sums.ts'

const BUDGET = 1_000
/** The maximum difference for one result: joined texts can have a token more or fewer than their parts. */
const SEAMS = 4

const people = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `Person ${id}`, links: [`/people/${id}`] }))
const few = people.slice(0, 40)
const small = { weather: 'fine', wind: [3, 'knots'] }
const html = '<!doctype html><h1>Weather</h1><p>It is <b>fine</b> &amp; warm.</p>'

const answer: Answerer = ({ url }, response) => {
  if (url.startsWith('/people')) answerJson(response, { people })
  else if (url.startsWith('/few')) answerJson(response, { people: few })
  else if (url.startsWith('/page')) response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  else if (url.startsWith('/broken')) response.writeHead(500).end('no weather today')
  else if (url.startsWith('/image')) response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(90, 7))
  else answerJson(response, small)
}

const Executions = z.object({
  items: z.array(
    z.object({
      tool: z.string(),
      outcome: z.string(),
      result: z.string(),
      tokensBefore: z.int().nullable(),
      tokensSent: z.int().nullable(),
      tokensEstimated: z.boolean(),
      request: z.looseObject({ body: z.string().nullable() }).nullable(),
    }),
  ),
})

const today = (): string => new Date().toISOString().slice(0, 10)

describe.each(databasesOfRun)('the token counts of calls, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi(answer)
  const ada = runUser(patchbay)

  const serve = async (server: Record<string, unknown> = {}, more: readonly Record<string, unknown>[] = []) => {
    const names = ['people', 'few', 'page', 'broken', 'image', 'small']
    const tools = names.map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    const made = await makeServer(ada, [...tools, ...more], { server: { maxResponseTokens: BUDGET, ...server } })
    const client = await connect(made.url)
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const { texts, meta } = await callTexts(client, name, args)
      return { meta, sent: await countAll(texts) }
    }
    const read = (query?: string) => readTokens(ada, made.serverId, query)
    const whenCounted = (counted: number) => readWhenCounted(ada, made.serverId, counted)
    /** Newest first. */
    const history = async () =>
      Executions.parse((await ada.expectOk('GET', `/servers/${made.serverId}/executions`)).body).items
    return { ...made, call, read, whenCounted, history }
  }

  it('are equal before and after if nothing was omitted', async () => {
    const { call, whenCounted, history } = await serve()
    const { sent } = await call('small')
    await call('small')
    const broken = await call('broken')
    expect(await whenCounted(3)).toMatchObject({
      encoding: TOKEN_ENCODING,
      calls: 3,
      tokensBefore: 2 * sent + broken.sent,
      tokensSent: 2 * sent + broken.sent,
      tokensSaved: 0,
      days: [{ day: today(), calls: 3, counted: 3 }],
    })
    expect(await history()).toMatchObject([
      { tool: 'broken', outcome: 'error', tokensBefore: broken.sent, tokensSent: broken.sent },
      { tool: 'small', tokensBefore: sent, tokensSent: sent },
      { tool: 'small', tokensBefore: sent, tokensSent: sent },
    ])
  })

  it('are lower after a cut', async () => {
    const { call, whenCounted, history } = await serve()
    const { sent } = await call('people')
    const whole = await countTokens(JSON.stringify({ people }))
    const counted = await whenCounted(1)
    expect(counted.tokensBefore).toBe(whole)
    expect(Math.abs(counted.tokensSent - sent)).toBeLessThanOrEqual(SEAMS)
    expect(counted.tokensSaved).toBe(whole - counted.tokensSent)
    expect(await history()).toMatchObject([{ tokensBefore: whole, tokensSent: counted.tokensSent }])
  })

  it('subtract what is sent later from a cut result, and claim no saving twice', async () => {
    const { call, whenCounted, history } = await serve()
    const { meta } = await call('people')
    const cacheId = cacheIdOf(meta)
    const first = await whenCounted(1)
    const looked = await call('proxy_filter', { cache_id: cacheId, fields: ['people[].name'], limit: 5 })
    const second = await whenCounted(2)
    expect(second.tokensBefore).toBe(first.tokensBefore)
    expect(Math.abs(second.tokensSent - first.tokensSent - looked.sent)).toBeLessThanOrEqual(SEAMS)
    expect(second.tokensSaved).toBeLessThan(first.tokensSaved)
    expect(second.tools.at(-1)).toMatchObject({ tool: 'proxy_filter', calls: 1, counted: 1, tokensBefore: 0 })
    const [row] = await history()
    expect(row).toMatchObject({ tool: 'proxy_filter', result: 'success', tokensBefore: first.tokensBefore })
    expect(row?.request?.body).toContain('people[].name')
    expect(row?.request?.body).not.toContain(cacheId)
  })

  it('count an inspection of a new result as a call of its tool', async () => {
    const { call, whenCounted, history } = await serve()
    const { sent } = await call('proxy_search', { tool: 'people', arguments: {}, pattern: 'Person 777', mode: 'text' })
    const counted = await whenCounted(1)
    expect(counted.tools.map(({ tool }) => tool)).toEqual(['people'])
    expect(counted.tokensBefore).toBe(await countTokens(JSON.stringify({ people })))
    expect(Math.abs(counted.tokensSent - sent)).toBeLessThanOrEqual(SEAMS)
    expect(await history()).toHaveLength(1)
  })

  it('are recorded for failed inspections', async () => {
    const { call, whenCounted, history } = await serve()
    await call('proxy_explore', { cache_id: 'AAAAAAAAAAAAAAAAAAAAAA' })
    await call('proxy_explore', { cache_id: 7 })
    expect((await whenCounted(2)).tokensSaved).toBeLessThan(0)
    expect(await history()).toMatchObject([
      { tool: 'proxy_explore', outcome: 'error', result: 'invalid_arguments' },
      { tool: 'proxy_explore', outcome: 'error', result: 'rejected' },
    ])
  })

  it("are lower than the API's response if the tool shapes it", async () => {
    const shaped = { method: 'GET', response: { dropFields: ['people[].links'] } }
    const page = { method: 'GET', response: { htmlToMarkdown: true } }
    const { call, whenCounted, read, history } = await serve({}, [
      { ...shaped, name: 'shaped', url: `${fake.origin}/few` },
      { ...page, name: 'article', url: `${fake.origin}/page` },
      { ...shaped, name: 'shaped_and_cut', url: `${fake.origin}/people` },
    ])
    const [first, second, third] = [await call('shaped'), await call('article'), await call('shaped_and_cut')]
    const { tools } = await whenCounted(3)
    const find = (name: string) => tools.find(({ tool }) => tool === name)
    expect(find('shaped')).toMatchObject({
      tokensBefore: await countTokens(JSON.stringify({ people: few })),
      tokensSent: first.sent,
    })
    expect(find('article')).toMatchObject({ tokensBefore: await countTokens(html), tokensSent: second.sent })
    const whole = await countTokens(JSON.stringify({ people }))
    expect(Math.abs((find('shaped_and_cut')?.tokensBefore ?? 0) - whole) / whole).toBeLessThan(0.1)
    expect((await read()).estimated).toBe(1)
    const [long, , short] = await history()
    expect([long?.tokensEstimated, short?.tokensEstimated]).toEqual([true, false])
    expect(Math.abs((find('shaped_and_cut')?.tokensSent ?? 0) - third.sent)).toBeLessThanOrEqual(SEAMS)
  })

  it('are lower if the server sends lists as tables', async () => {
    const { call, whenCounted } = await serve({ compactTables: true, maxResponseTokens: 0 })
    const { sent } = await call('few')
    const counted = await whenCounted(1)
    expect(counted.tokensBefore).toBe(await countTokens(JSON.stringify({ people: few })))
    expect(counted.tokensSent).toBe(sent)
    expect(counted.tokensSaved).toBeGreaterThan(0)
  })

  it('are zero for an image', async () => {
    const { call, whenCounted } = await serve()
    await call('image')
    expect(await whenCounted(1)).toMatchObject({ calls: 1, tokensBefore: 0, tokensSent: 0 })
  })

  it('survive the deletion of calls, and are deleted with the server', async () => {
    const { db } = patchbay.services
    const { call, whenCounted, read, serverId } = await serve()
    await call('small')
    const counted = await whenCounted(1)
    await db.execution.deleteMany({ where: { serverId } })
    expect(await read()).toEqual(counted)
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    await expect.poll(() => db.toolDay.count({ where: { serverId } }), { timeout: 10_000 }).toBe(0)
  })

  it('are returned for the requested days', async () => {
    const { call, whenCounted, read } = await serve()
    await call('small')
    await whenCounted(1)
    expect(await read(`?from=${today()}&to=${today()}`)).toMatchObject({ calls: 1, from: today(), to: today() })
    expect(await read('?from=2025-01-01&to=2025-01-31')).toMatchObject({ calls: 0, days: [], tools: [] })
  })

  it('are visible to nobody else, and refused for invalid days', async () => {
    const { serverId } = await serve()
    const path = `/servers/${serverId}/executions/tokens`
    const eve = await signUp(patchbay.origin)
    expect((await eve.send('GET', path)).status).toBe(404)
    expect((await ada.send('GET', `${path}?from=2026-02-30`)).status).toBe(400)
    expect((await ada.send('GET', `${path}?from=2026-02-03&to=2026-02-02`)).status).toBe(400)
  })
})
