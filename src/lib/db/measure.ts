import type { Database } from './client.ts'

/** Returns the size of the database on disk in bytes. On SQLite, the size excludes the journal. */
export const measureDatabase = async (db: Database): Promise<number> => {
  const [row] =
    db.kind === 'sqlite'
      ? await db.$queryRaw<{ bytes: bigint }[]>`
          SELECT page_count * page_size AS "bytes" FROM pragma_page_count(), pragma_page_size()`
      : await db.$queryRaw<{ bytes: bigint }[]>`SELECT pg_database_size(current_database()) AS "bytes"`
  return Number(row?.bytes ?? 0)
}
