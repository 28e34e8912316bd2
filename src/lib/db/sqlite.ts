import Sqlite from 'better-sqlite3'
import type { SqliteTarget } from './target.ts'

/** A connection that runs statements on the thread that calls it. */
export type RawSqlite = Sqlite.Database

export type RawSqliteOptions = {
  /** How long a statement blocks its thread while another connection holds the lock. */
  busyTimeoutMs: number
  /** FULL outlives a power cut; NORMAL may lose the last commits to one, never to a crash of the process. */
  synchronous?: 'FULL' | 'NORMAL'
  fileMustExist?: boolean
}

/** Of pages that a connection keeps: the library's 16 MB, four times, would only copy what the system keeps of the file. */
const CACHE_KIB = 4_000

/** What every connection of ours is set to; `journal_mode` stays with the file, the others with the connection. */
export const connectionPragmas = (synchronous: 'FULL' | 'NORMAL'): string =>
  `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${CACHE_KIB};`

/** Opens a file outside of Prisma, for a worker of its own. The caller closes it. */
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
