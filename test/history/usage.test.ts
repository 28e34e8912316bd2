import { describe, expect, it } from 'vitest'
import { listServerUsage } from '../../src/history/usage.store.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer } from './history-world.ts'

const NOW = new Date('2026-11-22T12:30:00.000Z')
const HOUR_MS = 60 * 60 * 1_000
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS)

const allOf = (serverId: string) => ({ serverId, callerId: undefined })

describe.each(databaseKinds)('the usage of servers on $kind', kind => {
  it('counts calls and failed calls of a day and of 30 days for each server', async () => {
    const { db, serverId, recorder } = await createHistoryWorld(kind)
    const other = await createServer(db)
    const quiet = await createServer(db)
    for (const [server, startedAt, outcome] of [
      [serverId, ago(1), 'ok'],
      [serverId, ago(23.9), 'error'],
      [serverId, ago(24.1), 'error'],
      [serverId, ago(29 * 24), 'ok'],
      [serverId, ago(31 * 24), 'error'],
      [other, ago(2), 'ok'],
    ] as const) {
      recorder.record(buildExecution(server, { startedAt, outcome }))
    }
    await recorder.flush()
    const usage = await listServerUsage(db, [serverId, other, quiet].map(allOf), NOW)
    expect(new Map(usage.map(({ serverId: id, ...rest }) => [id, rest]))).toEqual(
      new Map([
        [serverId, { day: { calls: 2, failed: 1 }, month: { calls: 4, failed: 2 }, isCut: false }],
        [other, { day: { calls: 1, failed: 0 }, month: { calls: 1, failed: 0 }, isCut: false }],
      ]),
    )
    expect(await listServerUsage(db, [], NOW)).toEqual([])
  })

  it('covers more servers than fit in one statement', async () => {
    const { db, serverId, recorder } = await createHistoryWorld(kind)
    recorder.record(buildExecution(serverId, { startedAt: ago(1) }))
    await recorder.flush()
    const absent = Array.from(
      { length: 600 },
      (_, index) => `0190a0a0-0000-7000-8000-${String(index).padStart(12, '0')}`,
    )
    const usage = await listServerUsage(db, [...absent, serverId].map(allOf), NOW)
    expect(usage.map(({ serverId: id }) => id)).toEqual([serverId])
  })

  it('counts the newest calls of a very busy server, and marks the count as cut', async () => {
    const { db, serverId } = await createHistoryWorld(kind)
    const { request, arguments: _none, ...record } = buildExecution(serverId)
    await db.execution.createMany({
      data: Array.from({ length: 600 }, (_, index) => ({
        ...record,
        instanceId: null,
        userId: null,
        client: null,
        error: null,
        requestId: null,
        tokenId: null,
        timing: null,
        attempts: null,
        status: 200,
        id: `0190a0a0-0000-7000-8000-${String(index).padStart(12, '0')}`,
        startedAt: ago(1 + index / 60),
        request: JSON.stringify(request),
      })),
    })
    // All requested servers share the limit, which leaves 500 calls for each.
    const absent = Array.from(
      { length: 300 },
      (_, index) => `0190a0a0-0000-7000-9000-${String(index).padStart(12, '0')}`,
    )
    expect(await listServerUsage(db, [serverId, ...absent].map(allOf), NOW)).toEqual([
      { serverId, day: { calls: 500, failed: 0 }, month: { calls: 500, failed: 0 }, isCut: true },
    ])
    expect(await listServerUsage(db, [serverId].map(allOf), NOW)).toMatchObject([
      { month: { calls: 600 }, isCut: false },
    ])
  })
})
