import { describe, expect, it } from 'vitest'
import type { ExecutionRecord } from '../../../src/history/execution-record.ts'
import { bucketOf, DURATION_COLUMNS } from '../../../src/history/sums/durations.ts'
import { MINUTE_MS } from '../../../src/lib/kernel/durations.ts'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { createHistoryWorld } from '../history-world.ts'

const ALICE = '0190a0a0-0000-7000-8000-00000000000a'
/** The start of the current hour, so that all calls of a test are in the same one. */
const HOUR_START = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
const after = (minutes: number): Date => new Date(HOUR_START.getTime() + minutes * MINUTE_MS)

describe.each(databaseKinds)('the sums of calls on $kind', kind => {
  const createWorld = async () => {
    const world = await createHistoryWorld(kind)
    const { db, serverId, recorder } = world
    /** Lists the sums of a period as `by value: calls rejected failed`, in the order of time. */
    const listSums = async (seconds: number) => {
      const rows = await db.callSum.findMany({ where: { serverId, seconds }, orderBy: [{ startsAt: 'asc' }] })
      const lines = rows.map(row => `${row.by} ${row.value}: ${row.calls} ${row.rejected} ${row.failed}`)
      return lines.toSorted()
    }
    const record = (changes: Partial<ExecutionRecord> = {}) => {
      const { request: _, ...rest } = changes
      const execution = buildExecution(serverId, { startedAt: HOUR_START, ...rest })
      recorder.record(execution)
      return execution
    }
    return { ...world, listSums, record }
  }

  it('have each call once by result, tool, caller and client, for its minute, hour and day', async () => {
    const { recorder, record, listSums } = await createWorld()
    record({ userId: ALICE, client: 'claude/1.0' })
    await recorder.flush()
    record({ userId: ALICE, client: 'claude/1.1', startedAt: after(1) })
    record({ outcome: 'error', result: 'rejected', status: 404, instanceId: 'an-instance' })
    record({ outcome: 'error', result: 'timeout', status: undefined })
    await recorder.flush()
    const whole = [
      `caller ${ALICE}: 2 0 0`,
      'client claude: 2 0 0',
      'result rejected 404: 1 1 0',
      'result success 200: 2 0 0',
      'result timeout: 1 0 1',
      // The name of a call without an instance that failed may be anything, so it is not summed.
      'tool get_weather: 3 1 0',
    ]
    expect(await listSums(3_600)).toEqual(whole)
    expect(await listSums(86_400)).toEqual(whole)
    expect(await listSums(60)).toContain('client claude: 1 0 0')
  })

  it('count durations in buckets and tokens whenever they arrive', async () => {
    const { recorder, record, db, serverId } = await createWorld()
    const first = record({ durationMs: 3 })
    record({ durationMs: 3 })
    const last = record({ durationMs: 900 })
    const tokens = { before: 50, sent: 10, otherwise: 50, size: 50, isEstimated: false }
    recorder.recordTokens({ executionId: first.id, ...tokens })
    await recorder.flush()
    recorder.recordTokens({ executionId: last.id, ...tokens })
    await recorder.flush()
    // A second count of the same call changes nothing.
    recorder.recordTokens({ executionId: last.id, ...tokens })
    await recorder.flush()
    const sum = await db.callSum.findFirstOrThrow({ where: { serverId, seconds: 3_600, by: 'result' } })
    expect(sum).toMatchObject({ calls: 3, counted: 2, tokensSent: 20n, tokensBefore: 100n })
    const calls = Object.fromEntries(
      DURATION_COLUMNS.map((column, bucket) => [column, [3, 3, 900].filter(ms => bucketOf(ms) === bucket).length]),
    )
    expect(sum).toMatchObject(calls)
  })

  it('count a record once if its batch is sent again', async () => {
    const { recorder, listSums, serverId } = await createWorld()
    const execution = buildExecution(serverId, { startedAt: HOUR_START })
    recorder.record(execution)
    await recorder.flush()
    recorder.record(execution)
    await recorder.flush()
    expect(await listSums(3_600)).toContain('result success 200: 1 0 0')
  })

  it('sum up further clients together once a server has had 100, because clients choose their names', async () => {
    const { recorder, record, db, serverId } = await createWorld()
    for (let index = 0; index < 150; index++) record({ client: `client-${index}/1` })
    await recorder.flush()
    const clients = await db.callSum.findMany({ where: { serverId, seconds: 86_400, by: 'client' } })
    expect(clients).toHaveLength(101)
    expect(clients.find(({ value }) => value === '…')).toMatchObject({ calls: 50 })
  })

  it('have no minutes of calls that are older than two days', async () => {
    const { recorder, record, listSums } = await createWorld()
    record({ startedAt: new Date(HOUR_START.getTime() - 49 * 60 * MINUTE_MS) })
    await recorder.flush()
    expect(await listSums(60)).toEqual([])
    expect(await listSums(3_600)).toContain('result success 200: 1 0 0')
  })

  it('come with the organization, the request, the token, the timing and the attempts of each call', async () => {
    const { recorder, record, executions, organizationId, db } = await createWorld()
    const details = {
      requestId: '9f3c01aa-1',
      tokenId: ALICE,
      timing: { dnsMs: 1.5, firstByteMs: 20 },
      attempts: [
        { startMs: 0, durationMs: 5, failure: 'connection reset' },
        { startMs: 20, durationMs: 7, status: 200 },
      ],
    }
    const { id } = record(details)
    const plain = record()
    await recorder.flush()
    expect(await executions.find(id, [organizationId])).toMatchObject(details)
    expect(await executions.find(plain.id, [organizationId])).not.toHaveProperty('timing.dnsMs')
    expect(await db.execution.count({ where: { organizationId } })).toBe(2)
  })
})
