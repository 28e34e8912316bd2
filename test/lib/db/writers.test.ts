import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { openRawSqlite } from '../../../src/lib/db/sqlite.ts'
import { countTurns } from '../../support/count-turns.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

/** Several processes start at once on what may be two cores. */
const TIMEOUT_MS = 120_000
const WRITES = 200

type Writer = {
  /** Ids that the database has acknowledged so far. */
  acknowledged: string[]
  hasAcknowledged: (count: number) => Promise<void>
  ended: Promise<number | null>
  child: ChildProcess
}

const startWriter = (url: string, count: number): Writer => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.process.ts'), url, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: string[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', line => {
    if (line !== 'open') acknowledged.push(line)
    for (const look of waiting) look()
  })
  const hasAcknowledged = (wanted: number): Promise<void> =>
    new Promise(resolve => {
      const look = (): void => {
        if (acknowledged.length < wanted) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { acknowledged, hasAcknowledged, child, ended: once(child, 'close').then(([code]) => code) }
}

const readIds = async ({ target }: TestDatabase): Promise<string[]> => {
  const db = await openDatabase(target)
  const rows = await db.organization.findMany({ select: { id: true } })
  await db.close()
  return rows.map(({ id }) => id)
}

describe.each(databaseKinds)('a database, on $kind', { timeout: TIMEOUT_MS }, ({ create }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await create()
  })
  afterEach(() => database.drop())

  it('yields the thread between many concurrent writes', async () => {
    const db = await openDatabase(database.target)
    const { turns } = await countTurns(() =>
      Promise.all(Array.from({ length: WRITES }, (_, index) => db.organization.create({ data: { name: `${index}` } }))),
    )
    await db.close()
    // SQLite runs on this thread, and PostgreSQL's responses arrive in batches: without yielding, nothing else would run.
    expect(turns).toBeGreaterThan(WRITES / 20)
  })

  it('accepts concurrent writes from several processes', async () => {
    const writers = Array.from({ length: 4 }, () => startWriter(database.url, 25))
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(Array(4).fill(0))
    const acknowledged = writers.flatMap(writer => writer.acknowledged)
    expect(acknowledged).toHaveLength(100)
    expect((await readIds(database)).sort()).toEqual(acknowledged.sort())
  })

  it('keeps acknowledged writes after kill -9', async () => {
    const acknowledged: string[] = []
    for (let round = 1; round <= 2; round++) {
      const writer = startWriter(database.url, 1_000_000)
      await writer.hasAcknowledged(20 * round)
      writer.child.kill('SIGKILL')
      expect(await writer.ended).toBeNull()
      acknowledged.push(...writer.acknowledged)
    }
    expect(await readIds(database)).toEqual(expect.arrayContaining(acknowledged))
    if (database.target.kind === 'sqlite') {
      const connection = openRawSqlite(database.target, { busyTimeoutMs: 0 })
      expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
      connection.close()
    }
  })
})
