import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
export const SQLITE_SCHEMA = join(ROOT, 'prisma/schema.prisma')
/** Not in git: it is generated from the SQLite schema each time, so it cannot become stale. */
export const POSTGRES_SCHEMA = join(ROOT, 'prisma/postgresql/schema.prisma')

/** Replaces text that must occur exactly once, so that an unexpected schema layout causes an error. */
const replaceOnce = (text: string, from: string, to: string): string => {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`prisma/schema.prisma should hold ${JSON.stringify(from)} exactly once`)
  return parts.join(to)
}

const JSON_FIELD = /^( +\w+ +Json\??)(?= |$)/gm

/**
 * Returns the schema for PostgreSQL, with another provider, another folder for the client, and JSON stored as text, as
 * on SQLite. The jsonb type would sort keys and reject the lone surrogates and NULs that a JSON string may contain.
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
