import { describe, expect, it } from 'vitest'
import { createCallFigureStore } from '../../src/history/call-figures.store.ts'
import { CALL_RESULTS, type CallResult } from '../../src/history/call-result.ts'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'
import { listServerUsage } from '../../src/history/usage.store.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer, type HistoryWorld } from './history-world.ts'

const NOW = new Date('2026-11-22T12:30:00.000Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds)

const store = async ({ recorder }: HistoryWorld, records: readonly ExecutionRecord[]): Promise<void> => {
  for (const record of records) recorder.record(record)
  await recorder.flush()
}

const allOf = (serverId: string) => ({ serverId, callerId: undefined })

describe.each(databaseKinds)('the figures of calls on $kind', kind => {
  it('count the last 24 hours by hour, without earlier calls or calls of other servers', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const other = await createServer(world.db)
    const quiet = await createServer(world.db)
    await store(world, [
      buildExecution(serverId, { startedAt: ago(24 * HOUR_MS) }),
      buildExecution(serverId, { startedAt: new Date('2026-11-21T13:00:00.000Z') }),
      buildExecution(serverId, { startedAt: ago(40 * MINUTE_MS), outcome: 'error' }),
      buildExecution(serverId, { startedAt: ago(10 * MINUTE_MS) }),
      buildExecution(serverId, { startedAt: ago(5 * MINUTE_MS), tool: 'other_tool', outcome: 'error' }),
      buildExecution(other, { startedAt: ago(5 * MINUTE_MS) }),
    ])
    const figures = createCallFigureStore(world.db)
    const counts = await figures.countOfServers([serverId, quiet].map(allOf), NOW)
    expect([...counts.keys()]).toEqual([serverId, quiet])
    const mine = counts.get(serverId)
    expect(mine).toMatchObject({ calls: 4, failed: 2, isCut: false, calledTools: 2, failingTools: 1 })
    expect(mine?.since).toEqual(new Date('2026-11-21T13:00:00.000Z'))
    expect(mine?.hours).toHaveLength(24)
    expect(mine?.hours.at(0)).toEqual({ startsAt: mine?.since, calls: 1, rejected: 0, failed: 0 })
    expect(mine?.hours.at(-2)).toMatchObject({ calls: 1, rejected: 0, failed: 1 })
    expect(mine?.hours.at(-1)).toEqual({
      startsAt: new Date('2026-11-22T12:00:00.000Z'),
      calls: 2,
      rejected: 0,
      failed: 1,
    })
    expect(counts.get(quiet)).toMatchObject({ calls: 0, failed: 0, calledTools: 0, failingTools: 0 })
  })

  it('include percentiles of durations', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const durations = Array.from({ length: 100 }, (_, index) => index + 0.5)
    await store(world, [
      ...durations.map(durationMs => buildExecution(serverId, { startedAt: ago(MINUTE_MS), durationMs })),
      buildExecution(serverId, { startedAt: ago(2 * HOUR_MS), durationMs: 7.25 }),
    ])
    const figures = await createCallFigureStore(world.db).ofServer(allOf(serverId), NOW)
    expect(figures.hours.at(-1)).toMatchObject({ calls: 100, p50Ms: 49.5, p95Ms: 94.5, p99Ms: 98.5 })
    expect(figures.hours.at(-3)).toMatchObject({ calls: 1, p50Ms: 7.25, p99Ms: 7.25 })
    expect(figures.hours.at(-2)).toEqual({
      startsAt: new Date('2026-11-22T11:00:00.000Z'),
      calls: 0,
      rejected: 0,
      failed: 0,
    })
    expect(figures).toMatchObject({ calls: 101, failed: 0, p50Ms: 49.5, p99Ms: 98.5 })
  })

  it('include each tool with its last call and whether that failed', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const at = (minutes: number, changes: Partial<ExecutionRecord>) =>
      buildExecution(serverId, { startedAt: ago(minutes * MINUTE_MS), ...changes })
    await store(world, [
      at(9, { tool: 'b', outcome: 'error' }),
      at(8, { tool: 'b' }),
      at(7, { tool: 'a', durationMs: 10 }),
      at(6, { tool: 'a', durationMs: 20, outcome: 'error' }),
      at(5, { tool: '<b>“naïve”</b>', outcome: 'error' }),
    ])
    const tools = await createCallFigureStore(world.db).ofTools(allOf(serverId), NOW)
    expect(tools.map(({ tool, calls, failed, isFailing }) => [tool, calls, failed, isFailing])).toEqual([
      ['a', 2, 1, true],
      ['b', 2, 1, false],
      ['<b>“naïve”</b>', 1, 1, true],
    ])
    expect(tools[0]).toMatchObject({ p50Ms: 10, p95Ms: 20, lastCallAt: ago(6 * MINUTE_MS) })
    expect(await createCallFigureStore(world.db).ofTools(allOf(await createServer(world.db)), NOW)).toEqual([])
  })

  it('distinguish calls that were rejected from those that failed, also in rows from before results', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId, db } = world
    const ended = (result: CallResult, changes: Partial<ExecutionRecord> = {}) =>
      buildExecution(serverId, {
        startedAt: ago(MINUTE_MS),
        tool: result,
        outcome: result === 'success' ? 'ok' : 'error',
        result,
        ...changes,
      })
    const old = [
      ended('failed', { tool: 'old_404', status: 404 }),
      ended('failed', { tool: 'old_500', status: 500 }),
      ended('failed', { tool: 'old_unsent', status: undefined }),
    ]
    await store(world, [...CALL_RESULTS.map(result => ended(result)), ...old])
    await db.execution.updateMany({ where: { id: { in: old.map(({ id }) => id) } }, data: { result: null } })
    const figures = createCallFigureStore(db)
    expect(await figures.ofServer(allOf(serverId), NOW)).toMatchObject({ calls: 9, rejected: 4, failed: 4 })
    const tools = await figures.ofTools(allOf(serverId), NOW)
    expect(tools.flatMap(({ tool, isFailing }) => (isFailing ? [tool] : [])).toSorted()).toEqual([
      'failed',
      'old_500',
      'old_unsent',
      'timeout',
    ])
  })

  it('include each client, whatever its version', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const from = (client: string | undefined) => buildExecution(serverId, { startedAt: ago(MINUTE_MS), client })
    await store(world, [
      from('cursor/1.0'),
      from(undefined),
      ...['1.0', '1.1', '2.0'].map(v => from(`claude-code/${v}`)),
    ])
    expect(await createCallFigureStore(world.db).ofClients(allOf(serverId), NOW)).toEqual(
      expect.arrayContaining([
        { client: 'claude-code', calls: 3 },
        { client: 'cursor', calls: 1 },
        { client: undefined, calls: 1 },
      ]),
    )
  })

  it('cover only the newest calls of a busy server, and say since when', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const records = Array.from({ length: 10_050 }, (_, index) =>
      buildExecution(serverId, { startedAt: ago(index + 1), outcome: index < 2_000 ? 'ok' : 'error' }),
    )
    await store(world, records)
    const figures = createCallFigureStore(world.db)
    expect((await figures.countOfServers([allOf(serverId)], NOW)).get(serverId)).toMatchObject({
      calls: 2_000,
      failed: 0,
      isCut: true,
      since: ago(2_000),
    })
    expect(await figures.ofServer(allOf(serverId), NOW)).toMatchObject({
      calls: 10_000,
      failed: 8_000,
      since: ago(10_000),
    })
  })

  it('of one caller leave out all other calls', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const at = (minutes: number, change: Partial<ExecutionRecord>) =>
      buildExecution(serverId, { startedAt: ago(minutes * MINUTE_MS), ...change })
    const [mine, theirs] = ['0190a0a0-0000-7000-8000-000000000001', '0190a0a0-0000-7000-8000-000000000002']
    await store(world, [
      at(3, { userId: mine, tool: 'mine', client: 'mine/1' }),
      at(2, { userId: theirs, tool: 'theirs', client: 'theirs/1', outcome: 'error' }),
      at(1, { userId: undefined, tool: 'anonymous', client: 'anonymous/1' }),
    ])
    const figures = createCallFigureStore(world.db)
    const own = { serverId, callerId: mine }
    expect((await figures.countOfServers([own], NOW)).get(serverId)).toMatchObject({
      calls: 1,
      failed: 0,
      calledTools: 1,
    })
    expect(await figures.ofServer(own, NOW)).toMatchObject({ calls: 1, rejected: 0, failed: 0 })
    expect((await figures.ofTools(own, NOW)).map(({ tool }) => tool)).toEqual(['mine'])
    expect(await figures.ofClients(own, NOW)).toEqual([{ client: 'mine', calls: 1 }])
    expect(await listServerUsage(world.db, [own], NOW)).toMatchObject([{ day: { calls: 1, failed: 0 } }])
  })
})
