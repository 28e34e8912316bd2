import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { inject } from 'vitest'
import { MIGRATIONS_ROOT } from '../../scripts/migrations.ts'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import type { DatabaseKind, DatabaseTarget } from '../../src/lib/db/target.ts'
import './postgres.ts'
import { writeMigratedSqlite } from './sqlite.ts'

/** A database for one test. `url` is its DATABASE_URL. Call `drop` after all connections are closed. */
export type TestDatabase = { target: DatabaseTarget; url: string; drop: () => Promise<void> }

export type DatabaseKindForTests = {
  kind: DatabaseKind
  /** Migrated. */
  create: () => Promise<TestDatabase>
  /** Creates a database without tables. On SQLite, the file does not exist either. */
  createEmpty: () => Promise<TestDatabase>
}

export const MIGRATIONS_DIRECTORY = MIGRATIONS_ROOT

const createEmptySqlite = async (): Promise<TestDatabase & { file: string }> => {
  const folder = makeScratchFolder('patchbay-test-')
  const file = join(folder, 'patchbay.db')
  return {
    file,
    target: { kind: 'sqlite', file },
    url: `file:${file}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

const onServer = async (statement: string): Promise<void> => {
  const client = new Client({ connectionString: inject('postgres').adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

const createPostgres = async (template: string): Promise<TestDatabase> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(`CREATE DATABASE "${name}" TEMPLATE "${template}"`)
  const url = new URL(inject('postgres').adminUrl)
  url.pathname = `/${name}`
  return {
    target: { kind: 'postgresql', url: url.href },
    url: url.href,
    drop: () => onServer(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  }
}

/** Both databases, for `describe.each(databaseKinds)('… on $kind', ({ create }) => …)`. */
export const databaseKinds: readonly DatabaseKindForTests[] = [
  {
    kind: 'sqlite',
    createEmpty: createEmptySqlite,
    create: async () => {
      const database = await createEmptySqlite()
      await writeMigratedSqlite(database.file)
      return database
    },
  },
  {
    kind: 'postgresql',
    createEmpty: () => createPostgres('template1'),
    create: () => createPostgres(inject('postgres').template),
  },
]

const KIND_OF_RUN = process.env.TEST_DATABASE ?? 'sqlite'

/**
 * The one database of this run: SQLite, or PostgreSQL with TEST_DATABASE=postgresql, as in the last stage of `.ci/run`. For
 * tests of what both databases do alike; those of queries written for each use `databaseKinds`.
 */
export const databasesOfRun = databaseKinds.filter(({ kind }) => kind === KIND_OF_RUN)
