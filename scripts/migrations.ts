import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { POSTGRES_SCHEMA, SQLITE_SCHEMA } from './derive-schema.ts'
import { runPrisma } from './prisma.ts'

/** Contains a folder of migrations for each kind of database. */
export const MIGRATIONS_ROOT = join(import.meta.dirname, '../migrations')

/** A database's migrations, and the models that they should produce. */
export type Migrations = { directory: string; schema: string }

export const MIGRATIONS = {
  sqlite: { directory: join(MIGRATIONS_ROOT, 'sqlite'), schema: SQLITE_SCHEMA },
  postgresql: { directory: join(MIGRATIONS_ROOT, 'postgresql'), schema: POSTGRES_SCHEMA },
} as const satisfies Record<string, Migrations>

const AGREE = 0
const DIFFER = 2

/**
 * Returns the SQL that is missing from the migrations to produce the schema, or undefined if none is.
 *
 * Runs the migrations on a shadow database: in memory for SQLite, next to the database at `databaseUrl` for PostgreSQL.
 * Throws if Prisma fails.
 */
export const diffMigrations = ({ directory, schema }: Migrations, databaseUrl: string): string | undefined => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-migration-'))
  const sql = join(folder, 'next.sql')
  try {
    const { status, output } = runPrisma(databaseUrl, [
      ...['migrate', 'diff', '--script', '--exit-code', '--output', sql],
      ...['--from-migrations', directory, '--to-schema', schema],
    ])
    // Prisma also exits with 0 if its engine crashed, but only a successful run writes the file.
    if (existsSync(sql) && status === AGREE) return undefined
    if (existsSync(sql) && status === DIFFER) return readFileSync(sql, 'utf8')
    throw new Error(`prisma migrate diff did not tell (status ${status}):\n${output}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
