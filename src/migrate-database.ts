import { migrate } from './lib/db/migrate.ts'
import type { DatabaseTarget } from './lib/db/target.ts'
import { MIGRATIONS_DIRECTORY } from './lib/process/version.ts'

/** Applies pending migrations and returns their names. */
export const migrateDatabase = (target: DatabaseTarget): Promise<readonly string[]> =>
  migrate(target, { directory: MIGRATIONS_DIRECTORY })
