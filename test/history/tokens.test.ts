import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRecorder, type RecorderOptions } from '../../src/history/recorder.ts'
import { removeOldToolDays } from '../../src/history/tool-days.store.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer } from './history-world.ts'

const DAY = '2026-11-22'
/** The id of a thread that has ended. */
const ENDED = -1
const startedAt = new Date(`${DAY}T23:59:59.999Z`)

describe.each(databaseKinds)('tokens of calls on $kind', kind => {
  const createWorld = async (options: Partial<RecorderOptions> = {}) => {
    const world = await createHistoryWorld(kind, options)
    const { db, recorder, serverId } = world
    const listDays = async () =>
      (await db.toolDay.findMany({ where: { serverId }, orderBy: { tool: 'asc' } })).map(
        ({ day, tool, calls, counted, estimated, tokensBefore, tokensSent }) => ({
          day,
          tool,
          calls,
          counted,
          estimated,
          tokens: [Number(tokensBefore), Number(tokensSent)],
        }),
      )
    const recordMany = (count: number, changes = {}) => {
      const records = Array.from({ length: count }, () => buildExecution(serverId, { startedAt, ...changes }))
      for (const record of records) recorder.record(record)
      return records
    }
    return { ...world, listDays, recordMany }
  }

  it('are added to the call and to the sums of its tool and day, whenever they arrive', async () => {
    const { recorder, recordMany, listDays, db } = await createWorld()
    const [first, second] = recordMany(2)
    if (first === undefined || second === undefined) throw new Error('records are missing')
    recorder.recordTokens({
      executionId: first.id,
      before: 900,
      sent: 100,
      otherwise: 900,
      size: 900,
      isEstimated: false,
    })
    await recorder.flush()
    recorder.recordTokens({
      executionId: second.id,
      before: undefined,
      sent: 30,
      otherwise: 30,
      size: 30,
      isEstimated: true,
    })
    await recorder.flush()
    expect(await listDays()).toEqual([
      { day: DAY, tool: 'get_weather', calls: 2, counted: 2, estimated: 1, tokens: [930, 130] },
    ])
    const rows = await db.execution.findMany({ orderBy: { id: 'asc' } })
    expect(rows.map(row => [row.tokensBefore, row.tokensSent, row.tokensEstimated])).toEqual([
      [900, 100, false],
      [null, 30, true],
    ])
  })

  it('tell how many calls succeeded, and how large the largest of their results was before it was cut', async () => {
    const { recorder, recordMany, db, serverId } = await createWorld()
    const [early, late, failed, other] = [...recordMany(2), ...recordMany(1, { status: 500 }), ...recordMany(1)]
    if (early === undefined || late === undefined || failed === undefined || other === undefined)
      throw new Error('records are missing')
    const count = ({ id }: { id: string }, size: number): void =>
      recorder.recordTokens({ executionId: id, before: size, sent: 10, otherwise: size, size, isEstimated: false })
    count(early, 300)
    count(failed, 900)
    await recorder.flush()
    count(late, 200)
    await recorder.flush()
    // Nothing is known about the size of the last call's result.
    expect(await db.toolDay.findMany({ where: { serverId } })).toMatchObject([
      { calls: 4, counted: 3, succeeded: 2, largest: 300, wasCut: false },
    ])
  })

  it('that are still being counted do not keep the recorder from closing', async () => {
    const { recorder, recordMany, workers, log } = await createWorld({ flushIntervalMs: 0 })
    const [record] = recordMany(1)
    if (record === undefined) throw new Error('the record is missing')
    recorder.countBeforeWrite(async () => {
      await setImmediate()
      recorder.recordTokens({ executionId: record.id, before: 8, sent: 4, otherwise: 8, size: 8, isEstimated: true })
      recorder.noteUncounted()
    })
    recorder.noteUncounted()
    await recorder.close()
    await setImmediate()
    expect(workers.map(({ threadId }) => threadId)).toEqual([ENDED])
    expect(log.lines).toEqual([])
  })

  it('are written with the row, if they are counted before', async () => {
    const { recorder, recordMany, db, listDays } = await createWorld()
    const records = recordMany(9)
    recorder.countBeforeWrite(async () => {
      for (const { id } of records) {
        recorder.recordTokens({ executionId: id, before: 8, sent: 4, otherwise: 8, size: 8, isEstimated: true })
      }
    })
    recorder.noteUncounted()
    await recorder.flush()
    const rows = await db.execution.findMany()
    expect(rows.map(row => [row.tokensBefore, row.tokensSent, row.tokensEstimated])).toEqual(
      Array.from({ length: 9 }, () => [8, 4, true]),
    )
    expect(await listDays()).toMatchObject([{ calls: 9, counted: 9, estimated: 9, tokens: [72, 36] }])
  })

  it('are counted once per call, however often they are sent', async () => {
    const { recorder, recordMany, listDays } = await createWorld()
    const records = recordMany(20)
    const tokens = records.map(({ id }) => ({
      executionId: id,
      before: 5,
      sent: 2,
      otherwise: 5,
      size: 5,
      isEstimated: false,
    }))
    for (const one of tokens) recorder.recordTokens(one)
    await recorder.flush()
    for (const record of records) recorder.record(record)
    for (const one of tokens) recorder.recordTokens(one)
    await recorder.flush()
    expect(await listDays()).toEqual([
      { day: DAY, tool: 'get_weather', calls: 20, counted: 20, estimated: 0, tokens: [100, 40] },
    ])
  })

  it('can exceed 32 bits', async () => {
    const { recorder, recordMany, listDays } = await createWorld()
    for (const { id } of recordMany(3)) {
      recorder.recordTokens({
        executionId: id,
        before: 2_000_000_000,
        sent: 0,
        otherwise: 2_000_000_000,
        size: 2_000_000_000,
        isEstimated: false,
      })
    }
    await recorder.flush()
    expect(await listDays()).toMatchObject([{ tokens: [6_000_000_000, 0] }])
  })

  it('are not counted for unknown calls; passthrough requests are not tool calls', async () => {
    const { recorder, recordMany, listDays, db, serverId } = await createWorld()
    recordMany(1, { tool: '' })
    recorder.recordTokens({ executionId: 'unknown', before: 1, sent: 1, otherwise: 1, size: 1, isEstimated: false })
    await recorder.flush()
    expect(await listDays()).toEqual([])
    expect(await db.execution.count({ where: { serverId } })).toBe(1)
  })

  it('are not summed under names that a caller may have made up: failed calls of tools that are not ours', async () => {
    const { recorder, recordMany, listDays } = await createWorld()
    const made = recordMany(9, { instanceId: undefined, tool: 'up_made_up', outcome: 'error' })
    const known = [
      ...recordMany(1, { instanceId: undefined, tool: 'up_real' }),
      ...recordMany(1, { instanceId: 'known', outcome: 'error' }),
    ]
    for (const { id } of [...made, ...known]) {
      recorder.recordTokens({ executionId: id, before: 5, sent: 5, otherwise: 5, size: 5, isEstimated: false })
    }
    await recorder.flush()
    expect(await listDays()).toMatchObject([
      { tool: 'get_weather', calls: 1, counted: 1 },
      { tool: 'up_real', calls: 1, counted: 1 },
    ])
  })

  it('are summed by several processes at once without losing any', async () => {
    const { recorder, serverId, target, log, sealing, listDays } = await createWorld()
    const other = createRecorder({ target, logger: log.logger, sealing })
    for (const one of [recorder, other]) {
      for (let index = 0; index < 600; index++) {
        const record = buildExecution(serverId, { startedAt, tool: `tool_${index % 3}` })
        one.record(record)
        one.recordTokens({ executionId: record.id, before: 3, sent: 1, otherwise: 3, size: 3, isEstimated: false })
      }
    }
    await Promise.all([recorder.flush(), other.flush()])
    await other.close()
    const each = { day: DAY, calls: 400, counted: 400, estimated: 0, tokens: [1_200, 400] }
    expect(await listDays()).toEqual([0, 1, 2].map(index => ({ ...each, tool: `tool_${index}` })))
  })

  it('are separate for each server', async () => {
    const { recorder, recordMany, listDays, db } = await createWorld()
    const other = await createServer(db)
    recordMany(9)
    recorder.record(buildExecution(other, { startedAt, tool: 'other_tool' }))
    await recorder.flush()
    expect(await listDays()).toMatchObject([{ tool: 'get_weather', calls: 9 }])
  })

  it('are deleted after the retention period', async () => {
    const { recorder, recordMany, listDays, db } = await createWorld()
    recordMany(1)
    recordMany(1, { tool: 'old_tool', startedAt: new Date('2024-01-01T00:00:00Z') })
    await recorder.flush()
    await removeOldToolDays(db, new Date(`${DAY}T12:00:00Z`))
    expect(await listDays()).toMatchObject([{ tool: 'get_weather' }])
  })
})
