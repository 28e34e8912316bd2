import { derivePostgresSchema } from './derive-schema.ts'
import { lightenClient } from './lighten-client.ts'
import { runPrisma } from './prisma.ts'

// Makes both generated clients from the one set of models. Neither database is opened: the URL only says which.
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
