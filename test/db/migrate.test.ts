import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MigrationError, migrate, migrationState, openDatabase } from '../../src/platform/db/index.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY, type TestDatabase } from '../support/databases.ts'

const NEXT = '29991231000000_next'

describe.each(databaseKinds)('migrating on $kind', ({ kind, createEmpty }) => {
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
  const run = () => migrate(database.target, { directory })
  const state = () => migrationState(database.target, { directory })
  const refusal = (): Promise<MigrationError> =>
    run().then(
      names => expect.unreachable(`migrated ${names}`),
      (error: MigrationError) => error,
    )
  const landed = async (): Promise<readonly string[]> => (await state()).applied

  it('applies all there is to an empty database, once', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    const pending = (await state()).pending
    expect(pending).toContain(NEXT)
    expect(await run()).toEqual(pending)
    expect(await run()).toEqual([])
    expect(await state()).toEqual({ applied: pending, pending: [] })
  })

  it('looks without leaving a trace', async () => {
    const before = await state()
    expect(before.applied).toEqual([])
    expect(await state()).toEqual(before)
    expect(await run()).toEqual(before.pending)
  })

  it('refuses a database that a newer version has migrated, and changes nothing', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    await run()
    rmSync(pathOf(NEXT), { recursive: true })
    addMigration('CREATE TABLE "Other" ("id" TEXT PRIMARY KEY)', '29990101000000_other')
    expect(await refusal()).toMatchObject({
      name: 'MigrationError',
      reason: 'newer',
      message: expect.stringMatching(/newer Patchbay \(it holds 29991231000000_next\): .*restore a backup/),
    })
    expect((await state()).refusal).toMatchObject({ reason: 'newer' })
    expect(await landed()).not.toContain('29990101000000_other')
  })

  it('refuses a migration that was changed after it was applied', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    await run()
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY, "more" TEXT)')
    expect(await refusal()).toMatchObject({ reason: 'changed', message: expect.stringContaining(NEXT) })
  })

  it('refuses a database in which another tool began a migration and failed', async () => {
    await run()
    const db = await openDatabase(database.target)
    await db.$executeRaw`UPDATE "_prisma_migrations" SET "finished_at" = NULL`
    await db.close()
    expect(await refusal()).toMatchObject({ reason: 'unfinished', message: expect.stringContaining('foundation') })
  })

  it('leaves nothing of a migration that fails, keeps those before it, and goes on when it is mended', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY); INSERT INTO "Nowhere" VALUES (1);')
    expect(await refusal()).toMatchObject({
      reason: 'failed',
      message: expect.stringMatching(/_next failed .*Nowhere/),
    })
    expect(await landed()).toEqual([expect.stringContaining('foundation')])
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    expect(await run()).toEqual([NEXT])
  })

  it('has one of two processes migrate and the other find it done', async () => {
    addMigration('CREATE TABLE "Extra" ("id" TEXT PRIMARY KEY)')
    const all = (await state()).pending
    const results = await Promise.all(Array.from({ length: 4 }, () => migrateInProcess(database.url, directory)))
    expect(results.flat().sort()).toEqual(all)
  })
})

const migrateInProcess = async (url: string, directory: string): Promise<readonly string[]> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'migrate.process.ts'), url, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  return JSON.parse(output)
}
