import { describe, expect, it } from 'vitest'
import { newExecutionId } from '../../src/history/execution-id.ts'
import { createHistoryUpkeep } from '../../src/history/upkeep/history-upkeep.ts'
import { moveServer } from '../../src/servers/settings/transfer.store.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer } from './history-world.ts'

const NOW = new Date()
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000)

describe.each(databaseKinds)('the upkeep of the history on $kind', kind => {
  const createWorld = async () => {
    const world = await createHistoryWorld(kind)
    const { db, recorder, serverId } = world
    const upkeep = createHistoryUpkeep({ db, recorder })
    /** Adds calls as a version before organizations and sums did, in the seconds before a time. */
    const addOldCalls = (count: number, before = NOW, server = serverId) =>
      db.execution.createMany({
        data: Array.from({ length: count }, (_, index) => ({
          id: newExecutionId(),
          serverId: server,
          tool: 'get_weather',
          instanceId: 'an-instance',
          startedAt: new Date(before.getTime() - index * 1_000),
          durationMs: 10,
          outcome: index % 3 === 0 ? ('error' as const) : ('ok' as const),
          status: index % 3 === 0 ? 404 : 200,
          tokensSent: 5,
          requestBytes: 1,
          responseBytes: 1,
        })),
      })
    /** Returns the sums of all days by value: calls, rejected calls, and tokens sent. */
    const sumsBy = async (by: 'result' | 'tool') => {
      const where = { serverId, seconds: 86_400, by }
      const rows = await db.callSum.findMany({ where, orderBy: { value: 'asc' } })
      const sums: Record<string, number[]> = {}
      for (const { value, calls, rejected, tokensSent } of rows) {
        const [all = 0, refused = 0, tokens = 0] = sums[value] ?? []
        sums[value] = [all + calls, refused + rejected, tokens + Number(tokensSent)]
      }
      return sums
    }
    const never = new AbortController().signal
    return { ...world, upkeep, addOldCalls, sumsBy, never }
  }

  it('sets the organization of old calls and adds each to the sums, once', async () => {
    const { upkeep, addOldCalls, sumsBy, db, recorder, serverId, organizationId, never } = await createWorld()
    await addOldCalls(1_203)
    recorder.record(buildExecution(serverId, { instanceId: 'an-instance' }))
    await recorder.flush()
    await upkeep.fill(never)
    await upkeep.fill(never)
    expect(await db.execution.count({ where: { organizationId } })).toBe(1_204)
    expect(await sumsBy('result')).toEqual({ 'rejected 404': [401, 401, 2_005], 'success 200': [803, 0, 4_010] })
    expect(await sumsBy('tool')).toEqual({ get_weather: [1_204, 401, 6_015] })
  })

  it('goes on where it was interrupted', async () => {
    const { upkeep, addOldCalls, sumsBy, recorder, never } = await createWorld()
    await addOldCalls(1_203)
    await recorder.run({ kind: 'fill' })
    await upkeep.fill(never)
    expect(await sumsBy('tool')).toEqual({ get_weather: [1_203, 401, 6_015] })
  })

  it('sets the new organization of the calls of a server that has moved', async () => {
    const { upkeep, addOldCalls, sumsBy, db, serverId, organizationId, never } = await createWorld()
    await addOldCalls(1_203)
    await upkeep.fill(never)
    const otherId = await createServer(db)
    await addOldCalls(3, NOW, otherId)
    const other = await db.server.findUniqueOrThrow({ where: { id: otherId } })
    await moveServer(db, serverId, other)
    await upkeep.fill(never)
    await upkeep.moveCalls(never)
    expect(await db.execution.count({ where: { organizationId } })).toBe(0)
    expect(await db.execution.count({ where: { organizationId: other.organizationId } })).toBe(1_206)
    expect(await sumsBy('tool')).toEqual({ get_weather: [1_203, 401, 6_015] })
    expect(await db.server.count({ where: { hasMovedCalls: true } })).toBe(0)
  })

  it('removes the calls that are older than their organization allows, and no others', async () => {
    const { upkeep, addOldCalls, db, serverId, organizationId, never } = await createWorld()
    const otherId = await createServer(db)
    await addOldCalls(7, daysAgo(40), otherId)
    await addOldCalls(1_203, daysAgo(31))
    await addOldCalls(5, daysAgo(29))
    await upkeep.fill(never)
    await upkeep.removeOldCalls(NOW, never)
    expect(await db.execution.count()).toBe(1_215)
    await db.organization.update({ where: { id: organizationId }, data: { keepCallsDays: 30 } })
    await upkeep.removeOldCalls(NOW, never)
    expect(await db.execution.count({ where: { serverId } })).toBe(5)
    expect(await db.execution.count({ where: { serverId: otherId } })).toBe(7)
  })

  it('goes on with the other organizations if it cannot remove the calls of one', async () => {
    const { upkeep, addOldCalls, db, recorder, serverId, organizationId, never } = await createWorld()
    await addOldCalls(10, daysAgo(31))
    await upkeep.fill(never)
    const other = await db.organization.create({ data: { name: 'Broken', keepCallsDays: 1 } })
    await db.organization.update({ where: { id: organizationId }, data: { keepCallsDays: 30 } })
    const failing = createHistoryUpkeep({
      db,
      recorder: {
        run: async task => {
          if (JSON.stringify(task).includes(other.id)) throw new Error('it takes too long')
          return recorder.run(task)
        },
      },
    })
    await expect(failing.removeOldCalls(NOW, never)).rejects.toThrow('it takes too long')
    expect(await db.execution.count({ where: { serverId } })).toBe(0)
  })

  it('removes the oldest calls beyond the number that their organization allows', async () => {
    const { upkeep, addOldCalls, db, organizationId, never } = await createWorld()
    await addOldCalls(1_203)
    await upkeep.fill(never)
    await db.organization.update({ where: { id: organizationId }, data: { keepCalls: 100 } })
    await upkeep.removeOldCalls(NOW, never)
    const left = await db.execution.findMany({ orderBy: { startedAt: 'asc' }, select: { startedAt: true } })
    expect(left).toHaveLength(100)
    expect(left[0]?.startedAt).toEqual(new Date(NOW.getTime() - 99_000))
    await upkeep.removeOldCalls(NOW, never)
    expect(await db.execution.count()).toBe(100)
  })

  it('removes sums by minute after two days and by hour after 400', async () => {
    const { upkeep, db, serverId, never } = await createWorld()
    const sum = { serverId, by: 'client' as const, value: 'claude', calls: 1 }
    const kept = [
      { ...sum, seconds: 60, startsAt: daysAgo(1) },
      { ...sum, seconds: 3_600, startsAt: daysAgo(399) },
      { ...sum, seconds: 86_400, startsAt: daysAgo(799) },
    ]
    const old = [
      { ...sum, seconds: 60, startsAt: daysAgo(3) },
      { ...sum, seconds: 3_600, startsAt: daysAgo(401) },
      { ...sum, seconds: 86_400, startsAt: daysAgo(801) },
    ]
    await db.callSum.createMany({ data: [...kept, ...old] })
    await upkeep.removeOldSums(NOW, never)
    const left = await db.callSum.findMany({ orderBy: { seconds: 'asc' } })
    expect(left.map(({ startsAt }) => startsAt)).toEqual(kept.map(({ startsAt }) => startsAt))
  })

  it('fails a task that the database refuses, and goes on recording', async () => {
    const { upkeep, recorder, serverId, db } = await createWorld()
    await expect(recorder.run({ kind: 'find_limit', organizationId: '', keep: Number.NaN })).rejects.toThrow('failed')
    recorder.record(buildExecution(serverId))
    await recorder.flush()
    await upkeep.removeHistoryOf(serverId)
    expect([await db.execution.count(), await db.callSum.count()]).toEqual([0, 0])
  })
})
