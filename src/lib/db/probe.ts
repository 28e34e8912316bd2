import type { Client } from 'pg'
import type { Database } from './client.ts'
import { toPgConfig } from './postgres.ts'
import type { DatabaseTarget, PostgresTarget } from './target.ts'

/** Ends a hanging connection or query. Longer than whoever probes waits, who can tell a blocked thread from silence. */
const GIVE_UP_MS = 4_000

/** Asks the database for a response. */
export type Probe = {
  /** Rejects if the database does not respond. */
  run: () => Promise<unknown>
  /** Closes the connection. The next run opens another. */
  close: () => void
}

/** On a connection of its own, because the pool's may all be busy with other queries, which is not an outage. */
const createPostgresProbe = (target: PostgresTarget): Probe => {
  let connection: Client | undefined

  const connect = async (): Promise<Client> => {
    // Loaded on first use, so that processes on SQLite do not load the driver.
    const pg = await import('pg')
    const client = new pg.Client({
      ...toPgConfig(target),
      application_name: 'patchbay health',
      connectionTimeoutMillis: GIVE_UP_MS,
      query_timeout: GIVE_UP_MS,
      statement_timeout: GIVE_UP_MS,
    })
    // Without a listener, a lost connection would end the process.
    client.on('error', () => {
      if (connection === client) connection = undefined
    })
    connection = client
    await client.connect()
    return client
  }

  return {
    run: async () => (connection ?? (await connect())).query('SELECT 1'),
    close: () => {
      const closing = connection
      connection = undefined
      void closing?.end().catch(() => undefined)
    },
  }
}

export const createProbe = (db: Database, target: DatabaseTarget): Probe =>
  target.kind === 'sqlite' ? { run: () => db.$queryRaw`SELECT 1`, close: () => {} } : createPostgresProbe(target)
