import { Command } from 'commander'
import { migrateDatabase } from '../installation.ts'
import { loadSettings } from '../lib/process/settings.ts'
import { print } from './output.ts'

export const migrateCommand = (): Command =>
  new Command('migrate').option('--json', 'print one JSON value').action(async (options: { json?: boolean }) => {
    const applied = await migrateDatabase(loadSettings().database)
    print(
      options,
      { applied },
      applied.length === 0 ? ['The database is up to date.'] : applied.map(name => `applied ${name}`),
    )
  })
