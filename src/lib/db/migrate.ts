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

/** `directory` holds `sqlite/` and `postgresql/`, each with a folder for each migration. */
export type MigrationOptions = { directory: string }

/** PostgreSQL's driver is loaded only where it is used: this folder is part of every thread that touches a database. */
const open = async (target: DatabaseTarget): Promise<MigratableDatabase> =>
  target.kind === 'sqlite'
    ? openSqliteMigrations(target)
    : (await import('./migrate-postgres.ts')).openPostgresMigrations(target)

const readAppliedOf = async (target: DatabaseTarget): Promise<readonly AppliedMigration[]> => {
  if (target.kind === 'sqlite' && !existsSync(target.file)) return []
  const database = await open(target)
  try {
    return await database.readApplied()
  } finally {
    await database.close()
  }
}

/**
 * Brings the database up to date and answers the names of what it applied; an SQLite file that is not there is made.
 *
 * Forward only. Each migration runs in a transaction of its own, under a lock that other processes wait for, and is
 * entered in Prisma's own table with its hash. Throws a MigrationError when the database is not one this program may
 * touch, or a migration fails (then nothing of it remains), and an AppError `unavailable` when it cannot be opened.
 */
export const migrate = (target: DatabaseTarget, { directory }: MigrationOptions): Promise<readonly string[]> =>
  namingFailures(target, async () => {
    const brought = readMigrations(directory, target.kind)
    const database = await open(target)
    try {
      const names: string[] = []
      // Most starts find nothing to do, and need no lock to learn it.
      if (planMigrations(brought, await database.readApplied()).length === 0) return names
      for (;;) {
        const name = await database.applyNext(applied => planMigrations(brought, applied)[0])
        if (name === undefined) return names
        names.push(name)
      }
    } finally {
      await database.close()
    }
  })

/** `refusal` is why `migrate` would refuse; then `pending` is empty. */
export type MigrationState = { applied: readonly string[]; pending: readonly string[]; refusal?: MigrationError }

/** How far the database is, for `doctor`: changes nothing, makes no file. Throws as `migrate` does. */
export const migrationState = (target: DatabaseTarget, { directory }: MigrationOptions): Promise<MigrationState> =>
  namingFailures(target, async () => {
    const brought = readMigrations(directory, target.kind)
    const rows = await readAppliedOf(target)
    const applied = rows.map(({ name }) => name).sort()
    try {
      return { applied, pending: planMigrations(brought, rows).map(({ name }) => name) }
    } catch (error) {
      if (error instanceof MigrationError) return { applied, pending: [], refusal: error }
      throw error
    }
  })
