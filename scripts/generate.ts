import { derivePostgresSchema } from './derive-schema.ts'
import { lightenClient } from './lighten-client.ts'
import { runPrisma } from './prisma.ts'

// Generates both clients from the same models. No database is opened: the URL only selects the kind of database.
derivePostgresSchema()
for (const url of ['file:none.db', 'postgresql://localhost/none']) {
  const { status, output } = runPrisma(url, ['generate'])
  if (status !== 0) {
    console.error(output)
    process.exit(1)
  }
}
lightenClient('sqlite')
lightenClient('postgresql')
