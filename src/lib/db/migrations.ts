import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseKind } from './target.ts'

/** A folder in `migrations/<kind>`. `checksum` is the SHA-256 of `sql` in hex, as Prisma stores it. */
export type Migration = { name: string; sql: string; checksum: string }
/** A row of Prisma's table of applied migrations. */
export type AppliedMigration = { name: string; checksum: string; isFinished: boolean }

/** Thrown if a database cannot be migrated. `message` says why and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** Returns this version's migrations in order. `directory` contains one folder per kind of database. */
export const readMigrations = (directory: string, kind: DatabaseKind): readonly Migration[] => {
  const folder = join(directory, kind)
  if (!existsSync(folder)) throw new MigrationError(`there are no migrations at ${folder}: reinstall Patchbay`)
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map(name => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
}

/**
 * Returns the pending migrations. Throws a MigrationError if the applied migrations do not match this version's,
 * because the tables might not be what the code expects.
 */
export const planMigrations = (
  bundled: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] => {
  const known = new Map(bundled.map(migration => [migration.name, migration]))
  for (const { name, checksum, isFinished } of applied) {
    const migration = known.get(name)
    if (!migration) {
      const advice = 'start that version, or restore a backup from before the update'
      throw new MigrationError(`a newer Patchbay has migrated the database (migration ${name}): ${advice}`)
    }
    if (!isFinished) {
      const advice = 'restore a backup, or finish it manually and run "prisma migrate resolve"'
      throw new MigrationError(`another tool started the migration ${name}, which failed: ${advice}`)
    }
    if (checksum !== migration.checksum) {
      const advice = 'restore the original file, and put changes into a new migration'
      throw new MigrationError(`the migration ${name} has changed since it was applied: ${advice}`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  return bundled.filter(({ name }) => !done.has(name))
}

/** Returns the error for a migration that failed and was rolled back. */
export const migrationFailed = (name: string, cause: unknown): MigrationError => {
  const why = cause instanceof Error ? cause.message : String(cause)
  const advice = 'the database is unchanged; start the previous version, and report this'
  return new MigrationError(`the migration ${name} failed (${why}): ${advice}`, { cause })
}

/** A connection that applies migrations. */
export type MigratableDatabase = {
  /** Returns the rows of Prisma's table of applied migrations, or an empty list if the table does not exist. */
  readApplied: () => Promise<readonly AppliedMigration[]>
  /**
   * Applies the first pending migration and returns its name, or undefined if none is pending. Plans and applies it in
   * one transaction, under a lock that excludes other processes.
   */
  applyNext: (bundled: readonly Migration[]) => Promise<string | undefined>
  close: () => Promise<void>
}
