import type { Database } from './client.ts'

/**
 * Returns a case-insensitive "contains" filter for a column (on SQLite, for ASCII letters only). On SQLite `%` and `_`
 * in the text are wildcards, since Prisma cannot escape them: the filter may match too much, never too little.
 */
export const containing = ({ kind }: Pick<Database, 'kind'>, text: string) =>
  kind === 'sqlite'
    ? { contains: text }
    : // Prisma passes wildcards through, and PostgreSQL treats them literally after a backslash.
      { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const }
