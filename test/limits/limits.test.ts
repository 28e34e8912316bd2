import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTestApp } from '../support/app.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { callTool, DAILY_CALLS, limitsOf, makeLimitedServer, postCall, usesOf } from './limits-world.ts'

const NOON = Date.UTC(2026, 10, 28, 12)
const MINUTE_MS = 60_000

describe.each(databasesOfRun)('a limit on $kind', kind => {
  let now = NOON
  const world = runPatchbay({ kind, services: { limitClock: () => now } })
  const api = runFakeApi()

  it('of calls per day refuses further calls with what is reached and when to retry, and again allows them the next day', async () => {
    now = NOON
    const owner = await world.person()
    const { url, serverId } = await makeLimitedServer(owner, api.origin)
    const limit = await owner.create(limitsOf(owner), DAILY_CALLS)
    const before = api.seen.length
    expect([await callTool(url, owner.token), await callTool(url, owner.token)]).toEqual([undefined, undefined])
    const refused = 'Limit reached: 2 calls per day for this organization. Try again in 12 hours.'
    expect(await callTool(url, owner.token)).toBe(refused)
    expect(api.seen).toHaveLength(before + 2)
    expect(await usesOf(owner, `${limitsOf(owner)}/${limit.id}`)).toEqual({ all: 2 })
    const history = await owner.expectOk('GET', `/servers/${serverId}/executions`)
    expect(history.body).toMatchObject({
      items: [{ result: 'blocked', error: refused, requestId: expect.any(String) }, {}, {}],
    })
    now = NOON + 12 * 60 * MINUTE_MS
    expect(await callTool(url, owner.token)).toBeUndefined()
  })

  it('of calls per minute holds exactly in one process, and ends with the minute', async () => {
    now = NOON + 20_000
    const owner = await world.person()
    const { url } = await makeLimitedServer(owner, api.origin)
    await owner.create(limitsOf(owner), { ...DAILY_CALLS, period: 'minute', amount: 12 })
    const results = await Promise.all(Array.from({ length: 20 }, () => callTool(url, owner.token)))
    expect(results.filter(error => error === undefined)).toHaveLength(12)
    expect(results.find(error => error !== undefined)).toBe(
      'Limit reached: 12 calls per minute for this organization. Try again in 40 seconds.',
    )
    now = NOON + MINUTE_MS
    expect(await callTool(url, owner.token)).toBeUndefined()
  })

  it('for each user, token, server or tool counts each of them alone', async () => {
    now = NOON
    const owner = await world.person()
    const other = await world.member(owner.organizationId, 'viewer')
    const one = await makeLimitedServer(owner, api.origin, [{ name: 'tool' }, { name: 'other' }])
    const two = await makeLimitedServer(owner, api.origin)
    const once = { unit: 'calls', period: 'day', amount: 1 }
    const reached = (scope: string) => `Limit reached: 1 call per day for this ${scope}. Try again in 12 hours.`
    const inTurn = async (...calls: (() => Promise<string | undefined>)[]) => {
      const errors: (string | undefined)[] = []
      for (const call of calls) errors.push(await call())
      return errors
    }
    const calls = {
      owner: () => callTool(one.url, owner.token),
      other: () => callTool(one.url, other.token),
      otherTool: () => callTool(one.url, owner.token, 'other'),
      otherServer: () => callTool(two.url, owner.token),
    }
    const limited = async (scope: string, ...order: (keyof typeof calls)[]) => {
      const limit = await owner.create(limitsOf(owner), { ...once, scope })
      const errors = await inTurn(...order.map(name => calls[name]))
      await owner.expectOk('DELETE', `${limitsOf(owner)}/${limit.id}`)
      return errors
    }
    expect(await limited('user', 'owner', 'owner', 'other')).toEqual([undefined, reached('user'), undefined])
    expect(await limited('token', 'owner', 'owner', 'other')).toEqual([undefined, reached('token'), undefined])
    expect(await limited('server', 'owner', 'other', 'otherServer')).toEqual([undefined, reached('server'), undefined])
    expect(await limited('tool', 'owner', 'other', 'otherTool')).toEqual([undefined, reached('tool'), undefined])
    expect(await limited('organization', 'owner', 'otherServer')).toEqual([undefined, reached('organization')])
  })

  it('of model tokens counts the tokens of results, and says that they are estimates', async () => {
    now = NOON
    const owner = await world.person()
    const { url } = await makeLimitedServer(owner, api.origin)
    const limit = await owner.create(limitsOf(owner), { ...DAILY_CALLS, unit: 'tokens', amount: 10 })
    expect(limit).toMatchObject({ isEstimated: true, uses: [] })
    expect(await callTool(url, owner.token)).toBeUndefined()
    const path = `${limitsOf(owner)}/${limit.id}`
    await vi.waitFor(async () => expect((await usesOf(owner, path)).all).toBeGreaterThan(10))
    expect(await callTool(url, owner.token)).toBe(
      'Limit reached: 10 model tokens per day (estimated) for this organization. Try again in 12 hours.',
    )
  })

  it('of money sums the prices of calls, and leaves calls without a price alone', async () => {
    now = NOON
    const owner = await world.person()
    const tools = [{ name: 'tool', callPrice: 0.1 }, { name: 'free' }]
    const { url } = await makeLimitedServer(owner, api.origin, tools)
    const limit = await owner.create(limitsOf(owner), { ...DAILY_CALLS, unit: 'money', period: 'month', amount: 0.3 })
    const errors: (string | undefined)[] = []
    for (let call = 0; call < 4; call++) errors.push(await callTool(url, owner.token))
    expect(errors).toEqual([
      undefined,
      undefined,
      undefined,
      'Limit reached: a total price of 0.3 per month for this organization. Try again in 3 days.',
    ])
    expect(await callTool(url, owner.token, 'free')).toBeUndefined()
    expect(await usesOf(owner, `${limitsOf(owner)}/${limit.id}`)).toEqual({ all: 0.3 })
  })

  it('for one user applies to nobody else, and anonymous calls have no user', async () => {
    now = NOON
    const owner = await world.person()
    const other = await world.member(owner.organizationId, 'viewer')
    const { url } = await makeLimitedServer(owner, api.origin, [{ name: 'tool' }], 'public')
    const limit = { ...DAILY_CALLS, scope: 'user', targetId: other.userId, amount: 1 }
    const made = await owner.create(limitsOf(owner), limit)
    expect(made).toMatchObject({ target: { id: other.userId, name: other.email } })
    for (const token of [owner.token, owner.token, undefined, undefined, other.token]) {
      expect(await callTool(url, token)).toBeUndefined()
    }
    expect(await callTool(url, other.token)).toContain('for this user')
  })

  it('holds across a restart and at another replica', async () => {
    now = NOON
    const owner = await world.person()
    const { url, serverId } = await makeLimitedServer(owner, api.origin)
    await owner.create(limitsOf(owner), DAILY_CALLS)
    expect([await callTool(url, owner.token), await callTool(url, owner.token)]).toEqual([undefined, undefined])
    await owner.expectOk('GET', limitsOf(owner))
    const second = await startTestApp({
      databaseUrl: world.databaseUrl,
      env: { PATCHBAY_BASE_URL: world.baseUrl },
      services: { limitClock: () => now },
    })
    onTestFinished(second.close)
    expect(await callTool(`${second.origin}/s/${serverId}`, owner.token)).toContain('Limit reached')
  })

  it('can be raised while calls run, and removed', async () => {
    now = NOON
    const owner = await world.person()
    const { url } = await makeLimitedServer(owner, api.origin)
    const limit = await owner.create(limitsOf(owner), { ...DAILY_CALLS, amount: 1 })
    const path = `${limitsOf(owner)}/${limit.id}`
    expect([await callTool(url, owner.token), await callTool(url, owner.token)]).toEqual([
      undefined,
      expect.stringContaining('1 call per day'),
    ])
    await owner.expectOk('PATCH', path, { amount: 2 })
    expect([await callTool(url, owner.token), await callTool(url, owner.token)]).toEqual([
      undefined,
      expect.stringContaining('2 calls per day'),
    ])
    await owner.expectOk('DELETE', path)
    expect(await callTool(url, owner.token)).toBeUndefined()
    expect((await owner.send('GET', path)).status).toBe(404)
    expect(await world.auditOf(owner.organizationId)).toEqual(
      expect.arrayContaining(['limit.created', 'limit.changed', 'limit.removed']),
    )
  })

  it.each([
    ['amount', { amount: 0 }],
    ['amount', { amount: 1.5 }],
    ['amount', { amount: 2_000_000_000 }],
    ['period', { unit: 'tokens', period: 'minute' }],
    ['targetId', { targetId: randomUUID() }],
    ['targetId', { scope: 'server', targetId: randomUUID() }],
    ['unit', { unit: 'bytes' }],
  ])('is refused with a wrong %s (%j)', async (path, fields) => {
    const owner = await world.person()
    const refused = await owner.send('POST', limitsOf(owner), { ...DAILY_CALLS, ...fields })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  it('is not made twice, nor for the target of another organization', async () => {
    const [owner, stranger] = [await world.person(), await world.person()]
    await owner.create(limitsOf(owner), DAILY_CALLS)
    expect((await owner.send('POST', limitsOf(owner), { ...DAILY_CALLS, amount: 9 })).status).toBe(409)
    const { serverId, toolIds } = await makeLimitedServer(stranger, api.origin)
    for (const target of [
      { scope: 'server', targetId: serverId },
      { scope: 'tool', targetId: toolIds.tool },
      { scope: 'user', targetId: stranger.userId },
    ]) {
      expect((await owner.send('POST', limitsOf(owner), { ...DAILY_CALLS, ...target })).status).toBe(400)
    }
  })

  it('of one tool leaves the others to anonymous callers, however often one of them calls it', async () => {
    now = NOON + 20_000
    const owner = await world.person()
    const { url, serverId, toolIds } = await makeLimitedServer(
      owner,
      api.origin,
      [{ name: 'tool' }, { name: 'other' }],
      'public',
    )
    const { tool: targetId } = toolIds
    await owner.create(limitsOf(owner), { ...DAILY_CALLS, scope: 'tool', targetId, period: 'minute', amount: 1 })
    for (let batch = 0; batch < 7; batch++) {
      await Promise.all(Array.from({ length: 10 }, () => postCall(url, undefined, 'tool')))
    }
    expect(await callTool(url, undefined, 'tool')).toContain('Limit reached')
    expect(await callTool(url, undefined, 'other')).toBeUndefined()
    const { body } = await owner.expectOk('GET', `/servers/${serverId}/executions?result=blocked&limit=1`)
    expect(body).toMatchObject({ items: [{ requestId: expect.any(String) }] })
  })

  it('refuses the requests of a caller who keeps calling over it with 429 until the next minute, and nobody else', async () => {
    now = NOON + 20_000
    const owner = await world.person()
    const other = await world.member(owner.organizationId, 'viewer')
    const { url } = await makeLimitedServer(owner, api.origin)
    await owner.create(limitsOf(owner), { ...DAILY_CALLS, period: 'minute', amount: 30 })
    const statuses = new Set<number>()
    for (let batch = 0; batch < 10; batch++) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => postCall(url, owner.token, 'tool')))
      for (const { status } of responses) statuses.add(status)
    }
    expect([...statuses]).toEqual([200, 429])
    const refused = await postCall(url, owner.token, 'tool')
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '40',
      'ratelimit-policy': '"calls";q=30;w=60',
      ratelimit: '"calls";r=0;t=40',
    })
    expect(await refused.json()).toMatchObject({
      error: { message: 'Too many calls over a limit: 30 calls per minute' },
    })
    expect(await callTool(url, other.token)).toContain('Limit reached')
    now = NOON + MINUTE_MS
    expect(await callTool(url, owner.token)).toBeUndefined()
  })
})
