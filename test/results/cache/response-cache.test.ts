import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { callText, connect } from '../../servers/mcp.ts'
import { type ApiClient, makeServer, signUp } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { answerJson, type FakeApi, type SeenRequest, startFakeApi } from '../../support/fake-api.ts'
import { runPatchbay, runUser, startWorld } from '../../support/world.ts'

const SECOND_MS = 1_000

/** Headers of the API's responses, by path. */
const HEADERS: Record<string, Record<string, string | string[]>> = {
  '/no-store': { 'cache-control': 'no-store' },
  '/shouted': { 'cache-control': 'No-Store' },
  '/no-cache': { 'cache-control': 'no-cache' },
  '/pragma': { pragma: 'no-cache' },
  '/private': { 'cache-control': 'private' },
  '/public': { 'cache-control': 'public' },
  '/five': { 'cache-control': 'max-age=5, must-revalidate' },
  '/hour': { 'cache-control': 'max-age=3600' },
  '/old': { 'cache-control': 'max-age=60', age: '55' },
  '/too-old': { 'cache-control': 'max-age=60', age: '60' },
  '/old-and-silent': { age: '100000' },
  '/shared-five': { 'cache-control': 's-maxage=5, max-age=3600' },
  '/shared-never': { 'cache-control': 's-maxage=0, max-age=3600' },
  '/expires': { date: 'Sun, 22 Nov 2026 10:00:00 GMT', expires: 'Sun, 22 Nov 2026 10:00:05 GMT' },
  '/expired': { expires: '0' },
  '/stale-allowed': { 'cache-control': 'max-age=0, stale-while-revalidate=3600, stale-if-error=3600' },
  '/modified': { 'last-modified': 'Sun, 01 Nov 2020 10:00:00 GMT' },
  '/vary-all': { vary: 'accept, *' },
  '/vary': { vary: 'accept-language' },
  '/twice': { 'cache-control': ['max-age=3600', 'max-age=0'] },
  '/backwards': { 'cache-control': ['max-age=0', 'max-age=3600'] },
  '/negative': { 'cache-control': 'max-age=-60' },
  '/word': { 'cache-control': 'max-age=forever' },
  '/bare': { 'cache-control': 'max-age' },
  '/empty': { 'cache-control': 'max-age=' },
  '/huge': { 'cache-control': 'max-age=99999999999' },
  '/endless': { 'cache-control': `max-age=${'9'.repeat(400)}` },
  '/quoted': { 'cache-control': 'max-age="5"' },
  '/spaced': { 'cache-control': ' max-age = 5 ,,, ' },
  '/garbage': { 'cache-control': '=,;"=__proto__=60, constructor, "' },
  '/long': { 'cache-control': 'x=1,'.repeat(4_000) },
  '/cookie': { 'set-cookie': 'who=me' },
}

const Execution = z.object({
  items: z.array(
    z.looseObject({ outcome: z.string(), status: z.number().nullable(), answerAgeMs: z.number().nullable() }),
  ),
})

