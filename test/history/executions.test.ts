import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALL_RESULTS } from '../../src/history/call-result.ts'
import { newExecutionId } from '../../src/history/execution-id.ts'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer, type HistoryWorld } from './history-world.ts'

const NOON = new Date('2026-11-22T12:00:00.000Z').getTime()
const at = (milliseconds: number): Date => new Date(NOON + milliseconds)

const store = async ({ recorder }: HistoryWorld, records: readonly ExecutionRecord[]): Promise<void> => {
  for (const record of records) recorder.record(record)
  await recorder.flush()
}

describe.each(databaseKinds)('the history of a server on $kind', kind => {
  it('returns a record with all its fields', async () => {
    const world = await createHistoryWorld(kind)
    const record = buildExecution(world.serverId, {
      instanceId: newExecutionId(),
      userId: newExecutionId(),
      client: 'claude/1.0',
      startedAt: at(83),
      durationMs: 3.0625,
      outcome: 'error',
      status: 503,
      requestBytes: 11,
      responseBytes: 10_485_760,
      error: 'The API answered 503 Service Unavailable. “Später” 🌧',
      request: {
        method: 'POST',
        url: 'https://api.example.com/a?b=%00',
        headers: [
          ['x-a', '1'],
          ['x-a', '2'],
        ],
        body: '{"a":"\u0000\ud800"}',
      },
      arguments: { values: { q: 'a\u0000\ud800', list: [1, null, { deep: true }] }, cut: ['body'], masked: ['key'] },
    })
    await store(world, [record])
    expect(await world.executions.find(record.id, [world.organizationId])).toMatchObject(record)
    const { items, nextCursor } = await world.executions.list({ serverId: world.serverId }, { limit: 10 })
    // Lists leave out the arguments.
    expect(items).toEqual([
      { ...(await world.executions.find(record.id, [world.organizationId])), arguments: undefined },
    ])
    expect(nextCursor).toBeNull()
  })

  it('returns a record with minimal fields, and nothing for an unknown id', async () => {
    const world = await createHistoryWorld(kind)
    const record = buildExecution(world.serverId, { status: undefined, request: undefined })
    await store(world, [record])
    expect(await world.executions.find(record.id, [world.organizationId])).toMatchObject(record)
    expect(await world.executions.find(newExecutionId(), [world.organizationId])).toBeUndefined()
    expect(await world.executions.find(record.id, [newExecutionId()])).toBeUndefined()
  })

  it('stores text that databases cannot hold in a readable form', async () => {
    const world = await createHistoryWorld(kind)
    const record = buildExecution(world.serverId, { client: 'a\ud800', error: 'b\u0000\udc00' })
    await store(world, [record])
    expect(await world.executions.find(record.id, [world.organizationId])).toMatchObject({
      client: 'a\ufffd',
      error: 'b\ufffd\ufffd',
    })
  })

  it('keeps records of one batch apart, whatever their text contains', async () => {
    const world = await createHistoryWorld(kind)
    const texts = fc.string({ unit: 'binary', maxLength: 40 })
    const records = fc.sample(fc.tuple(texts, texts, texts), { numRuns: 300, seed: 7 }).map(([tool, client, error]) =>
      buildExecution(world.serverId, {
        tool: `t${tool}`,
        client: `c${client}`,
        error: `e${error}`,
        request: { method: 'POST', url: 'https://api.example.com/', headers: [['x-a', client]], body: error },
      }),
    )
    await store(world, records)
    const storable = (text: string | undefined) => text?.replaceAll('\0', '\ufffd')
    for (const record of records) {
      expect(await world.executions.find(record.id, [world.organizationId])).toMatchObject({
        ...record,
        tool: storable(record.tool),
        client: storable(record.client),
        error: storable(record.error),
      })
    }
  })

  it('stores times to the millisecond in the same format as other code', async () => {
    const { db, ...world } = await createHistoryWorld(kind)
    const record = buildExecution(world.serverId, { startedAt: at(7) })
    await store({ db, ...world }, [record])
    const { id, serverId, tool, startedAt } = buildExecution(world.serverId, { startedAt: at(7) })
    await db.execution.create({
      data: { id, serverId, tool, startedAt, durationMs: 1, outcome: 'ok', requestBytes: 0, responseBytes: 0 },
    })
    const same = await db.execution.findMany({ where: { startedAt: at(7) }, select: { id: true } })
    expect(same.map(row => row.id).toSorted()).toEqual([record.id, id].toSorted())
    const texts = await db.$queryRaw<{ text: string }[]>`
      SELECT DISTINCT CAST("startedAt" AS TEXT) AS text FROM "Execution"`
    expect(texts).toHaveLength(1)
    const [stored] = await db.execution.findMany({ where: { id: record.id } })
    expect(stored?.createdAt.getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect(stored?.createdAt.getTime()).toBeLessThanOrEqual(Date.now())
    expect(stored?.updatedAt).toEqual(stored?.createdAt)
  })

  it.runIf(kind.kind === 'sqlite')('is found by its user without reading the calls of others', async () => {
    const { db, serverId } = await createHistoryWorld(kind)
    const plan = await db.$queryRaw<{ detail: string }[]>`
      EXPLAIN QUERY PLAN SELECT * FROM "Execution" WHERE "serverId" = ${serverId} AND "userId" = ${'ada'}
      ORDER BY "startedAt" DESC, "id" DESC LIMIT 20`
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('(serverId=? AND userId=?)')])
  })

  it('is listed newest first, in pages that neither repeat nor skip a record of the same millisecond', async () => {
    const world = await createHistoryWorld(kind)
    const records = Array.from({ length: 25 }, (_, index) =>
      buildExecution(world.serverId, { startedAt: at(Math.floor(index / 10)) }),
    )
    await store(world, records)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await world.executions.list({ serverId: world.serverId }, { limit: 4, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(records.map(({ id }) => id).toReversed())
  })

  it('can be filtered by time, outcome and tool, and contains no records of other servers', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId } = world
    const early = buildExecution(serverId, { startedAt: at(0) })
    const failed = buildExecution(serverId, { startedAt: at(1), outcome: 'error' })
    const other = buildExecution(serverId, { startedAt: at(2), tool: 'other' })
    const elsewhere = buildExecution(await createServer(world.db), { startedAt: at(1) })
    await store(world, [early, failed, other, elsewhere])
    const idsOf = async (query: object) =>
      (await world.executions.list({ serverId }, { limit: 200, ...query })).items.map(({ id }) => id)
    expect(await idsOf({})).toEqual([other.id, failed.id, early.id])
    expect(await idsOf({ from: at(1) })).toEqual([other.id, failed.id])
    expect(await idsOf({ to: at(1) })).toEqual([early.id])
    expect(await idsOf({ from: at(1), to: at(2) })).toEqual([failed.id])
    expect(await idsOf({ outcome: 'error' })).toEqual([failed.id])
    expect(await idsOf({ outcome: 'ok', tool: ['get_weather'] })).toEqual([early.id])
  })

  it('can be filtered by result, also where it follows from outcome and status', async () => {
    const world = await createHistoryWorld(kind)
    const { serverId, db } = world
    const records = CALL_RESULTS.map((result, index) =>
      buildExecution(serverId, { startedAt: at(index), result, outcome: result === 'success' ? 'ok' : 'error' }),
    )
    const statuses = [200, 404, 500, undefined]
    const old = statuses.map((status, index) =>
      buildExecution(serverId, { startedAt: at(50 - index), status, outcome: status === 200 ? 'ok' : 'error' }),
    )
    await store(world, [...records, ...old])
    await db.execution.updateMany({ where: { id: { in: old.map(({ id }) => id) } }, data: { result: null } })
    const found = await Promise.all(
      CALL_RESULTS.map(async result => {
        const { items } = await world.executions.list({ serverId }, { limit: 200, result: [result] })
        expect(items.map(item => item.result)).toEqual(items.map(() => result))
        return [result, items.length] as const
      }),
    )
    expect(found).toEqual([
      ['success', 2],
      ['rejected', 2],
      ['failed', 3],
      ['timeout', 1],
      ['blocked', 1],
      ['invalid_arguments', 1],
    ])
    const { items } = await world.executions.list({ serverId }, { limit: 1, result: ['failed'] })
    expect(items.map(({ id }) => id)).toEqual([old[2]?.id])
  })

  it('rejects a cursor of another list', async () => {
    const { executions, serverId } = await createHistoryWorld(kind)
    for (const cursor of ['', 'x', 'WzFd', Buffer.from('["yesterday","x"]').toString('base64url')]) {
      await expect(executions.list({ serverId }, { limit: 1, cursor })).rejects.toMatchObject({
        code: 'invalid_request',
      })
    }
  })

  it('includes the gaps that overlap a period, newest first', async () => {
    const { db, serverId, executions } = await createHistoryWorld(kind)
    const gap = (from: number, to: number) => ({ serverId, missing: 3, from: at(from), to: at(to), reason: 'why' })
    await db.executionGap.createMany({ data: [gap(0, 10), gap(20, 30), gap(40, 50)] })
    expect(await executions.listGaps({ serverIds: [serverId] })).toEqual([gap(40, 50), gap(20, 30), gap(0, 10)])
    expect(await executions.listGaps({ serverIds: [serverId], from: at(10), to: at(40) })).toEqual([
      gap(20, 30),
      gap(0, 10),
    ])
    expect(await executions.listGaps({ serverIds: [serverId], from: at(51) })).toEqual([])
  })
})
