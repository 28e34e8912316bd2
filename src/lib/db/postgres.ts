import type { ClientConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { processName } from './process-name.ts'
import type { PostgresTarget } from './target.ts'

/** Time limit for opening a connection or waiting for a free connection in the pool. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * Returns the connection settings for `pg` and Prisma's adapter as separate fields. If given a connection string, the
 * adapter would run statements meant for another database (a shadow database) on this one.
 */
export const toPgConfig = ({ url }: PostgresTarget): ClientConfig => ({
  application_name: processName(),
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  ...parseIntoClientConfig(url),
})

/** PostgreSQL's code for "too many clients": it responds, and connections that are already open work. */
const TOO_MANY_CLIENTS = '53300'

/** Connects to PostgreSQL and resolves once it responds, however many queries wait for the pool. */
export const probePostgres = async (target: PostgresTarget, timeoutMs: number): Promise<void> => {
  // Loaded on first use, so that processes on SQLite do not load the driver.
  const { Client, DatabaseError } = await import('pg')
  const client = new Client({
    ...toPgConfig(target),
    application_name: 'patchbay probe',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  // The query below rejects too. Without a listener, a lost connection would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
  } catch (error) {
    if (error instanceof DatabaseError && error.code === TOO_MANY_CLIENTS) return
    throw error
  } finally {
    void client.end().catch(() => undefined)
  }
}
