import type { ClientConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import type { PostgresTarget } from './target.ts'

/** Time to open a connection, or to wait for a free one of the pool. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * What `pg` and Prisma's adapter need to connect, in parts: given a connection string, the adapter would run what is
 * meant for another database (a shadow) on this one.
 */
export const toPgConfig = ({ url }: PostgresTarget): ClientConfig => ({
  application_name: 'patchbay',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  ...parseIntoClientConfig(url),
})
