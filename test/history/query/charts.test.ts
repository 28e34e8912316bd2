import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ExecutionRecord } from '../../../src/history/execution-record.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/lib/kernel/durations.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { refusalOf, runCallsWorld } from './calls-world.ts'

const Figures = z.looseObject({
  calls: z.int(),
  rejected: z.int(),
  failed: z.int(),
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  tokensSent: z.int(),
  tokensSaved: z.int(),
})
const Chart = z.object({
  from: z.coerce.date(),
  to: z.coerce.date(),
  barSeconds: z.int(),
  lookedUntil: z.string().nullable(),
  total: Figures,
  bars: z.array(Figures.extend({ startsAt: z.coerce.date() })),
  tools: z.array(Figures.extend({ tool: z.string() })).nullable(),
  callers: z.array(Figures.extend({ caller: z.string() })).nullable(),
})

describe.each(databaseKinds)('a chart of calls on $kind', kind => {
  const world = runCallsWorld(kind)
  /** The start of the hour two hours ago: its minutes are still stored. */
  const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
  const rangeOf = (from: number, to: number) => `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
  const hours = rangeOf(start, start + 2 * HOUR_MS)

  const record = async (serverId: string, changes: readonly Partial<ExecutionRecord>[]): Promise<void> => {
    const { recorder } = world.services
    for (const [index, change] of changes.entries()) {
      const execution = buildExecution(serverId, {
        instanceId: 'an instance',
        startedAt: new Date(start + index * MINUTE_MS),
        ...change,
        request: undefined,
      })
      recorder.record(execution)
      recorder.recordTokens({
        executionId: execution.id,
        before: 100,
        sent: 40,
        otherwise: 100,
        size: 100,
        isEstimated: false,
      })
    }
    await recorder.flush()
  }

  const chartOf = async (api: ApiClient, path: string) => Chart.parse((await api.expectOk('GET', path)).body)
  const ofServer = (serverId: string, query: string) =>
    chartOf(world.owner, `/servers/${serverId}/executions/charts?${query}`)

  const bad = { outcome: 'error' as const, result: 'rejected' as const, status: 404 }
  const broken = { outcome: 'error' as const, result: 'failed' as const, status: 503 }

  it('counts calls, errors and tokens in total, by time, by tool and by caller', async () => {
    const server = await world.server()
    const [ada, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
    await record(server, [
      { tool: 'add', userId: ada, durationMs: 10 },
      { tool: 'add', userId: bob, durationMs: 10, ...bad },
      { tool: 'get', userId: ada, durationMs: 1_000, ...broken },
      { tool: 'add', userId: ada, durationMs: 10, startedAt: new Date(start + HOUR_MS) },
    ])
    const chart = await ofServer(server, hours)
    expect(chart).toMatchObject({
      from: new Date(start),
      to: new Date(start + 2 * HOUR_MS),
      lookedUntil: null,
      total: { calls: 4, rejected: 1, failed: 1, tokensSent: 160, tokensSaved: 240 },
      tools: [
        { tool: 'add', calls: 3, rejected: 1, failed: 0 },
        { tool: 'get', calls: 1, failed: 1 },
      ],
      callers: [
        { caller: ada, calls: 3 },
        { caller: bob, calls: 1 },
      ],
    })
    expect(chart.barSeconds * chart.bars.length).toBe(2 * 60 * 60)
    expect(
      chart.bars.filter(({ calls }) => calls > 0).map(({ startsAt, calls }) => [startsAt.getTime() - start, calls]),
    ).toEqual([
      [0, 1],
      [MINUTE_MS, 1],
      [2 * MINUTE_MS, 1],
      [HOUR_MS, 1],
    ])
    expect(chart.total.p50Ms).toBeGreaterThan(7)
    expect(chart.total.p50Ms).toBeLessThan(15)
    expect(chart.total.p99Ms).toBeGreaterThan(700)
    expect(chart.total.p99Ms).toBeLessThan(1_500)
    expect(chart.bars.find(({ calls }) => calls === 0)).toMatchObject({ p50Ms: null, p99Ms: null })
    const inDays = await ofServer(server, rangeOf(start - 30 * 24 * HOUR_MS, start + 2 * HOUR_MS))
    expect(inDays).toMatchObject({ barSeconds: 86_400, total: { calls: 4, rejected: 1, failed: 1 } })
    const inHours = await ofServer(server, rangeOf(start - 24 * HOUR_MS, start + HOUR_MS))
    expect(inHours).toMatchObject({ barSeconds: 3_600, total: { calls: 3 }, tools: [{ calls: 2 }, { calls: 1 }] })
  })

  it('is the same from the sums as from the calls themselves', async () => {
    const server = await world.server()
    await record(
      server,
      Array.from({ length: 60 }, (_, index) => ({
        tool: `tool${index % 3}`,
        client: `client${index % 2}/1`,
        durationMs: index * 7,
        ...[{}, bad, broken][index % 5],
      })),
    )
    for (const filter of [
      'tool=tool1',
      'tool=tool1&tool=tool2',
      'client=client1',
      'result=failed&result=rejected',
      'status=4xx',
      'outcome=ok&status=200',
      'status=503&outcome=error',
    ]) {
      const fromSums = await ofServer(server, `${hours}&${filter}`)
      // Every call has this status or another, but with two kinds of filters the calls themselves are read.
      const fromCalls = await ofServer(server, `${hours}&${filter}&caller=anonymous`)
      expect(fromSums.total.calls, filter).toBeGreaterThan(0)
      expect(fromCalls.total, filter).toEqual(fromSums.total)
      expect(fromCalls.bars, filter).toEqual(fromSums.bars)
      expect(fromCalls).toMatchObject({ lookedUntil: null, callers: [] })
    }
    const [all, one] = [await ofServer(server, hours), await ofServer(server, `${hours}&tool=tool1`)]
    expect(one.tools).toEqual(all.tools?.filter(({ tool }) => tool === 'tool1'))
    expect(one.callers).toBeNull()
    const text = await ofServer(server, `${hours}&q=nowhere`)
    expect(text).toMatchObject({ total: { calls: 0 }, tools: [], callers: [] })
  })

  it('of an organization counts what a member may see, with their own calls on a private server', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const [allowed, viewer] = [
      await world.member(organizationId, 'viewer'),
      await world.member(organizationId, 'viewer'),
    ]
    const open = (await owner.create('/servers', { name: 'Open', access: 'organization', organizationId })).id
    const closed = (
      await owner.create('/servers', {
        name: 'Closed',
        access: 'private',
        allowedUsers: [allowed.userId],
        organizationId,
      })
    ).id
    await record(open, [{}, {}])
    await record(closed, [
      { userId: allowed.userId },
      { userId: owner.userId },
      { userId: owner.userId, tool: 'other' },
    ])
    const callsSeenBy = async (api: ApiClient, query = '') =>
      (await chartOf(api, `/organizations/${organizationId}/executions/charts?${hours}&${query}`)).total.calls
    expect(await callsSeenBy(owner)).toBe(5)
    expect(await callsSeenBy(allowed)).toBe(3)
    expect(await callsSeenBy(viewer)).toBe(2)
    expect(await callsSeenBy(owner, `server=${closed}`)).toBe(3)
    expect(await callsSeenBy(viewer, `server=${closed}`)).toBe(0)
    expect(await callsSeenBy(allowed, 'tool=get_weather')).toBe(3)
    expect(await callsSeenBy(allowed, `caller=${owner.userId}`)).toBe(0)
    const own = await chartOf(allowed, `/servers/${closed}/executions/charts?${hours}`)
    expect(own).toMatchObject({ total: { calls: 1 }, callers: [{ caller: allowed.userId, calls: 1 }] })
    const stranger = await world.person()
    expect((await stranger.send('GET', `/organizations/${organizationId}/executions/charts`)).status).toBe(404)
  })

  it('covers the last 24 hours unless a range is chosen, and refuses unknown filters', async () => {
    const server = await world.server()
    const chart = await ofServer(server, '')
    expect(chart.to.getTime() - chart.from.getTime()).toBeGreaterThanOrEqual(24 * HOUR_MS)
    expect(chart.total).toMatchObject({ calls: 0, p50Ms: null })
    for (const odd of [rangeOf(start, start - HOUR_MS), 'from=0001-01-01', 'from=9999-01-01&to=9999-02-01']) {
      expect((await ofServer(server, odd)).bars.length, odd).toBeLessThan(121)
    }
    expect(refusalOf(await world.owner.send('GET', `/servers/${server}/executions/charts?limit=5`))).toMatch(
      /^400 .*limit/,
    )
  })
})
