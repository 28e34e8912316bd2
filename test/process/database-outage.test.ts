import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { insertToken } from '../oauth/support/tokens.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { databaseKinds, type TestDatabase } from '../support/databases.ts'
import { echo, type FakeApi, startFakeApi } from '../support/fake-api.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { callTool } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

const OUTAGES = ['refuse', 'freeze'] as const
const UNKNOWN = `pbk_${'A'.repeat(43)}`
const METRICS_TOKEN = 'M'.repeat(43)
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

let database: TestDatabase
let proxy: DatabaseProxy
let api: FakeApi
let patchbay: TestApp
let url: string
const PROBLEM = expect.stringContaining('database cannot be reached')
const readiness = async (origin: string, query = '') => {
  const response = await fetch(`${origin}/readyz${query}`)
  return { code: response.status, ...z.looseObject({ status: z.string() }).parse(await response.json()) }
}
const metric = async (): Promise<string | undefined> => {
  const response = await fetch(`${patchbay.origin}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  return /^patchbay_problem\{problem="database_unreachable"\} (\d)$/m.exec(await response.text())?.[1]
}

let operator: string
let tokens: { personal: string; unused: string; oauth: string }

const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms)
const call = async (token: string, address = url) => {
  const { status, headers, text } = await callTool(address, 'get_thing', {}, { authorization: `Bearer ${token}` })
  return { status, text, retryAfter: headers.get('retry-after') }
}
const statusesOf = (...given: readonly string[]) => Promise.all(given.map(async token => (await call(token)).status))

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  database = await postgres.create()
  proxy = await startDatabaseProxy(database.url)
  api = await startFakeApi(echo)
  patchbay = await startTestApp({ databaseUrl: proxy.url, env: { PATCHBAY_METRICS_TOKEN: METRICS_TOKEN } })
  const builder = await signUp(patchbay.origin)
  operator = builder.email
  const tools = [{ name: 'get_thing', method: 'GET', url: `${api.origin}/thing` }]
  const made = await makeServer(builder, tools, { server: { access: 'private' } })
  url = made.url
  const other = await builder.expectOk('POST', '/tokens', { name: 'other', scopes: ['mcp'] })
  const { token } = z.object({ token: z.string() }).parse(other.body)
  const wish = { origin: patchbay.origin, userId: builder.userId, serverId: made.serverId }
  const oauth = await insertToken(patchbay.services, wish)
  tokens = { personal: builder.token ?? '', unused: token, oauth: oauth.token }
  expect(await statusesOf(tokens.personal, tokens.oauth)).toEqual([200, 200])
})
afterEach(async () => {
  await proxy.restore()
  await patchbay.close()
  await proxy.close()
  await database.drop()
  await api.close()
  vi.useRealTimers()
})

const uncheckable = {
  status: 503,
  text: expect.stringContaining('The database cannot be reached, so the token could not be checked'),
  retryAfter: '1',
}

describe.each(OUTAGES)('while PostgreSQL is unreachable (%s)', outage => {
  it('tokens that were checked are valid for 5 minutes, and the error for all others names the database', async () => {
    await proxy[outage]()
    pass(6 * SECOND_MS)
    expect(await statusesOf(tokens.personal, tokens.oauth)).toEqual([200, 200])
    pass(4 * MINUTE_MS)
    expect(await statusesOf(tokens.personal, tokens.oauth)).toEqual([200, 200])
    for (const token of [tokens.unused, UNKNOWN]) expect(await call(token)).toEqual(uncheckable)
    // Checked only in memory since the outage began, so the time is not extended.
    pass(MINUTE_MS)
    expect(await call(tokens.personal)).toEqual(uncheckable)
    expect(await call(tokens.oauth)).toEqual(uncheckable)

    await proxy.restore()
    await vi.waitFor(async () => expect((await call(tokens.personal)).status).toBe(200), { timeout: 20_000 })
    expect(await statusesOf(tokens.oauth, tokens.unused, UNKNOWN)).toEqual([200, 200, 401])
  })

  it('/readyz is degraded, and a 503 with ?strict or without a server in memory', async () => {
    const idle = await startTestApp({ databaseUrl: proxy.url })
    onTestFinished(idle.close)
    expect(await readiness(patchbay.origin, '?strict')).toMatchObject({ code: 200, status: 'ok' })
    expect(await metric()).toBe('0')
    await proxy[outage]()
    await vi.waitFor(
      async () =>
        expect(await readiness(patchbay.origin)).toMatchObject({ code: 200, status: 'degraded', problems: [PROBLEM] }),
      { timeout: 10_000 },
    )
    expect(await readiness(patchbay.origin, '?strict')).toMatchObject({ code: 503, status: 'degraded' })
    expect(await metric()).toBe('1')
    await vi.waitFor(
      async () => expect(await readiness(idle.origin)).toMatchObject({ code: 503, status: 'unavailable' }),
      { timeout: 10_000 },
    )
    await proxy.restore()
    await vi.waitFor(
      async () => expect(await readiness(patchbay.origin, '?strict')).toMatchObject({ code: 200, status: 'ok' }),
      { timeout: 20_000 },
    )
    expect(await metric()).toBe('0')
  })

  it('the operator’s page shows the problem and what to do', async () => {
    const browser = await signInToPages(patchbay.origin, operator)
    expect((await browser.get('/operator')).status).toBe(200)
    await proxy[outage]()
    const page = await browser.get('/operator')
    expect(page.status).toBe(503)
    expect(textOf(page.html)).toMatch(/database cannot be reached\b.*DATABASE_URL.*patchbay doctor/)
    await proxy.restore()
    await vi.waitFor(async () => expect((await browser.get('/operator')).status).toBe(200), { timeout: 20_000 })
  })

  it('a server that is not in memory fails with an error that names the database', async () => {
    await proxy[outage]()
    const missing = `${patchbay.origin}/s/01990000-0000-7000-8000-000000000000`
    const unavailable = { status: 503, text: expect.stringContaining('PostgreSQL database cannot be reached') }
    expect(await call(tokens.personal, missing)).toMatchObject({ ...unavailable, retryAfter: '1' })
    expect(await call(tokens.personal, missing)).toMatchObject({ ...unavailable, retryAfter: '1' })
  })
})

it('a token that was revoked before the outage stays invalid', async () => {
  const { services } = patchbay
  const { userId } = await services.db.oAuthArtifact.findFirstOrThrow({ where: { kind: 'AccessToken' } })
  await services.db.oAuthArtifact.deleteMany({ where: { kind: 'AccessToken' } })
  await services.changes.commit(async (_tx, announce) => announce({ type: 'access_changed', userId: userId ?? '' }))
  await proxy.refuse()
  pass(6 * SECOND_MS)
  expect(await call(tokens.oauth)).toEqual(uncheckable)
})

it('a token that expires during the outage is invalid', async () => {
  const { services } = patchbay
  const { userId, serverId } = await services.db.oAuthArtifact.findFirstOrThrow({ where: { kind: 'AccessToken' } })
  const wish = { origin: patchbay.origin, userId: userId ?? '', serverId: serverId ?? '', endsIn: MINUTE_MS }
  const { token } = await insertToken(services, wish)
  expect(await statusesOf(token)).toEqual([200])
  await proxy.refuse()
  pass(MINUTE_MS)
  expect(await statusesOf(token)).toEqual([401])
})
