import type { Database } from './client.ts'

/**
 * The condition of a column that holds a text somewhere, whatever the case of letters; of SQLite's, of ASCII letters.
 * There `%` and `_` in the text stand for anything, since nothing can be said to be literal: it finds more, never less.
 */
export const containing = ({ kind }: Pick<Database, 'kind'>, text: string) =>
  kind === 'sqlite'
    ? { contains: text }
    : // The client takes the wildcards as they are, and PostgreSQL the backslash as what makes them literal.
      { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const }
