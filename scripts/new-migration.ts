import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { derivePostgresSchema } from './derive-schema.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { diffMigrations, MIGRATIONS } from './migrations.ts'

// Writes the next migration for both databases: the difference between prisma/schema.prisma and the existing
// migrations.
//
//     node scripts/new-migration.ts add_upstream_state
//     node scripts/new-migration.ts foundation --replace    rewrites the newest migration, as long as it has not landed
//
// Touches none of your databases: the migrations run on SQLite in memory and on a temporary PostgreSQL server.

const newestOf = (directory: string): string | undefined =>
  readdirSync(directory, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
    .sort()
    .at(-1)

const timestamp = (): string => new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)

/** Returns the folder name for the migration. With `replace`, removes the newest migration and reuses its name. */
const claimFolder = (name: string, replace: boolean): string => {
  if (!replace) return `${timestamp()}_${name}`
  const newest = newestOf(MIGRATIONS.sqlite.directory)
  if (newest === undefined || newest !== newestOf(MIGRATIONS.postgresql.directory) || !newest.endsWith(`_${name}`)) {
    throw new Error(`the newest migration is ${newest ?? 'not there'}, not one named ${name}: nothing was replaced`)
  }
  for (const { directory } of Object.values(MIGRATIONS)) rmSync(join(directory, newest), { recursive: true })
  return newest
}

/**
 * Defers the checks of NO ACTION references. Deleting an organization deletes both sides of such a reference. SQLite
 * checks at the end of the statement, but PostgreSQL would check in the middle of the cascade, in no guaranteed order.
 */
const deferChecks = (sql: string): string =>
  sql.replaceAll(/( ON DELETE NO ACTION ON UPDATE \w+);/g, '$1 DEFERRABLE INITIALLY DEFERRED;')

const run = async (): Promise<void> => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { replace: { type: 'boolean' } } })
  const name = positionals[0]
  if (!name || !/^[a-z][a-z0-9_]*$/.test(name)) throw new Error('give a name such as add_upstream_state')
  derivePostgresSchema()
  const folder = claimFolder(name, values.replace ?? false)
  const server = await startEmbeddedPostgres()
  const scratch = mkdtempSync(join(tmpdir(), 'patchbay-migration-'))
  try {
    const urls = { sqlite: `file:${join(scratch, 'none.db')}`, postgresql: server.urlOf('postgres') }
    for (const kind of ['sqlite', 'postgresql'] as const) {
      const sql = diffMigrations(MIGRATIONS[kind], urls[kind])
      if (sql === undefined) {
        console.log(`${kind}: models and migrations agree, nothing to write`)
        continue
      }
      const path = join(MIGRATIONS[kind].directory, folder)
      mkdirSync(path)
      writeFileSync(join(path, 'migration.sql'), kind === 'postgresql' ? deferChecks(sql) : sql)
      console.log(relative(process.cwd(), join(path, 'migration.sql')))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    await server.stop()
  }
}

await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
