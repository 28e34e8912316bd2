import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

/** The tables as reported by the database, with columns in order. */
type Catalogue = {
  tables: readonly string[]
  columns: readonly { table: string; name: string }[]
  foreignKeys: readonly { table: string; columns: readonly string[] }[]
  indexes: readonly { table: string; columns: readonly string[] }[]
}

type ColumnsRow = { table: string; columns: string }
const parseColumns = (rows: readonly ColumnsRow[]) =>
  rows.map(({ table, columns }) => ({ table, columns: columns.split(',') }))

const readSqlite = async (db: OpenDatabase): Promise<Catalogue> => {
  const columns = await db.$queryRaw<{ table: string; name: string }[]>`
    SELECT m.name AS "table", c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`
  const foreignKeys = await db.$queryRaw<ColumnsRow[]>`
    SELECT m.name AS "table", group_concat(f."from", ',') AS columns
    FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' GROUP BY m.name, f.id`
  const indexes = await db.$queryRaw<ColumnsRow[]>`
    SELECT m.name AS "table", group_concat(c.name, ',' ORDER BY c.seqno) AS columns
    FROM sqlite_schema m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
    WHERE m.type = 'table' GROUP BY m.name, i.name`
  return {
    tables: [...new Set(columns.map(({ table }) => table))],
    columns,
    foreignKeys: parseColumns(foreignKeys),
    indexes: parseColumns(indexes),
  }
}

const readPostgres = async (db: OpenDatabase): Promise<Catalogue> => {
  const columns = await db.$queryRaw<{ table: string; name: string }[]>`
    SELECT table_name AS "table", column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`
  const foreignKeys = await db.$queryRaw<ColumnsRow[]>`
    SELECT t.relname AS "table",
      (SELECT string_agg(a.attname, ',' ORDER BY k.n)
       FROM unnest(c.conkey) WITH ORDINALITY k(attnum, n)
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.attnum) AS columns
    FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid WHERE c.contype = 'f'`
  const indexes = await db.$queryRaw<ColumnsRow[]>`
    SELECT t.relname AS "table",
      (SELECT string_agg(a.attname, ',' ORDER BY k.n)
       FROM unnest(i.indkey) WITH ORDINALITY k(attnum, n)
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) AS columns
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
    WHERE s.nspname = 'public'`
  return {
    tables: [...new Set(columns.map(({ table }) => table))],
    columns,
    foreignKeys: parseColumns(foreignKeys),
    indexes: parseColumns(indexes),
  }
}

/** Returns whether a table is ours, as opposed to an internal table of SQLite or Prisma. */
const isOurs = (table: string): boolean => !table.startsWith('sqlite_') && table !== '_prisma_migrations'

describe.each(databaseKinds)('the tables, on $kind', ({ kind, create }) => {
  let database: TestDatabase
  let catalogue: Catalogue
  beforeAll(async () => {
    database = await create()
    const db = await openDatabase(database.target)
    catalogue = await (kind === 'sqlite' ? readSqlite(db) : readPostgres(db))
    await db.close()
  })
  afterAll(() => database.drop())

  it('have an index that begins with the columns of each foreign key', () => {
    const isIndexed = ({ table, columns }: Catalogue['foreignKeys'][number]): boolean =>
      catalogue.indexes.some(index => index.table === table && columns.every((name, at) => index.columns[at] === name))
    expect(catalogue.foreignKeys.length).toBeGreaterThan(15)
    expect(catalogue.foreignKeys.filter(key => !isIndexed(key))).toEqual([])
  })

  it('record when each row was created and last changed', () => {
    const tables = catalogue.tables.filter(isOurs)
    const has = (table: string, name: string): boolean =>
      catalogue.columns.some(column => column.table === table && column.name === name)
    expect(tables.length).toBeGreaterThan(15)
    expect(tables.filter(table => !has(table, 'createdAt') || !has(table, 'updatedAt'))).toEqual([])
  })
})

it('PostgreSQL checks references without an action at the end of the transaction, as the cascades need', async () => {
  const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
  const database = await postgres?.create()
  if (!database) return expect.unreachable()
  const db = await openDatabase(database.target)
  const rows = await db.$queryRaw<{ name: string; deferred: boolean }[]>`
    SELECT conname AS name, condeferred AS deferred FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'a'`
  await db.close()
  await database.drop()
  expect(rows).toHaveLength(3)
  expect(rows.filter(({ deferred }) => !deferred)).toEqual([])
})