describe('the response cache', () => {
  let fake: FakeApi
  let builder: ApiClient & { email: string; userId: string }
  let nowMs = 1
  let respond: ((request: SeenRequest, response: ServerResponse) => void) | undefined
  const patchbay = runPatchbay({
    services: { responseCache: { now: () => nowMs, limits: { maxResultBytes: 20_000, maxServerBytes: 50_000 } } },
  })
  beforeAll(async () => {
    fake = await startFakeApi((request, response) => {
      if (respond !== undefined) return respond(request, response)
      response.writeHead(200, { 'content-type': 'application/json', ...HEADERS[request.url.split('?', 1)[0] ?? ''] })
      return response.end(JSON.stringify({ number: fake.seen.length }))
    })
    builder = await signUp(patchbay.origin)
  })
  afterAll(async () => {
    await fake.close()
  })
  beforeEach(() => {
    respond = undefined
  })

  const tool = (more: Record<string, unknown> = {}) => ({
    name: 'tool',
    method: 'GET',
    url: `${fake.origin}/{{path}}`,
    annotations: { readOnlyHint: true },
    cacheSeconds: 60,
    ...more,
  })
  const make = async (more: Record<string, unknown> = {}, server: Record<string, unknown> = { access: 'private' }) => {
    const made = await makeServer(builder, [tool(more)], { server })
    const caller = (token = builder.token) => connect(made.url, token)
    return { ...made, toolId: made.toolIds.tool ?? '', caller }
  }
  /** Counts the requests that reach the API during `work`. */
  const countRequests = async (work: () => Promise<unknown>): Promise<number> => {
    const before = fake.seen.length
    await work()
    return fake.seen.length - before
  }
  const historyOf = async (serverId: string) =>
    Execution.parse((await builder.expectOk('GET', `/servers/${serverId}/executions`)).body).items

  it('responds to the same request without asking the API, until the time to live is over', async () => {
    const { caller, serverId } = await make()
    const client = await caller()
    const first = await callText(client, 'tool', { path: 'a' })
    nowMs += 59 * SECOND_MS
    const requests = await countRequests(async () => {
      expect(await callText(client, 'tool', { path: 'a' })).toEqual(first)
    })
    expect(requests).toBe(0)
    nowMs += SECOND_MS + 1
    expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
    expect(await historyOf(serverId)).toMatchObject([
      { outcome: 'ok', status: 200, answerAgeMs: null },
      { outcome: 'ok', status: 200, answerAgeMs: 59_000, request: { method: 'GET' } },
      { outcome: 'ok', status: 200, answerAgeMs: null },
    ])
  })

  it('asks the API for every different request', async () => {
    const { caller } = await make({
      method: 'POST',
      headers: [{ name: 'Accept-Language', value: '{{language}}' }],
      body: '{"of": {{json:of}}}',
    })
    const client = await caller()
    const calls = [
      { path: 'a', language: 'en', of: 1 },
      { path: 'b', language: 'en', of: 1 },
      { path: 'a', language: 'de', of: 1 },
      { path: 'a', language: 'en', of: '1' },
    ]
    for (const args of calls) expect(await countRequests(() => callText(client, 'tool', args))).toBe(1)
    for (const args of calls) expect(await countRequests(() => callText(client, 'tool', args))).toBe(0)
  })

  it('asks the API each time for a tool without cacheSeconds', async () => {
    const { caller } = await make({ cacheSeconds: undefined })
    const client = await caller()
    expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
    expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
  })

  /** For how many of 60 seconds a response is reused, first for the same caller, then for everybody. */
  const TIMES: [path: string, own: number, shared: number][] = [
    ['silent', 60, 60],
    ['no-store', 0, 0],
    ['shouted', 0, 0],
    ['no-cache', 0, 0],
    ['pragma', 0, 0],
    ['private', 60, 0],
    ['public', 60, 60],
    ['five', 5, 5],
    ['hour', 60, 60],
    ['old', 5, 5],
    ['too-old', 0, 0],
    ['old-and-silent', 60, 60],
    ['shared-five', 60, 5],
    ['shared-never', 60, 0],
    ['expires', 5, 5],
    ['expired', 0, 0],
    ['stale-allowed', 0, 0],
    ['modified', 60, 60],
    ['vary-all', 0, 0],
    ['vary', 60, 60],
    ['twice', 0, 0],
    ['backwards', 0, 0],
    ['negative', 0, 0],
    ['word', 0, 0],
    ['bare', 0, 0],
    ['empty', 0, 0],
    ['huge', 60, 60],
    ['endless', 0, 0],
    ['quoted', 5, 5],
    ['spaced', 5, 5],
    ['garbage', 60, 60],
    ['long', 60, 60],
    ['cookie', 60, 0],
  ]
  describe.each([
    { name: 'its caller', shared: false },
    { name: 'everybody', shared: true },
  ])('for $name', ({ shared }) => {
    it.each(TIMES)('reuses the response of /%s for as long as the API allows', async (path, own, ofAll) => {
      const { caller } = await make({ cacheShared: shared })
      const client = await caller()
      const seconds = shared ? ofAll : own
      await callText(client, 'tool', { path })
      nowMs += Math.max(0, seconds - 1) * SECOND_MS
      expect(await countRequests(() => callText(client, 'tool', { path }))).toBe(seconds > 0 ? 0 : 1)
      nowMs += SECOND_MS + 1
      expect(await countRequests(() => callText(client, 'tool', { path }))).toBe(1)
    })
  })

  it.each(['no-cache', 'No-Store', 'max-age=0'])('asks the API for a request with Cache-Control: %s', async value => {
    const { caller } = await make({ headers: [{ name: 'cache-control', value }] })
    const client = await caller()
    expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
    expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
  })

  describe('between callers', () => {
    const friend = runUser(patchbay)
    const open = () => ({ access: 'private', allowedUsers: [friend.email] })

    it('gives nobody the result of another', async () => {
      const { caller } = await make({}, open())
      const mine = await callText(await caller(), 'tool', { path: 'a' })
      const theirs = await callText(await caller(friend.token), 'tool', { path: 'a' })
      expect(theirs).not.toEqual(mine)
      expect(await callText(await caller(), 'tool', { path: 'a' })).toEqual(mine)
      expect(await callText(await caller(friend.token), 'tool', { path: 'a' })).toEqual(theirs)
    })

    it('gives everybody the same result if the tool is shared', async () => {
      const { caller } = await make({ cacheShared: true }, open())
      const mine = await callText(await caller(), 'tool', { path: 'a' })
      expect(await callText(await caller(friend.token), 'tool', { path: 'a' })).toEqual(mine)
    })

    it('gives a user the same result under another token', async () => {
      const { caller } = await make()
      const mine = await callText(await caller(), 'tool', { path: 'a' })
      const { token } = await patchbay.services.accounts.createTokenFor(builder.email, { name: 'second' })
      expect(await callText(await caller(token), 'tool', { path: 'a' })).toEqual(mine)
    })

    it.each([
      ['header', { name: 'X-Api-Key', value: '{{key}}' }],
      ['cookie', { name: 'Cookie', value: 'key={{key}}' }],
    ])('shares no result of a request with a %s that the caller fills', async (_what, header) => {
      const headers = [header]
      const { caller } = await make({ cacheShared: true, headers }, open())
      const mine = await callText(await caller(), 'tool', { path: 'a', key: 'k' })
      expect(await callText(await caller(friend.token), 'tool', { path: 'a', key: 'k' })).not.toEqual(mine)
      expect(await callText(await caller(), 'tool', { path: 'a', key: 'other' })).not.toEqual(mine)
      expect(await callText(await caller(), 'tool', { path: 'a', key: 'k' })).toEqual(mine)
    })

    it('caches for anonymous callers of a public server only what is shared', async () => {
      const closed = await make({}, { access: 'public' })
      const stranger = await connect(closed.url)
      expect(await countRequests(() => callText(stranger, 'tool', { path: 'a' }))).toBe(1)
      expect(await countRequests(() => callText(stranger, 'tool', { path: 'a' }))).toBe(1)
      const shared = await make({ cacheShared: true }, { access: 'public' })
      const first = await connect(shared.url)
      const second = await connect(shared.url)
      expect(await callText(first, 'tool', { path: 'a' })).toEqual(await callText(second, 'tool', { path: 'a' }))
    })
  })

  it('reuses nothing of one server or tool for another', async () => {
    const [one, other] = [await make({ cacheShared: true }), await make({ cacheShared: true })]
    await callText(await one.caller(), 'tool', { path: 'a' })
    expect(await countRequests(async () => callText(await other.caller(), 'tool', { path: 'a' }))).toBe(1)
  })

  describe('after a change', () => {
    const expectEmptied = async (
      made: Awaited<ReturnType<typeof make>>,
      change: () => Promise<unknown>,
    ): Promise<void> => {
      const client = await made.caller()
      await callText(client, 'tool', { path: 'a' })
      expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(0)
      await change()
      expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
    }

    it('of the tool, asks the API again', async () => {
      const made = await make()
      await expectEmptied(made, () => builder.expectOk('PATCH', `/tools/${made.toolId}`, { description: 'other' }))
    })

    it('that is undone, asks the API again', async () => {
      const made = await make()
      await expectEmptied(made, async () => {
        await builder.expectOk('PATCH', `/tools/${made.toolId}`, { cacheSeconds: 61 })
        await builder.expectOk('PATCH', `/tools/${made.toolId}`, { cacheSeconds: 60 })
      })
    })

    it('of a global, asks the API again', async () => {
      const made = await make({ headers: [{ name: 'X-Key', value: '{{key?}}' }] })
      await builder.expectOk('PATCH', `/instances/${made.instanceIds.tool}`, {
        bindings: { key: { source: 'server' } },
      })
      await builder.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: 'one', secret: true })
      await expectEmptied(made, () =>
        builder.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: 'one', secret: true }),
      )
    })

    it('of a binding, asks the API again', async () => {
      const made = await make({ url: `${fake.origin}/{{path}}?more={{more?}}` })
      await expectEmptied(made, () =>
        builder.expectOk('PATCH', `/instances/${made.instanceIds.tool}`, {
          bindings: { more: { source: 'instance', value: 'x' } },
        }),
      )
    })

    it('of the server, asks the API again', async () => {
      const made = await make()
      await expectEmptied(made, () => builder.expectOk('PATCH', `/servers/${made.serverId}`, { name: 'Other' }))
    })

    it('during a request, does not cache its response', async () => {
      const made = await make()
      const asked = Promise.withResolvers<ServerResponse>()
      respond = (_, response) => asked.resolve(response)
      const client = await made.caller()
      const call = callText(client, 'tool', { path: 'a' })
      const response = await asked.promise
      await builder.expectOk('PATCH', `/servers/${made.serverId}`, { description: 'changed' })
      respond = undefined
      response.end('{"number":-1}')
      expect(await call).toEqual({ text: '{"number":-1}', isError: false })
      expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBe(1)
    })
  })

  it.each([
    ['an error', (response: ServerResponse) => response.writeHead(404).end('{}')],
    [
      'an error that may be cached',
      (r: ServerResponse) => r.writeHead(404, { 'cache-control': 'max-age=60' }).end('{}'),
    ],
    ['a partial response', (response: ServerResponse) => response.writeHead(206).end('{"number":1}')],
    ['an accepted request without a result', (response: ServerResponse) => response.writeHead(202).end('{"number":1}')],
    ['a broken connection', (response: ServerResponse) => response.socket?.resetAndDestroy()],
    ['a result that is too large', (response: ServerResponse) => response.end('x'.repeat(30_000))],
    ['a redirect', (r: ServerResponse) => r.writeHead(302, { location: '/elsewhere' }).end()],
  ])('does not cache %s', async (_, reply) => {
    const { caller } = await make()
    const client = await caller()
    respond = (request, response) =>
      request.url === '/elsewhere' ? response.writeHead(200).end('{"number":1}') : reply(response)
    for (const _time of ['first', 'second']) {
      expect(await countRequests(() => callText(client, 'tool', { path: 'a' }))).toBeGreaterThan(0)
    }
  })

  it('caches a result that does not match the output schema', async () => {
    const outputSchema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
    const { caller } = await make({ outputSchema })
    const client = await caller()
    respond = (_, response) => response.end('{"name":7,"id":"x"}')
    const requests = await countRequests(async () => {
      for (const structuredContent of [{ id: 'x' }, { id: 'x' }]) {
        const result = await client.callTool({ name: 'tool', arguments: { path: 'a' } })
        expect(result.structuredContent).toEqual(structuredContent)
      }
    })
    expect(requests).toBe(1)
  })

  describe('calls at the same time', () => {
    const hold = () => {
      const responses: ServerResponse[] = []
      respond = (_, response) => {
        responses.push(response)
      }
      return responses
    }
    const underWay = () => patchbay.services.responseCache.stats().waiting

    it('share one request', async () => {
      const { caller, serverId } = await make()
      const clients = await Promise.all([caller(), caller(), caller()])
      const responses = hold()
      const before = fake.seen.length
      const calls = clients.map(client => callText(client, 'tool', { path: 'a' }))
      await expect.poll(underWay).toBe(3)
      await expect.poll(() => responses.length).toBe(1)
      responses[0]?.end('{"number":7}')
      expect(await Promise.all(calls)).toEqual(Array(3).fill({ text: '{"number":7}', isError: false }))
      expect(fake.seen.length - before).toBe(1)
      expect((await historyOf(serverId)).map(({ answerAgeMs }) => answerAgeMs).sort()).toEqual([0, 0, null])
    })

    it('continue if the first is cancelled, and stop the request when the last is', async () => {
      const { caller } = await make()
      const [first, second] = await Promise.all([caller(), caller()])
      const responses = hold()
      const gone = new AbortController()
      const cancelled = first
        .callTool({ name: 'tool', arguments: { path: 'a' } }, { signal: gone.signal })
        .catch(() => 'cancelled')
      await expect.poll(() => responses.length).toBe(1)
      const continued = callText(second, 'tool', { path: 'a' })
      await expect.poll(underWay).toBe(2)
      gone.abort()
      expect(await cancelled).toBe('cancelled')
      await expect.poll(underWay).toBe(1)
      responses[0]?.end('{"number":8}')
      expect(await continued).toEqual({ text: '{"number":8}', isError: false })

      const last = new AbortController()
      const closed = Promise.withResolvers<void>()
      respond = (_, response) => {
        response.on('close', closed.resolve)
        last.abort()
      }
      await second.callTool({ name: 'tool', arguments: { path: 'b' } }, { signal: last.signal }).catch(() => undefined)
      await closed.promise
      expect(underWay()).toBe(0)
    })

    it('send a request each if the response may not be reused', async () => {
      const { caller } = await make()
      const clients = await Promise.all([caller(), caller()])
      const responses = hold()
      const calls = clients.map(client => callText(client, 'tool', { path: 'no-store' }))
      await expect.poll(underWay).toBe(2)
      await expect.poll(() => responses.length).toBe(1)
      respond = undefined
      responses[0]?.writeHead(200, HEADERS['/no-store']).end('{"number":0}')
      const texts = (await Promise.all(calls)).map(({ text }) => text)
      expect(new Set(texts).size).toBe(2)
    })
  })

  it('has a limit per server, and keeps the most recently used results', async () => {
    const { caller } = await make()
    const client = await caller()
    const paths = Array.from({ length: 60 }, (_, index) => `p${index}`)
    for (const path of paths) await callText(client, 'tool', { path })
    expect(await countRequests(() => callText(client, 'tool', { path: 'p59' }))).toBe(0)
    expect(await countRequests(() => callText(client, 'tool', { path: 'p20' }))).toBe(0)
    expect(await countRequests(() => callText(client, 'tool', { path: 'p5' }))).toBe(1)
  })

  it('is used by calls through the management API for the same user', async () => {
    const { caller, instanceIds } = await make()
    const client = await caller()
    await callText(client, 'tool', { path: 'a' })
    const call = () => builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: { path: 'a' } })
    expect(await countRequests(call)).toBe(0)
  })

  it('is used by calls through a group', async () => {
    const { caller } = await make({}, { access: 'private', presentation: 'grouped' })
    const client = await caller()
    const call = () => callText(client, 'call_dynamic_tool', { group: 'Toolkit', name: 'tool', args: { path: 'a' } })
    expect(await countRequests(call)).toBe(1)
    expect(await countRequests(call)).toBe(0)
  })

  it('is not used when a tool is tested', async () => {
    const { caller, serverId, toolId } = await make()
    await callText(await caller(), 'tool', { path: 'a' })
    const test = () => builder.expectOk('POST', `/tools/${toolId}/test`, { arguments: { path: 'a' }, serverId })
    expect(await countRequests(test)).toBe(1)
  })

  describe('cacheSeconds', () => {
    const refusal = async (definition: Record<string, unknown>) => {
      const toolkit = await builder.create('/toolkits', { title: 'Toolkit' })
      const { status, body } = await builder.send('POST', `/toolkits/${toolkit.id}/tools`, definition)
      return { status, body }
    }
    it.each([
      ['for a GET that is not marked read-only', { annotations: undefined }],
      ['for a tool that is marked as writing', { annotations: { readOnlyHint: false } }],
    ])('is refused %s', async (_, more) => {
      expect(await refusal(tool(more))).toMatchObject({
        status: 400,
        body: {
          errors: [{ path: 'cacheSeconds', message: expect.stringContaining('only applies to read-only tools') }],
        },
      })
    })

    it.each([0, -1, 1.5, 86_401, '60'])('is refused with the value %s', async cacheSeconds => {
      expect(await refusal(tool({ cacheSeconds }))).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'cacheSeconds' }] },
      })
    })

    it('keeps a tool from losing its read-only mark', async () => {
      const { toolId } = await make()
      const path = `/tools/${toolId}`
      expect((await builder.send('PATCH', path, { annotations: null })).status).toBe(400)
      expect((await builder.expectOk('GET', path)).body).toMatchObject({ cacheSeconds: 60, cacheShared: null })
      await builder.expectOk('PATCH', path, { annotations: null, cacheSeconds: null })
    })
  })
})

describe('the response caches of two replicas', () => {
  it('are both cleared when the tool is changed at one of them', async () => {
    const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
    if (postgres === undefined) throw new Error('there is no database to test on')
    const here = await startWorld({ kind: postgres })
    onTestFinished(here.close)
    const fake = await startFakeApi((_, response) => answerJson(response, { number: fake.seen.length }))
    onTestFinished(fake.close)
    const there = await here.another()
    onTestFinished(there.close)
    const builder = await signUp(here.origin)
    const cached = { annotations: { readOnlyHint: true }, cacheSeconds: 3_600, cacheShared: true }
    const made = await makeServer(builder, [{ name: 'tool', method: 'GET', url: `${fake.origin}/a`, ...cached }])
    const elsewhere = await connect(made.url.replace(here.origin, there.origin))
    const first = await callText(elsewhere, 'tool')
    expect(await callText(elsewhere, 'tool')).toEqual(first)
    await builder.expectOk('PATCH', `/tools/${made.toolIds.tool}`, { description: 'other' })
    await expect.poll(() => callText(elsewhere, 'tool')).not.toEqual(first)
  })
})
