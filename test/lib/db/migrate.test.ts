import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { migrate, migrationState } from '../../../src/lib/db/migrate.ts'
import type { MigrationError } from '../../../src/lib/db/migrations.ts'
import { toPgConfig } from '../../../src/lib/db/postgres.ts'
import { openRawSqlite } from '../../../src/lib/db/sqlite.ts'
import type { DatabaseTarget } from '../../../src/lib/db/target.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY, type TestDatabase } from '../../support/databases.ts'

const NEXT = '29991231000000_next'

describe.each(databaseKinds)('a migration, on $kind', ({ kind, createEmpty }) => {
  let database: TestDatabase
  let directory: string
  beforeEach(async () => {
    database = await createEmpty()
    directory = mkdtempSync(join(tmpdir(), 'patchbay-test-'))
    cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true })
  })
  afterEach(async () => {
    rmSync(directory, { recursive: true })
    await database.drop()
  })

  const pathOf = (name: string): string => join(directory, kind, name)
  const addMigration = (sql: string, name = NEXT): void => {
    mkdirSync(pathOf(name), { recursive: true })
    writeFileSync(join(pathOf(name), 'migration.sql'), sql)
  }
  const run = () => migrate(database.target, directory)
  const state = () => migrationState(database.target, directory)
  const refusal = (): Promise<MigrationError> =>
    run().then(
      names => expect.unreachable(`migrated ${names}`),
      (error: MigrationError) => error,
    )
  const landed = async (): Promise<readonly string[]> => (await state()).applied

  it('applies everything to an empty database, once', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    const pending = (await state()).pending
    expect(pending).toContain(NEXT)
    expect(await run()).toEqual(pending)
    expect(await run()).toEqual([])
    expect(await state()).toEqual({ applied: pending, pending: [] })
  })

  it('checks without changing anything', async () => {
    const before = await state()
    expect(before.applied).toEqual([])
    expect(await state()).toEqual(before)
    expect(await run()).toEqual(before.pending)
  })

  it('refuses a database that a newer version has migrated, without changes', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    await run()
    rmSync(pathOf(NEXT), { recursive: true })
    addMigration('CREATE TABLE "Other" ("id" TEXT PRIMARY KEY)', '29990101000000_other')
    expect(await refusal()).toMatchObject({
      name: 'MigrationError',
      message: expect.stringMatching(/newer Patchbay .*\(migration 29991231000000_next\): .*restore a backup/),
    })
    expect((await state()).refusal).toMatchObject({ message: expect.stringContaining('newer Patchbay') })
    expect(await landed()).not.toContain('29990101000000_other')
  })

  it('refuses a migration that was changed after it was applied', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    await run()
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY, "more" TEXT)')
    expect(await refusal()).toMatchObject({ message: expect.stringContaining(`${NEXT} has changed`) })
  })

  it("refuses a database in which another tool's migration failed", async () => {
    await run()
    const db = await openDatabase(database.target)
    await db.$executeRaw`UPDATE "_prisma_migrations" SET "finished_at" = NULL`
    await db.close()
    expect(await refusal()).toMatchObject({ message: expect.stringMatching(/another tool started .*foundation/) })
  })

  it('rolls back a failing migration, keeps earlier ones, and continues once it is fixed', async () => {
    const ours = (await state()).pending
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY); INSERT INTO "Nowhere" VALUES (1);')
    expect(await refusal()).toMatchObject({ message: expect.stringMatching(/_next failed .*Nowhere/) })
    expect(await landed()).toEqual(ours)
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    expect(await run()).toEqual([NEXT])
  })

  it('is applied by one of many processes that start together', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    const all = (await state()).pending
    const processes = Array.from({ length: 4 }, () => startMigration(database.url, directory))
    const applied = await Promise.all(processes.map(({ answer }) => answer))
    expect(applied.flat().sort()).toEqual(all)
  })

  it('that is killed halfway leaves nothing, and succeeds when it is repeated', async () => {
    await run()
    addMigration(`CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY); ${SLOW[kind]}`)
    const { child, ended } = startMigration(database.url, directory)
    await vi.waitFor(() => expectMigrating(database.target), { timeout: 10_000, interval: 10 })
    child.kill('SIGKILL')
    await ended
    expect((await state()).pending).toEqual([NEXT])
    expect(await run()).toEqual([NEXT])
  })
})

/** SQL that takes about a second in the middle of a migration. */
const SLOW = {
  sqlite: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT count(*) FROM n;`,
  postgresql: 'SELECT pg_sleep(1.5);',
}

/** Throws unless another process is in the middle of a migration. */
const expectMigrating = async (target: DatabaseTarget): Promise<void> => {
  if (target.kind === 'sqlite') {
    const connection = openRawSqlite(target, { busyTimeoutMs: 0 })
    try {
      expect(() => connection.exec('BEGIN IMMEDIATE')).toThrow('locked')
    } finally {
      connection.close()
    }
    return
  }
  const client = new Client(toPgConfig(target))
  await client.connect()
  const { rows } = await client.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  )
  await client.end()
  expect(rows).toHaveLength(1)
}

/** Starts a migration in another process. `answer` resolves to the migrations that the process applied. */
const startMigration = (url: string, directory: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'migrate.process.ts'), url, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  const ended = once(child, 'close')
  const answer = ended.then(([code]): readonly string[] => {
    expect(code).toBe(0)
    return JSON.parse(output)
  })
  answer.catch(() => undefined) // killed without warning
  return { child, ended, answer }
}
