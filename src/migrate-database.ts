import { type DatabaseTarget, migrate } from './platform/db/index.ts'
import { MIGRATIONS_DIRECTORY } from './version.ts'

/** Brings a database to where this program wants it; answers the names of the migrations that were applied. */
export const migrateDatabase = (target: DatabaseTarget): Promise<readonly string[]> =>
  migrate(target, { directory: MIGRATIONS_DIRECTORY })
