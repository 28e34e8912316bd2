import { describe, expect, it } from 'vitest'
import { newExecutionId } from '../../src/history/execution-id.ts'
import { createHistoryUpkeep } from '../../src/history/upkeep/history-upkeep.ts'
import { transact } from '../../src/lib/db/client.ts'
import { databaseKinds } from '../support/databases.ts'
import { createHistoryWorld, createServer } from './history-world.ts'

const ROW = { tool: 'get_weather', startedAt: new Date(), durationMs: 1, outcome: 'ok', requestBytes: 1 } as const

const [sqlite] = databaseKinds
if (sqlite === undefined) throw new Error('there is no database to test on')

describe.each(databaseKinds)('removing the history of a server on $kind', kind => {
  it('deletes its records and gaps in several batches, and no others', async () => {
    const { db, serverId, recorder } = await createHistoryWorld(kind)
    const otherId = await createServer(db)
    const rowsOf = (server: string, count: number) =>
      Array.from({ length: count }, () => ({ ...ROW, id: newExecutionId(), serverId: server, responseBytes: 1 }))
    const gap = { missing: 1, from: new Date(), to: new Date(), reason: 'a test' }
    await db.execution.createMany({ data: [...rowsOf(serverId, 1_203), ...rowsOf(otherId, 7)] })
    await db.executionGap.createMany({ data: [serverId, serverId, otherId].map(id => ({ ...gap, serverId: id })) })

    await createHistoryUpkeep({ db, recorder }).removeHistoryOf(serverId)

    expect(await db.execution.groupBy({ by: ['serverId'], _count: true })).toEqual([{ serverId: otherId, _count: 7 }])
    expect(await db.executionGap.findMany()).toMatchObject([{ serverId: otherId }])
    expect(await db.server.count({ where: { id: serverId } })).toBe(1)
  })
})

describe('removing the history of a server on SQLite, which allows one writer at a time', () => {
  it('allows other writes between its batches', async () => {
    const { db, serverId, recorder } = await createHistoryWorld(sqlite)
    await db.execution.createMany({
      data: Array.from({ length: 3_000 }, () => ({ ...ROW, id: newExecutionId(), serverId, responseBytes: 1 })),
    })
    const removal = createHistoryUpkeep({ db, recorder }).removeHistoryOf(serverId)
    const leftAtWrite = await transact(db, async tx => {
      await tx.server.update({ where: { id: serverId }, data: { name: 'Renamed meanwhile' } })
      return tx.execution.count({ where: { serverId } })
    })
    await removal
    expect(leftAtWrite).toBeGreaterThan(0)
    expect(await db.execution.count({ where: { serverId } })).toBe(0)
  })
})
