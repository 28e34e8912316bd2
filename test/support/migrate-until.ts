import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import { migrate } from '../../src/lib/db/migrate.ts'
import { MIGRATIONS_DIRECTORY, type TestDatabase } from './databases.ts'

/**
 * Applies the migrations before one, as the version before it did. Returns the name of that migration. `ending` is the
 * end of its name, such as `_private_servers`.
 */
export const migrateUntil = async ({ target }: TestDatabase, ending: string): Promise<string> => {
  const folder = makeScratchFolder('patchbay-test-')
  try {
    cpSync(MIGRATIONS_DIRECTORY, folder, { recursive: true })
    const names = readdirSync(join(folder, target.kind)).sort()
    const own = names.find(name => name.endsWith(ending))
    if (own === undefined) throw new Error(`no migration ends in ${ending}`)
    for (const name of names.filter(each => each >= own && each !== 'migration_lock.toml')) {
      rmSync(join(folder, target.kind, name), { recursive: true })
    }
    await migrate(target, folder)
    return own
  } finally {
    rmSync(folder, { recursive: true })
  }
}
