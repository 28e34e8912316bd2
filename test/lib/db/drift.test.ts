import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { POSTGRES_SCHEMA, SQLITE_SCHEMA, toPostgresSchema } from '../../../scripts/derive-schema.ts'
import { diffMigrations, MIGRATIONS } from '../../../scripts/migrations.ts'
import { runPrisma } from '../../../scripts/prisma.ts'
import { migrate } from '../../../src/lib/db/migrate.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY, type TestDatabase } from '../../support/databases.ts'

/** Each run of the Prisma CLI takes a second or two. */
const TIMEOUT_MS = 60_000

it('the PostgreSQL models are derived from the one set of models', () => {
  expect(readFileSync(POSTGRES_SCHEMA, 'utf8')).toBe(toPostgresSchema(readFileSync(SQLITE_SCHEMA, 'utf8')))
})

describe.each(databaseKinds)('the migrations of $kind', { timeout: TIMEOUT_MS }, ({ kind, createEmpty }) => {
  let database: TestDatabase
  let folder: string
  beforeAll(async () => {
    database = await createEmpty()
    folder = mkdtempSync(join(tmpdir(), 'patchbay-test-'))
  })
  afterAll(async () => {
    await database.drop()
    rmSync(folder, { recursive: true })
  })

  it('produce the models', () => {
    expect(diffMigrations(MIGRATIONS[kind], database.url)).toBeUndefined()
  })

  it.runIf(kind === 'sqlite')('differ from models with another column and another deletion rule', () => {
    const schema = join(folder, 'changed.prisma')
    const text = readFileSync(MIGRATIONS[kind].schema, 'utf8')
    const changed = text
      .replace('model User {', 'model User {\n  nickname String?')
      .replace('onDelete: NoAction', 'onDelete: Cascade')
    writeFileSync(schema, changed)
    const sql = diffMigrations({ ...MIGRATIONS[kind], schema }, database.url)
    expect(sql).toMatch(/ADD COLUMN.*"nickname"/)
    expect(sql).toMatch(/ON DELETE CASCADE/)
  })

  it.runIf(kind === 'sqlite')('fail the comparison if the models cannot be read', () => {
    const schema = join(folder, 'none.prisma')
    expect(() => diffMigrations({ ...MIGRATIONS[kind], schema }, database.url)).toThrow()
  })

  it("count as applied for Prisma's own tool once Patchbay has applied them", async () => {
    // Comparing leaves an empty file, which Patchbay refuses.
    const own = await createEmpty()
    onTestFinished(own.drop)
    await migrate(own.target, MIGRATIONS_DIRECTORY)
    expect(runPrisma(own.url, ['migrate', 'status'])).toMatchObject({
      status: 0,
      output: expect.stringContaining('up to date'),
    })
  })
})
