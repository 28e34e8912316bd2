import type { Database } from './client.ts'

/**
 * Returns a filter for columns that contain the text. Ignores case (on SQLite, only for ASCII letters). On SQLite, `%`
 * and `_` in the text are wildcards because Prisma cannot escape them, so the filter may match too many rows but never
 * too few.
 */
export const containing = ({ kind }: Pick<Database, 'kind'>, text: string) =>
  kind === 'sqlite'
    ? { contains: text }
    : // Prisma does not escape wildcards. PostgreSQL takes them literally after a backslash.
      { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const }
