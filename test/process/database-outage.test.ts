import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { insertToken } from '../oauth/support/tokens.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { databaseKinds } from '../support/databases.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { during } from '../support/world.ts'
import { callTool } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

const OUTAGES = ['refuse', 'freeze'] as const
const UNKNOWN = `pbk_${'A'.repeat(43)}`
const METRICS_TOKEN = 'M'.repeat(43)
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

const PROBLEM = expect.stringContaining('database cannot be reached')
const readiness = async (origin: string, query = '') => {
  const response = await fetch(`${origin}/readyz${query}`)
  return { code: response.status, ...z.looseObject({ status: z.string() }).parse(await response.json()) }
}

/** Starts Patchbay behind a proxy for the tests of a block, in which only they let time pass. */
const startBehindProxy = async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const database = await postgres.create()
  const proxy = await startDatabaseProxy(database.url)
  const api = await startFakeApi(echo)
  const patchbay = await startTestApp({ databaseUrl: proxy.url, env: { PATCHBAY_METRICS_TOKEN: METRICS_TOKEN } })
  const builder = await signUp(patchbay.origin)
  const tools = [{ name: 'get_thing', method: 'GET', url: `${api.origin}/thing` }]
  const { url, serverId } = await makeServer(builder, tools, { server: { access: 'private' } })
  const other = await builder.expectOk('POST', '/tokens', { name: 'other', scopes: ['mcp'] })
  const { token } = z.object({ token: z.string() }).parse(other.body)
  const oauth = await insertToken(patchbay.services, { origin: patchbay.origin, userId: builder.userId, serverId })
  const call = async (given: string, address = url) => {
    const { status, headers, text } = await callTool(address, 'get_thing', {}, { authorization: `Bearer ${given}` })
    return { status, text, retryAfter: headers.get('retry-after') }
  }
  const statusesOf = (...given: readonly string[]) => Promise.all(given.map(async one => (await call(one)).status))
  const tokens = { personal: builder.token ?? '', unused: token, oauth: oauth.token }
  expect(await statusesOf(tokens.personal, tokens.oauth)).toEqual([200, 200])
  return {
    ...patchbay,
    proxy,
    operator: builder.email,
    userId: builder.userId,
    serverId,
    tokens,
    call,
    statusesOf,
    close: async () => {
      await proxy.restore()
      await patchbay.close()
      await proxy.close()
      await database.drop()
      await api.close()
      vi.useRealTimers()
    },
  }
}

const metricOf = async (origin: string): Promise<string | undefined> => {
  const response = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  return /^patchbay_problem\{problem="database_unreachable"\} (\d)$/m.exec(await response.text())?.[1]
}
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

const uncheckable = {
  status: 503,
  text: expect.stringContaining('The database cannot be reached, so the token could not be checked'),
  retryAfter: '1',
}
const MISSING = '/s/01990000-0000-7000-8000-000000000000'

