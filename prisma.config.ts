import { join } from 'node:path'
import { defineConfig } from 'prisma/config'

// The standard Prisma CLI works on either database: DATABASE_URL says which (default: SQLite).
const url = process.env.DATABASE_URL ?? 'file:./data/patchbay.db'
const isPostgres = /^postgres(ql)?:/.test(url)

// Instead of a binary that Prisma would download.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= join(import.meta.dirname, 'scripts/schema-engine.mjs')

export default defineConfig({
  schema: isPostgres ? 'prisma/postgresql/schema.prisma' : 'prisma/schema.prisma',
  migrations: { path: isPostgres ? 'migrations/postgresql' : 'migrations/sqlite' },
  datasource: { url },
})
