import { randomUUID } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sqliteEmpty } from './failures.ts'
import {
  type AppliedMigration,
  type MigratableDatabase,
  type Migration,
  migrationFailed,
  planMigrations,
} from './migrations.ts'
import { openRawSqlite, type RawSqlite } from './sqlite.ts'
import type { SqliteTarget } from './target.ts'

/** How long to wait while another process migrates. Enough to rebuild a table with millions of rows. */
const LOCK_WAIT_MS = 60_000

/** Exactly the table that Prisma's engine creates, so that `prisma migrate` accepts it. */
const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
)`

const readApplied = (connection: RawSqlite): readonly AppliedMigration[] => {
  const table = connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '_prisma_migrations'`).get()
  if (table === undefined) return []
  return connection
    .prepare<[], { name: string; checksum: string; finished: unknown }>(
      `SELECT "migration_name" AS name, "checksum", "finished_at" AS finished
       FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
    )
    .all()
    .map(({ name, checksum, finished }) => ({ name, checksum, isFinished: finished !== null }))
}

const runScript = (connection: RawSqlite, { name, sql }: Migration): void => {
  try {
    connection.exec(sql)
    const broken = connection.prepare('PRAGMA foreign_key_check').all()
    if (broken.length > 0) throw new Error(`it leaves ${broken.length} rows with invalid references`)
  } catch (error) {
    throw migrationFailed(name, error)
  }
}

const apply = (connection: RawSqlite, migration: Migration): void => {
  runScript(connection, migration)
  const now = Date.now()
  connection
    .prepare(
      `INSERT INTO "_prisma_migrations"
       ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count") VALUES (?, ?, ?, ?, ?, 1)`,
    )
    .run(randomUUID(), migration.checksum, migration.name, now, now)
}

/** Time within which another process that has created the file also writes to it. */
const CREATION_MS = 3_000
const LOOK_AGAIN_MS = 50

const isEmpty = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === 0

/**
 * Throws if the file is empty and stays so. SQLite takes an empty file for a new database, so the loss of a file's
 * contents would go unnoticed.
 */
const assertNotEmptied = async (file: string): Promise<void> => {
  const deadline = performance.now() + CREATION_MS
  while (isEmpty(file)) {
    if (performance.now() > deadline) throw sqliteEmpty(file)
    await delay(LOOK_AGAIN_MS)
  }
}

/** Opens the file for migration. Creates the file and its folder if they do not exist. */
export const openSqliteMigrations = async (target: SqliteTarget): Promise<MigratableDatabase> => {
  mkdirSync(dirname(target.file), { recursive: true, mode: 0o700 }) // The database contains password hashes.
  await assertNotEmptied(target.file)
  const connection = openRawSqlite(target, { busyTimeoutMs: LOCK_WAIT_MS, fileMustExist: false })
  return {
    readApplied: async () => readApplied(connection),
    applyNext: async bundled => {
      // Rebuilding a table drops the old table, which must not cascade. The pragma has no effect inside a transaction.
      connection.pragma('foreign_keys = OFF')
      connection.exec('BEGIN IMMEDIATE')
      try {
        connection.exec(BOOKKEEPING)
        const [next] = planMigrations(bundled, readApplied(connection))
        if (next) apply(connection, next)
        connection.exec('COMMIT')
        return next?.name
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK')
        throw error
      }
    },
    close: async () => {
      connection.close()
    },
  }
}
