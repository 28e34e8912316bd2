import type { ClientConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import type { PostgresTarget } from './target.ts'

/** Time limit for opening a connection or waiting for a free connection in the pool. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * Returns the connection settings for `pg` and Prisma's adapter as separate fields. If given a connection string, the
 * adapter would run statements meant for another database (a shadow database) on this one.
 */
export const toPgConfig = ({ url }: PostgresTarget): ClientConfig => ({
  application_name: 'patchbay',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  ...parseIntoClientConfig(url),
})
