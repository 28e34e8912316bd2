// Writes organizations, alternating between transactions and plain writes. Prints each id once the database has
// acknowledged it. Arguments: the database URL and the number of organizations.
import { openDatabase, transact } from '../../../src/lib/db/client.ts'
import { parseDatabaseUrl } from '../../../src/lib/db/target.ts'

const [url = '', count = '0'] = process.argv.slice(2)
const target = parseDatabaseUrl(url)
if (!target.ok) throw new Error(target.error)
const db = await openDatabase(target.value)
for (let written = 0; written < Number(count); written++) {
  const data = { name: `written by ${process.pid}` }
  const { id } =
    written % 2 === 0
      ? await transact(db, async tx => {
          // Like the services, this reads before it writes: a lock taken at the first write would be too late.
          await tx.organization.count()
          return tx.organization.create({ data })
        })
      : await db.organization.create({ data })
  process.stdout.write(`${id}\n`)
}
await db.close()
