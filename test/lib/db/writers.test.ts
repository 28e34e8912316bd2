import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { countTurns } from '../../support/count-turns.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

/** Several processes start at once, possibly on two cores. */
const TIMEOUT_MS = 120_000
const WRITES = 200

/** Runs a process that writes. Returns the ids that the database has acknowledged. */
const runWriter = async (url: string, count: number): Promise<string[]> => {
  const file = join(import.meta.dirname, 'writer.process.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [file, url, String(count)])
  return stdout.trim().split('\n')
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
    const written = await Promise.all(Array.from({ length: 4 }, () => runWriter(database.url, 25)))
    const acknowledged = written.flat()
    expect(acknowledged).toHaveLength(100)
    expect((await readIds(database)).sort()).toEqual(acknowledged.sort())
  })
})
