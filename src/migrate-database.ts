import { migrate } from './lib/db/migrate.ts'
import type { DatabaseTarget } from './lib/db/target.ts'
import { MIGRATIONS_DIRECTORY } from './lib/process/version.ts'

/** Brings a database to where this program wants it; answers the names of the migrations that were applied. */
export const migrateDatabase = (target: DatabaseTarget): Promise<readonly string[]> =>
  migrate(target, { directory: MIGRATIONS_DIRECTORY })
