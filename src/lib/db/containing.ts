import type { Database } from './client.ts'

type Kind = Pick<Database, 'kind'>

/** Prisma does not escape wildcards. PostgreSQL takes them literally after a backslash. */
const escapeWildcards = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/**
 * Returns a filter for columns that contain the text. Ignores case (on SQLite, only for ASCII letters). On SQLite, `%`
 * and `_` in the text are wildcards because Prisma cannot escape them, so the filter may match too many rows but never
 * too few.
 */
export const containing = ({ kind }: Kind, text: string) =>
  kind === 'sqlite' ? { contains: text } : { contains: escapeWildcards(text), mode: 'insensitive' as const }

/** Returns a filter for columns that start with the text, with the same limitations as `containing`. */
export const startingWith = ({ kind }: Kind, text: string) =>
  kind === 'sqlite' ? { startsWith: text } : { startsWith: escapeWildcards(text), mode: 'insensitive' as const }
