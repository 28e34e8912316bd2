import type { Sql } from '@prisma/client/runtime/client'
import { toTimeText } from './sqlite-time.ts'
import type { DatabaseTarget, PostgresTarget, SqliteTarget } from './target.ts'

/** A query in the syntax of both databases, in a form that can be sent to a thread. */
export type RawQuery = { sqlite: string; postgresql: string; values: readonly unknown[] }

export const toRawQuery = ({ sql, text, values }: Sql): RawQuery => ({ sqlite: sql, postgresql: text, values })

/** Reads without Prisma, for a thread. Times in rows are texts on SQLite and dates on PostgreSQL. */
export type RawReader = {
  /** Returns all rows. The caller must know their type. */
  all: <Row extends object>(query: RawQuery) => Promise<Row[]>
  close: () => Promise<void>
}

/** How long a read waits while another process recovers or closes the database. */
const BUSY_TIMEOUT_MS = 5_000
/** Longer than any query on a limited number of rows takes. */
const QUERY_TIMEOUT_MS = 30_000
/** PostgreSQL's type `timestamp`, which Patchbay stores in UTC. */
const TIMESTAMP_TYPE = 1114

const toSqliteValue = (value: unknown): unknown => (value instanceof Date ? toTimeText(value.getTime()) : value)

const openSqliteReader = async (target: SqliteTarget): Promise<RawReader> => {
  const { openRawSqlite } = await import('./sqlite.ts')
  const connection = openRawSqlite(target, { busyTimeoutMs: BUSY_TIMEOUT_MS })
  connection.exec('PRAGMA query_only = ON')
  return {
    all: async <Row extends object>({ sqlite, values }: RawQuery) =>
      connection.prepare<unknown[], Row>(sqlite).all(...values.map(toSqliteValue)),
    close: async () => void connection.close(),
  }
}

/** The offset of a time would be ignored, so it is in UTC. */
const toPostgresValue = (value: unknown): unknown => (value instanceof Date ? value.toISOString().slice(0, -1) : value)

const openPostgresReader = async (target: PostgresTarget): Promise<RawReader> => {
  const [{ Client, types }, { toPgConfig }] = await Promise.all([import('pg'), import('./postgres.ts')])
  const client = new Client({
    ...toPgConfig(target),
    application_name: 'patchbay reader',
    query_timeout: QUERY_TIMEOUT_MS,
    types: {
      getTypeParser: (type, format) =>
        type === TIMESTAMP_TYPE
          ? (text: string) => new Date(`${text.replace(' ', 'T')}Z`)
          : types.getTypeParser(type, format),
    },
  })
  // The query in progress rejects too. Without a listener, a lost connection would end the thread.
  client.on('error', () => undefined)
  await client.connect()
  return {
    all: async <Row extends object>({ postgresql, values }: RawQuery) => {
      const { rows } = await client.query<Row>(postgresql, values.map(toPostgresValue))
      return rows
    },
    close: () => client.end(),
  }
}

const openRawReader = (target: DatabaseTarget): Promise<RawReader> =>
  target.kind === 'sqlite' ? openSqliteReader(target) : openPostgresReader(target)

/** Keeps the connection of a thread open between its jobs, and replaces it after a failure. */
export const createThreadReader = () => {
  let open: { key: string; reader: Promise<RawReader> } | undefined
  return async <Row extends object>(target: DatabaseTarget, query: RawQuery): Promise<Row[]> => {
    const key = JSON.stringify(target)
    if (open?.key !== key) open = { key, reader: openRawReader(target) }
    const current = open
    try {
      return await (await current.reader).all<Row>(query)
    } catch (error) {
      if (open === current) open = undefined
      void current.reader.then(reader => reader.close()).catch(() => undefined)
      throw error
    }
  }
}
