import { Command } from 'commander'
import { migrateDatabase } from '../migrate-database.ts'
import { loadSettings } from '../platform/settings.ts'
import { print } from './output.ts'

export const migrateCommand = (): Command =>
  new Command('migrate')
    .description('bring the database to what this version needs; serve does it as well')
    .option('--json', 'print one JSON value')
    .action(async (options: { json?: boolean }) => {
      const applied = await migrateDatabase(loadSettings().database)
      print(options, { applied }, applied.length === 0 ? ['Nothing to do.'] : applied.map(name => `applied ${name}`))
    })
