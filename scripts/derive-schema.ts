import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
export const SQLITE_SCHEMA = join(ROOT, 'prisma/schema.prisma')
/** Not in git: it holds nothing of its own, so it is made anew at every generate and cannot go stale. */
export const POSTGRES_SCHEMA = join(ROOT, 'prisma/postgresql/schema.prisma')

/** Replaces what must be there exactly once: a schema laid out differently must not pass unchanged. */
const replaceOnce = (text: string, from: string, to: string): string => {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`prisma/schema.prisma should hold ${JSON.stringify(from)} exactly once`)
  return parts.join(to)
}

const JSON_FIELD = /^( +\w+ +Json\??)(?= |$)/gm

/**
 * The same models for PostgreSQL: the provider and the place of the generated client differ, and JSON is kept as
 * text is on SQLite. jsonb would sort keys, and refuse the lone surrogates and NULs that a JSON string may hold.
 */
export const toPostgresSchema = (schema: string): string => {
  const provider = replaceOnce(schema, 'provider = "sqlite"', 'provider = "postgresql"')
  const output = replaceOnce(provider, '"../src/lib/db/generated/sqlite"', '"../../src/lib/db/generated/postgresql"')
  const models = output.replaceAll(JSON_FIELD, '$1 @db.Json')
  return `// Derived from ../schema.prisma by scripts/derive-schema.ts: change that file, not this one.\n${models}`
}

export const derivePostgresSchema = (): void => {
  mkdirSync(dirname(POSTGRES_SCHEMA), { recursive: true })
  writeFileSync(POSTGRES_SCHEMA, toPostgresSchema(readFileSync(SQLITE_SCHEMA, 'utf8')))
}
