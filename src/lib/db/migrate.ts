import { existsSync } from 'node:fs'
import { namingFailures } from './failures.ts'
import { openSqliteMigrations } from './migrate-sqlite.ts'
import {
  type AppliedMigration,
  type MigratableDatabase,
  MigrationError,
  planMigrations,
  readMigrations,
} from './migrations.ts'
import type { DatabaseTarget } from './target.ts'

/** Loads the PostgreSQL driver only when needed, because threads that use SQLite import this file too. */
const open = async (target: DatabaseTarget): Promise<MigratableDatabase> =>
  target.kind === 'sqlite'
    ? openSqliteMigrations(target)
    : (await import('./migrate-postgres.ts')).openPostgresMigrations(target)

const readApplied = async (target: DatabaseTarget): Promise<readonly AppliedMigration[]> => {
  if (target.kind === 'sqlite' && !existsSync(target.file)) return []
  const database = await open(target)
  try {
    return await database.readApplied()
  } finally {
    await database.close()
  }
}

/**
 * Migrates the database and returns the names of the applied migrations. Creates the SQLite file if it is missing.
 * `directory` contains `sqlite/` and `postgresql/`, with one folder per migration. Migrates forward only. Each
 * migration runs in its own transaction, under a lock that other processes wait for, and is recorded in Prisma's table
 * with its hash. Throws a MigrationError if this version cannot migrate the database or if a migration fails, in which
 * case that migration is rolled back. Throws an AppError `unavailable` if the database cannot be opened.
 */
export const migrate = (target: DatabaseTarget, directory: string): Promise<readonly string[]> =>
  namingFailures(target, async () => {
    const bundled = readMigrations(directory, target.kind)
    const database = await open(target)
    try {
      const names: string[] = []
      // Usually no migration is pending, and checking needs no lock.
      if (planMigrations(bundled, await database.readApplied()).length === 0) return names
      for (;;) {
        const name = await database.applyNext(bundled)
        if (name === undefined) return names
        names.push(name)
      }
    } finally {
      await database.close()
    }
  })

/** `refusal` is the error that `migrate` would throw. If it is set, `pending` is empty. */
export type MigrationState = { applied: readonly string[]; pending: readonly string[]; refusal?: MigrationError }

/**
 * Returns the names of applied and pending migrations for `doctor`. Makes no changes and creates no file. Throws an
 * AppError `unavailable` if the database cannot be opened.
 */
export const migrationState = (target: DatabaseTarget, directory: string): Promise<MigrationState> =>
  namingFailures(target, async () => {
    const bundled = readMigrations(directory, target.kind)
    const rows = await readApplied(target)
    const applied = rows.map(({ name }) => name).sort()
    try {
      return { applied, pending: planMigrations(bundled, rows).map(({ name }) => name) }
    } catch (error) {
      if (error instanceof MigrationError) return { applied, pending: [], refusal: error }
      throw error
    }
  })
