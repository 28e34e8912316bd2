import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld, createServer, type HistoryWorld, lockDatabase } from './history-world.ts'

const recordMany = ({ recorder, serverId }: HistoryWorld, count: number): ExecutionRecord[] => {
  const records = Array.from({ length: count }, () => buildExecution(serverId))
  for (const record of records) recorder.record(record)
  return records
}

const listIds = async ({ db }: HistoryWorld): Promise<string[]> =>
  (await db.execution.findMany({ select: { id: true }, orderBy: { id: 'asc' } })).map(({ id }) => id)

const CANNOT_BE_WRITTEN = /Cannot write/
/** Body sizes in characters. Some records alone exceed a standard page. */
const SIZES = [0, 30, 500, 7, 20_000, 100, 3_000, 60_000, 1, 90_000, 250]
const IS_OVER_FULL = { maxQueued: 100 }

describe.each(databaseKinds)('the recorder on $kind', kind => {
  it('writes records without a flush', async () => {
    const world = await createHistoryWorld(kind)
    recordMany(world, 3)
    await expect.poll(world.recorder.stats, { timeout: 10_000 }).toEqual({ queued: 0, missing: 0, stored: 3 })
    expect(await world.countStored()).toBe(3)
  })

  it('loses none of 10,000 records if it is closed right after them', async () => {
    const world = await createHistoryWorld(kind)
    recordMany(world, 10_000)
    await world.recorder.close()
    expect(await world.countStored()).toBe(10_000)
    expect(world.recorder.stats()).toEqual({ queued: 0, missing: 0, stored: 10_000 })
    expect(world.log.lines).toEqual([])
  })

  it('writes records of any size unchanged while others are recorded', async () => {
    const world = await createHistoryWorld(kind, { flushIntervalMs: 1 })
    const records = Array.from({ length: 1_200 }, (_, index) => {
      const body = `${index} ${['x', 'ä', '€', '🌧'][index % 4]?.repeat(SIZES[index % SIZES.length] ?? 0)} ${index}`
      const request = { method: 'POST', url: `https://api.example.com/${index}`, headers: [], body }
      return buildExecution(world.serverId, { tool: `tool_${index}`, request })
    })
    for (const [index, record] of records.entries()) {
      world.recorder.record(record)
      // Batches are sent while the next ones fill, and written pages are reused.
      if (index % 10 === 9) await setImmediate()
      if (index % 400 === 399) await expect.poll(() => world.recorder.stats().queued).toBe(0)
    }
    await world.recorder.flush()
    const stored = await world.db.execution.findMany({ orderBy: { id: 'asc' } })
    expect(stored.map(({ tool, request }) => ({ tool, request }))).toEqual(
      records.map(({ tool, request }) => ({ tool, request: JSON.stringify(request) })),
    )
  })

  it('counts records after the close as missing, and closes only once', async () => {
    const world = await createHistoryWorld(kind)
    await Promise.all([world.recorder.close(), world.recorder.close()])
    recordMany(world, 2)
    expect(world.recorder.stats()).toEqual({ queued: 0, missing: 2, stored: 0 })
  })

  it('loses nothing while another process holds the lock, and logs once that it waits and once that it continues', async () => {
    const world = await createHistoryWorld(kind)
    const lock = await lockDatabase(world.target)
    const failed = world.log.next(CANNOT_BE_WRITTEN)
    const records = recordMany(world, 300)
    await failed
    await lock.release()
    await world.recorder.flush()
    expect(await listIds(world)).toEqual(records.map(({ id }) => id))
    expect(world.log.lines).toMatchObject([
      { message: expect.stringMatching(CANNOT_BE_WRITTEN), details: { reason: 'the database was locked' } },
      { message: expect.stringMatching(/written again/) },
    ])
  })

  it('counts records that do not fit its queue, keeps the others, and writes a gap for each server later', async () => {
    const world = await createHistoryWorld(kind, IS_OVER_FULL)
    const otherServerId = await createServer(world.db)
    const lock = await lockDatabase(world.target)
    const kept = recordMany(world, 100)
    const missing = recordMany(world, 40)
    world.recorder.record(buildExecution(otherServerId))
    expect(world.recorder.stats()).toMatchObject({ queued: 100, missing: 41 })
    await lock.release()
    await world.recorder.flush()
    expect(await listIds(world)).toEqual(kept.map(({ id }) => id))
    expect(await world.executions.listGaps({ serverIds: [world.serverId] })).toEqual([
      {
        serverId: world.serverId,
        missing: 40,
        from: missing[0]?.startedAt,
        to: missing.at(-1)?.startedAt,
        reason: 'the queue was full',
      },
    ])
    expect(await world.executions.listGaps({ serverIds: [otherServerId] })).toMatchObject([{ missing: 1 }])
    expect(world.recorder.stats()).toEqual({ queued: 0, missing: 41, stored: 100 })
  })

  it('writes gaps once it can, with the reason', async () => {
    const world = await createHistoryWorld(kind, IS_OVER_FULL)
    const lock = await lockDatabase(world.target)
    const failed = world.log.next(CANNOT_BE_WRITTEN)
    recordMany(world, 100)
    await failed
    recordMany(world, 5)
    await lock.release()
    await expect
      .poll(() => world.executions.listGaps({ serverIds: [world.serverId] }), { timeout: 10_000 })
      .toMatchObject([{ missing: 5, reason: 'the database was locked' }])
  })

  const LARGE = 'x'.repeat(100_000)
  const SMALL = { method: 'POST', url: 'https://api.example.com/', headers: [] }
  it.each([
    ['bodies', { ...SMALL, body: LARGE }],
    ['URLs', { ...SMALL, url: `https://api.example.com/${LARGE}` }],
    ['headers', { ...SMALL, headers: [['x-large', LARGE]] as const }],
  ])('limits the memory of waiting records: %s', async (_what, request) => {
    const world = await createHistoryWorld(kind, { maxQueuedBytes: 1_000_000 })
    for (let index = 0; index < 10; index++) world.recorder.record(buildExecution(world.serverId, { request }))
    const { queued, missing } = world.recorder.stats()
    expect(queued).toBeGreaterThan(0)
    expect(missing).toBeGreaterThan(0)
    await world.recorder.flush()
    expect(await world.countStored()).toBe(queued)
  })

  it('loses nothing if its worker ends during a write or while idle', async () => {
    const world = await createHistoryWorld(kind)
    const first = recordMany(world, 600)
    const flushed = world.recorder.flush()
    await world.workers.at(-1)?.terminate()
    await flushed
    await world.workers.at(-1)?.terminate()
    const second = recordMany(world, 10)
    await world.recorder.flush()
    expect(await listIds(world)).toEqual([...first, ...second].map(({ id }) => id))
    expect(world.workers).toHaveLength(3)
  })

  it('drops a batch that crashes the worker twice, writes a gap, and continues with the next', async () => {
    let starts = 0
    const world = await createHistoryWorld(kind, {
      startWorker: (file, options) =>
        ++starts <= 2 ? new Worker('process.exit(1)', { eval: true }) : new Worker(file, options),
    })
    recordMany(world, 7)
    await world.recorder.flush()
    const next = recordMany(world, 2)
    await world.recorder.flush()
    expect(await listIds(world)).toEqual(next.map(({ id }) => id))
    expect(await world.executions.listGaps({ serverIds: [world.serverId] })).toMatchObject([
      { missing: 7, reason: 'the recorder stopped' },
    ])
  })

  it('silently drops records of a server deleted in the meantime, and keeps the others', async () => {
    const world = await createHistoryWorld(kind)
    const deletedId = await createServer(world.db)
    await world.db.server.delete({ where: { id: deletedId } })
    const kept = recordMany(world, 2)
    world.recorder.record(buildExecution(deletedId))
    kept.push(...recordMany(world, 2))
    await world.recorder.flush()
    expect(await listIds(world)).toEqual(kept.map(({ id }) => id))
    expect(world.recorder.stats()).toEqual({ queued: 0, missing: 0, stored: 4 })
    expect(world.log.lines).toEqual([])
  })

  it('allows a server to be deleted while its calls are recorded', async () => {
    const world = await createHistoryWorld(kind)
    const deletedIds = await Promise.all(Array.from({ length: 5 }, () => createServer(world.db)))
    const records = deletedIds.flatMap(id => Array.from({ length: 500 }, () => buildExecution(id)))
    for (const record of records) world.recorder.record(record)
    await Promise.all([...deletedIds.map(id => world.db.server.delete({ where: { id } })), world.recorder.flush()])
    const kept = recordMany(world, 3)
    await world.recorder.flush()
    expect(await listIds(world)).toEqual(kept.map(({ id }) => id))
    expect(world.recorder.stats()).toMatchObject({ queued: 0, missing: 0 })
  })

  it('counts a record that the database rejects, and stores the others', async () => {
    const world = await createHistoryWorld(kind)
    const before = recordMany(world, 300)
    world.recorder.record(buildExecution(world.serverId, { durationMs: Number.NaN }))
    const after = recordMany(world, 3)
    await world.recorder.close()
    expect(await listIds(world)).toEqual([...before, ...after].map(({ id }) => id))
    expect(await world.executions.listGaps({ serverIds: [world.serverId] })).toMatchObject([
      { missing: 1, reason: 'the database refused the record' },
    ])
  })

  it('stores a record once, however often it is sent', async () => {
    const world = await createHistoryWorld(kind)
    const record = buildExecution(world.serverId)
    world.recorder.record(record)
    world.recorder.record(record)
    await world.recorder.flush()
    world.recorder.record(record)
    await world.recorder.flush()
    expect(await listIds(world)).toEqual([record.id])
    expect(world.recorder.stats().missing).toBe(0)
  })

  it('closes in bounded time if nothing can be written, and logs how much is lost', async () => {
    const world = await createHistoryWorld(kind, { closeTimeoutMs: 100 })
    const lock = await lockDatabase(world.target)
    onTestFinished(lock.release)
    recordMany(world, 1_000)
    await world.recorder.close()
    expect(world.log.lines.at(-1)).toMatchObject({
      message: expect.stringMatching(/lost/),
      details: { missing: 1_000 },
    })
    expect(world.recorder.stats()).toEqual({ queued: 0, missing: 1_000, stored: 0 })
  })
})

describe('the recorder with a PostgreSQL connection that is cut repeatedly', () => {
  it('reconnects and loses nothing', async () => {
    const [, postgres] = databaseKinds
    if (postgres === undefined) throw new Error('no PostgreSQL')
    const world = await createHistoryWorld(postgres)
    const records: ExecutionRecord[] = []
    for (let round = 0; round < 3; round++) {
      records.push(...recordMany(world, 300))
      if (round > 0) await cutConnections(world)
      await world.recorder.flush()
    }
    expect(await listIds(world)).toEqual(records.map(({ id }) => id))
  })
})

const cutConnections = async ({ target }: HistoryWorld): Promise<void> => {
  if (target.kind !== 'postgresql') throw new Error('no PostgreSQL')
  const client = new Client({ connectionString: target.url })
  await client.connect()
  // The recorder reconnects at its first write after a cut, which may not have happened yet.
  await vi.waitFor(async () => {
    const { rows } = await client.query(
      // The timeout makes the query wait until the connection has ended. Otherwise the recorder might finish one more
      // write.
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'patchbay history'`,
    )
    expect(rows).toHaveLength(1)
  })
  await client.end()
}
