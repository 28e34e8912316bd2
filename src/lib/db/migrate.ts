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

/** Loads PostgreSQL's driver only when needed: every thread that uses a database imports this folder. */
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
 * Migrates the database and returns the names of the applied migrations. Creates a missing SQLite file. `directory`
 * contains `sqlite/` and `postgresql/`, with one folder per migration.
 *
 * Forward only. Each migration runs in a transaction of its own, under a lock that other processes wait for, and is
 * recorded in Prisma's own table with its hash. Throws a MigrationError if the database is not one this version may
 * migrate, or if a migration fails (it is then rolled back), and an AppError `unavailable` if the database cannot be
 * opened.
 */
export const migrate = (target: DatabaseTarget, directory: string): Promise<readonly string[]> =>
  namingFailures(target, async () => {
    const brought = readMigrations(directory, target.kind)
    const database = await open(target)
    try {
      const names: string[] = []
      // Most starts find nothing to do, and need no lock to find that out.
      if (planMigrations(brought, await database.readApplied()).length === 0) return names
      for (;;) {
        const name = await database.applyNext(brought)
        if (name === undefined) return names
        names.push(name)
      }
    } finally {
      await database.close()
    }
  })

/** `refusal` is why `migrate` would refuse; `pending` is then empty. */
export type MigrationState = { applied: readonly string[]; pending: readonly string[]; refusal?: MigrationError }

/**
 * Returns which migrations are applied and which are pending, for `doctor`. Changes nothing and creates no file. Throws
 * as `migrate` does.
 */
export const migrationState = (target: DatabaseTarget, directory: string): Promise<MigrationState> =>
  namingFailures(target, async () => {
    const brought = readMigrations(directory, target.kind)
    const rows = await readApplied(target)
    const applied = rows.map(({ name }) => name).sort()
    try {
      return { applied, pending: planMigrations(brought, rows).map(({ name }) => name) }
    } catch (error) {
      if (error instanceof MigrationError) return { applied, pending: [], refusal: error }
      throw error
    }
  })
