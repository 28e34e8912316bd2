import { join, raw, sqltag as sql } from '@prisma/client/runtime/client'
import type { Transaction } from './client.ts'

/** JSON is given as text. */
type Column = string | number | boolean | null

/** Rows per INSERT statement. SQLite allows 32,766 values in one. */
const ROWS_PER_STATEMENT = 250

/**
 * Inserts rows that all have the same columns into a table with `createdAt` and `updatedAt`, which it sets. Takes about
 * a fifth of the time of `createMany`, which plans every value of every row. `table` and the names of the columns are
 * written into the statement as they are.
 */
export const insertRows = async (
  tx: Transaction,
  table: string,
  rows: readonly Readonly<Record<string, Column>>[],
): Promise<void> => {
  const now = new Date()
  const names = [...Object.keys(rows[0] ?? {}), 'createdAt', 'updatedAt']
  const columns = raw(names.map(name => `"${name}"`).join(', '))
  for (let first = 0; first < rows.length; first += ROWS_PER_STATEMENT) {
    const values = rows
      .slice(first, first + ROWS_PER_STATEMENT)
      .map(row => sql`(${join(names.map(name => row[name] ?? (name.endsWith('edAt') ? now : null)))})`)
    await tx.$executeRaw(sql`INSERT INTO ${raw(`"${table}"`)} (${columns}) VALUES ${join(values)}`)
  }
}