describe.each(OUTAGES)('while PostgreSQL is unreachable (%s)', outage => {
  const patchbay = during(startBehindProxy)
  /** Another process on the same database, which has no server in memory. */
  const idle = during(() => startTestApp({ databaseUrl: patchbay.proxy.url }))
  let browser: Awaited<ReturnType<typeof signInToPages>>
  /** The first requests in the outage, made at once: none knows of it from another. */
  let first: Awaited<ReturnType<typeof makeFirst>>
  const makeFirst = async () => {
    const { call, statusesOf, tokens, origin } = patchbay
    const [statuses, page, missing] = await Promise.all([
      statusesOf(tokens.personal, tokens.oauth),
      browser.get('/operator'),
      call(tokens.personal, `${origin}${MISSING}`),
      readiness(idle.origin),
    ])
    return { statuses, page, missing }
  }
  beforeAll(async () => {
    browser = await signInToPages(patchbay.origin, patchbay.operator)
    expect((await browser.get('/operator')).status).toBe(200)
    expect(await readiness(patchbay.origin, '?strict')).toMatchObject({ code: 200, status: 'ok' })
    expect(await metricOf(patchbay.origin)).toBe('0')
    await patchbay.proxy[outage]()
    pass(6 * SECOND_MS)
    first = await makeFirst()
  })

  it('tokens that were checked are valid for 5 minutes, and the error for all others names the database', async () => {
    const { tokens, call, statusesOf } = patchbay
    expect(first.statuses).toEqual([200, 200])
    pass(4 * MINUTE_MS)
    expect(await statusesOf(tokens.personal, tokens.oauth)).toEqual([200, 200])
    for (const token of [tokens.unused, UNKNOWN]) expect(await call(token)).toEqual(uncheckable)
  })

  it('/readyz is degraded, and a 503 with ?strict or without a server in memory', async () => {
    const degraded = { code: 200, status: 'degraded', problems: [PROBLEM] }
    await vi.waitFor(async () => expect(await readiness(patchbay.origin)).toMatchObject(degraded))
    expect(await readiness(patchbay.origin, '?strict')).toMatchObject({ code: 503, status: 'degraded' })
    expect(await metricOf(patchbay.origin)).toBe('1')
    const unavailable = { code: 503, status: 'unavailable' }
    await vi.waitFor(async () => expect(await readiness(idle.origin)).toMatchObject(unavailable))
  })

  it('the operator’s page shows the problem and what to do', () => {
    expect(first.page.status).toBe(503)
    expect(textOf(first.page.html)).toMatch(/database cannot be reached\b.*DATABASE_URL.*patchbay doctor/)
  })

  it('a server that is not in memory fails with an error that names the database', async () => {
    const { tokens, call, origin } = patchbay
    const text = expect.stringContaining('PostgreSQL database cannot be reached')
    const unavailable = { status: 503, text, retryAfter: '1' }
    expect(first.missing).toMatchObject(unavailable)
    expect(await call(tokens.personal, `${origin}${MISSING}`)).toMatchObject(unavailable)
  })

  // This test must be last, because it ends the outage.
  it('tokens are not valid for longer, and everything works again once it is reachable', async () => {
    const { tokens, call, statusesOf, proxy, origin } = patchbay
    // Checked only in memory since the outage began, so the time is not extended.
    pass(MINUTE_MS)
    expect(await call(tokens.personal)).toEqual(uncheckable)
    expect(await call(tokens.oauth)).toEqual(uncheckable)

    await proxy.restore()
    await vi.waitFor(async () => expect((await call(tokens.personal)).status).toBe(200))
    expect(await statusesOf(tokens.oauth, tokens.unused, UNKNOWN)).toEqual([200, 200, 401])
    await vi.waitFor(async () => expect(await readiness(origin, '?strict')).toMatchObject({ code: 200, status: 'ok' }))
    expect(await metricOf(origin)).toBe('0')
    await vi.waitFor(async () => expect((await browser.get('/operator')).status).toBe(200))
  })
})

describe('when PostgreSQL becomes unreachable, a token', () => {
  const patchbay = during(startBehindProxy)
  let expiring: string
  beforeAll(async () => {
    const { services, origin, userId, serverId, proxy, statusesOf } = patchbay
    await services.db.oAuthArtifact.deleteMany({ where: { kind: 'AccessToken' } })
    await services.changes.commit(async (_tx, announce) => announce({ type: 'access_changed', userId }))
    expiring = (await insertToken(services, { origin, userId, serverId, endsIn: MINUTE_MS })).token
    expect(await statusesOf(expiring)).toEqual([200])
    await proxy.refuse()
  })

  it('that was revoked before stays invalid', async () => {
    pass(6 * SECOND_MS)
    expect(await patchbay.call(patchbay.tokens.oauth)).toEqual(uncheckable)
    expect(await patchbay.statusesOf(expiring)).toEqual([200])
  })

  it('that expires meanwhile is invalid', async () => {
    pass(MINUTE_MS)
    expect(await patchbay.statusesOf(expiring)).toEqual([401])
  })
})
