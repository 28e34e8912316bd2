import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { bypassesCache, freshMsOf } from '../../../src/results/cache/freshness.ts'
import type { RenderedRequest } from '../../../src/templates/template.ts'
import { callText, connect } from '../../servers/mcp.ts'
import { type ApiClient, makeServer, signUp } from '../../support/api-client.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

describe('an API that never changes', () => {
  let people: ApiClient[]
  let nowMs = 1
  const patchbay = runPatchbay({
    services: { responseCache: { now: () => nowMs, limits: { maxServerBytes: 5_000 } } },
  })
  // Some responses are errors, some must not be cached, and each depends on the whole request.
  const fake = runFakeApi(({ method, url, headers, body }, response) => {
    const { searchParams } = new URL(url, fake.origin)
    const cacheControl = searchParams.get('says') ?? ''
    if (cacheControl !== '') response.setHeader('cache-control', cacheControl)
    const isFailure = searchParams.get('id') === '3'
    answerJson(response, { method, url, language: headers['accept-language'], body }, isFailure ? 500 : 200)
  })
  beforeAll(async () => {
    people = [await signUp(patchbay.origin), await signUp(patchbay.origin)]
  })

  it('gives the same results with and without the cache, whoever calls what, when, and how many at once', async () => {
    const [builder, friend] = people
    if (builder === undefined || friend === undefined) throw new Error('there are no people')
    const tool = (name: string, more: object) => ({
      name,
      method: 'POST',
      url: `${fake.origin}/things?id={{integer:id}}&says={{says?}}`,
      headers: [{ name: 'Accept-Language', value: '{{language?}}' }],
      body: '{"note": "{{note?}}"}',
      ...more,
    })
    const marked = { annotations: { readOnlyHint: true }, cacheSeconds: 60 }
    const { url } = await makeServer(
      builder,
      [tool('never', {}), tool('own', marked), tool('shared', { ...marked, cacheShared: true })],
      { server: { access: 'public' } },
    )
    const clients = await Promise.all([undefined, builder.token, friend.token].map(token => connect(url, token)))
    const ask = (who: number, name: string, args: Record<string, unknown>) => {
      const client = clients[who]
      if (client === undefined) throw new Error('there is no such client')
      return callText(client, name, args)
    }
    const call = fc.record({
      who: fc.nat(2),
      kind: fc.constantFrom('own', 'shared'),
      pauseMs: fc.constantFrom(0, 0, 0, 30_000, 60_000),
      args: fc.constantFrom(
        { id: 1 },
        { id: 1, note: 'a' },
        { id: 1, language: 'de' },
        { id: 1, says: 'max-age=30' },
        { id: 1, says: 'private' },
        { id: 1, says: 'no-store' },
        { id: 3 },
      ),
    })
    const before = fake.seen.length
    let calls = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 12 }), async rounds => {
        for (const round of rounds) {
          nowMs += Math.max(...round.map(({ pauseMs }) => pauseMs))
          const results = round.map(({ who, kind, args }) => ask(who, kind, args))
          const plain = await Promise.all(round.map(({ who, args }) => ask(who, 'never', args)))
          expect(await Promise.all(results)).toEqual(plain)
          calls += 2 * round.length
        }
      }),
      { numRuns: 25 },
    )
    // Some of the results came from the cache.
    expect(fake.seen.length - before).toBeLessThan(calls)
  })
})

const REQUEST: RenderedRequest = { method: 'GET', url: 'https://api.example/things', headers: [], body: undefined }
const DIRECTIVE = fc.constantFrom(
  'no-store',
  'No-Cache',
  'private',
  'private="a, no-store"',
  'public',
  'immutable',
  'must-revalidate',
  'max-age=10',
  'max-age="10"',
  'MAX-AGE=90',
  'max-age=-1',
  'max-age=0',
  's-maxage=5',
  's-maxage=0',
  'stale-while-revalidate=9000',
  'stale-if-error=9000',
  '__proto__=9',
  ',,=,',
)
const HEADERS = fc.record(
  {
    'cache-control': fc.oneof(
      fc.array(DIRECTIVE, { maxLength: 5 }).map(all => all.join(', ')),
      fc.array(DIRECTIVE, { maxLength: 5 }),
      fc.string(),
      fc.string({ unit: 'binary' }),
    ),
    expires: fc.oneof(fc.string(), fc.constantFrom('0', '-1', 'Sun, 22 Nov 2026 10:00:05 GMT')),
    date: fc.oneof(fc.string(), fc.constant('Sun, 22 Nov 2026 10:00:00 GMT')),
    age: fc.oneof(fc.string(), fc.constantFrom('-100', '1e9', '9'.repeat(400), '3', '3, 4')),
    vary: fc.oneof(fc.string(), fc.constantFrom('*', 'accept', 'accept,*')),
    pragma: fc.oneof(fc.string(), fc.constant('No-Cache')),
    'set-cookie': fc.array(fc.string()),
    'last-modified': fc.string(),
  },
  { requiredKeys: [] },
)

describe('the caching headers of an API', () => {
  const responseWith = (headers: Record<string, string | string[]>, status = 200) => ({
    status,
    statusText: '',
    headers,
    body: Buffer.from('{}'),
    url: REQUEST.url,
  })
  const said = (header: string | string[] | undefined): string => [header ?? ''].flat().join(',').toLowerCase()

  it('never extend what the tool allows, always can forbid caching, and never cause an error', () => {
    fc.assert(
      fc.property(HEADERS, fc.integer({ min: 1, max: 86_400 }), fc.boolean(), (headers, cacheSeconds, isShared) => {
        const freshMs = freshMsOf(REQUEST, responseWith(headers), { cacheSeconds, isShared })
        expect(freshMs).toBeGreaterThanOrEqual(0)
        expect(freshMs).toBeLessThanOrEqual(cacheSeconds * 1_000)
        const control = said(headers['cache-control'])
        const names = control.split(',').map(part => part.split('=', 1)[0]?.trim())
        if (names.includes('no-store') || names.includes('no-cache')) expect(freshMs).toBe(0)
        if (names.includes('max-age') && !isShared && /max-age=(0|-1)/.test(control.replaceAll('s-maxage', ''))) {
          expect(freshMs).toBe(0)
        }
        if (isShared && names.includes('private')) expect(freshMs).toBe(0)
        if (said(headers.vary).split(',').includes('*')) expect(freshMs).toBe(0)
      }),
      { numRuns: runsOf(2_000) },
    )
  })

  it('count only for complete responses to the request itself', () => {
    const rules = { cacheSeconds: 60, isShared: false }
    const fresh = { 'cache-control': 'max-age=60' }
    for (let status = 100; status < 600; status++) {
      const isReused = freshMsOf(REQUEST, responseWith(fresh, status), rules) > 0
      expect([status, isReused]).toEqual([status, [200, 203, 204].includes(status)])
    }
    const elsewhere = { ...responseWith(fresh), url: 'https://api.example/others' }
    expect(freshMsOf(REQUEST, elsewhere, rules)).toBe(0)
  })

  it('are overruled by a request that asks for a fresh response, in upper or lower case', () => {
    const withHeader = (name: string, value: string) => bypassesCache({ ...REQUEST, headers: [[name, value]] })
    expect(withHeader('CACHE-Control', ' max-age=5 , No-Store')).toBe(true)
    expect(withHeader('Pragma', 'No-Cache')).toBe(true)
    expect(withHeader('cache-control', 'max-age=05, only-if-cached')).toBe(false)
    expect(withHeader('x-cache-control', 'no-store')).toBe(false)
  })
})
