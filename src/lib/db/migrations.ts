import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseKind } from './target.ts'

/** One folder of `migrations/<kind>`; `checksum` is the SHA-256 of the file, in hex, as Prisma keeps it. */
export type Migration = { name: string; sql: string; checksum: string }
/** A row of Prisma's table of applied migrations. */
export type AppliedMigration = { name: string; checksum: string; isFinished: boolean }

/** Why a database is not brought up to date; `message` says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly reason: 'newer' | 'changed' | 'unfinished' | 'failed' | 'missing'

  constructor(reason: MigrationError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The migrations that this program brings, in their order. `directory` holds a folder for each kind of database. */
export const readMigrations = (directory: string, kind: DatabaseKind): readonly Migration[] => {
  const folder = join(directory, kind)
  if (!existsSync(folder)) throw new MigrationError('missing', `no migrations are at ${folder}: install Patchbay again`)
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
 * The migrations still to apply. Throws a MigrationError when what was applied is not what this program brings: a
 * program that went on would read and write tables of another shape.
 */
export const planMigrations = (
  brought: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] => {
  const known = new Map(brought.map(migration => [migration.name, migration]))
  for (const { name, checksum, isFinished } of applied) {
    const migration = known.get(name)
    if (!migration) {
      const advice = 'start that version, or restore a backup made before the update'
      throw new MigrationError('newer', `the database was made by a newer Patchbay (it holds ${name}): ${advice}`)
    }
    if (!isFinished) {
      const advice = 'restore a backup, or finish it by hand and run "prisma migrate resolve"'
      throw new MigrationError('unfinished', `the migration ${name} was begun by another tool and failed: ${advice}`)
    }
    if (checksum !== migration.checksum) {
      const advice = 'restore the file as it was when it was applied; changes go into a new migration'
      throw new MigrationError('changed', `the migration ${name} is not the one that was applied: ${advice}`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  return brought.filter(({ name }) => !done.has(name))
}

/** A migration that the database refused; nothing of it remains. */
export const migrationFailed = (name: string, cause: unknown): MigrationError => {
  const why = cause instanceof Error ? cause.message : String(cause)
  const advice = 'the database is as it was before; start the version before, and report this'
  return new MigrationError('failed', `the migration ${name} failed (${why}): ${advice}`, { cause })
}

/** A database while it is migrated. */
export type MigratableDatabase = {
  /** Prisma's table of applied migrations; empty when it is not there. */
  readApplied: () => Promise<readonly AppliedMigration[]>
  /**
   * Under a lock that keeps other processes out, and in one transaction: reads what is applied, lets `choose` say what
   * is next, and applies it. Answers what it applied.
   */
  applyNext: (choose: (applied: readonly AppliedMigration[]) => Migration | undefined) => Promise<string | undefined>
  close: () => Promise<void>
}
