// Migrates the database and prints the applied migrations as JSON. Arguments: the database URL and the folder of
// migrations.
import { migrate } from '../../../src/lib/db/migrate.ts'
import { parseDatabaseUrl } from '../../../src/lib/db/target.ts'

const [url = '', directory = ''] = process.argv.slice(2)
const target = parseDatabaseUrl(url)
if (!target.ok) throw new Error(target.error)
process.stdout.write(JSON.stringify(await migrate(target.value, directory)))
