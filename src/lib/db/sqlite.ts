import Sqlite from 'better-sqlite3'
import type { SqliteTarget } from './target.ts'

/** A connection that runs statements on the calling thread. */
export type RawSqlite = Sqlite.Database

export type RawSqliteOptions = {
  /** How long a statement blocks its thread while another connection holds the lock. */
  busyTimeoutMs: number
  /** FULL survives a power failure. NORMAL may lose the last commits then, but not if only the process crashes. */
  synchronous?: 'FULL' | 'NORMAL'
  fileMustExist?: boolean
}

/**
 * Page cache size of each connection. The default of 16 MB, on four connections, would only duplicate the system's file
 * cache.
 */
const CACHE_KIB = 4_000

/**
 * Returns the pragmas for every connection. `journal_mode` is stored in the file; the others apply to the connection.
 */
export const connectionPragmas = (synchronous: 'FULL' | 'NORMAL'): string =>
  `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${CACHE_KIB};`

/** Opens a connection without Prisma, for use in a worker. The caller closes it. */
export const openRawSqlite = (
  { file }: SqliteTarget,
  { busyTimeoutMs, synchronous = 'FULL', fileMustExist = true }: RawSqliteOptions,
): RawSqlite => {
  const connection = new Sqlite(file, { timeout: busyTimeoutMs, fileMustExist })
  try {
    connection.exec(connectionPragmas(synchronous))
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
