import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'
import { isSqliteBusy } from './failures.ts'
import { connectionPragmas } from './sqlite.ts'
import type { SqliteTarget } from './target.ts'
import { createLock, DATABASE_WAIT_MS, retryUntil } from './waiting.ts'

/** How long waiting for another process's lock may block this thread. After that, the wait does not block. */
const BUSY_TIMEOUT_MS = 10
/** SQLITE_MAX_VARIABLE_NUMBER of our build. Prisma's default of 999 is too low to read 1,000 rows with relations. */
const MAX_BIND_VALUES = 32_766

const openConnections = async (file: string): Promise<{ reader: SqlDriverAdapter; writer: SqlDriverAdapter }> => {
  const factory = new PrismaBetterSqlite3({ url: `file:${file}`, timeout: BUSY_TIMEOUT_MS, fileMustExist: true })
  const writer = await factory.connect()
  try {
    await writer.executeScript(connectionPragmas('FULL'))
    const reader = await factory.connect()
    await reader.executeScript(`${connectionPragmas('FULL')} PRAGMA query_only = ON;`)
    return { reader, writer }
  } catch (error) {
    await writer.dispose()
    throw error
  }
}

const rollback = async (writer: SqlDriverAdapter): Promise<void> => {
  try {
    await writer.executeScript('ROLLBACK')
  } catch (error) {
    // After some errors, such as a full disk, SQLite has already rolled back the transaction.
    if (!String(error).includes('no transaction is active')) throw error
  }
}

/** Wraps the open transaction on `writer`. Calls `end` once when the transaction has ended. */
const openTransaction = (writer: SqlDriverAdapter, end: () => void): Transaction => ({
  provider: writer.provider,
  adapterName: writer.adapterName,
  // Makes Prisma leave COMMIT and ROLLBACK to this adapter, because Prisma does not roll back after a failed COMMIT.
  options: { usePhantomQuery: true },
  queryRaw: query => writer.queryRaw(query),
  executeRaw: query => writer.executeRaw(query),
  commit: async () => {
    try {
      await writer.executeScript('COMMIT')
    } catch (error) {
      await rollback(writer)
      throw error
    } finally {
      end()
    }
  },
  rollback: () => rollback(writer).finally(end),
  createSavepoint: async name => writer.executeScript(`SAVEPOINT ${name}`),
  rollbackToSavepoint: async name => writer.executeScript(`ROLLBACK TO ${name}`),
  releaseSavepoint: async name => writer.executeScript(`RELEASE ${name}`),
})

/** Returns whether the statement is a read. In Prisma's SQL, reads start with SELECT and writes never do. */
const isRead = (sql: string): boolean => /^\s*SELECT\b/i.test(sql)

const retryWhileBusy = <T>(deadline: number, work: () => Promise<T>): Promise<T> =>
  retryUntil(deadline, isSqliteBusy, work)

const createAdapter = async (file: string): Promise<SqlDriverAdapter> => {
  const { reader, writer } = await openConnections(file)
  const writeLock = createLock()
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    const deadline = performance.now() + DATABASE_WAIT_MS
    await writeLock.acquire(deadline)
    try {
      return await retryWhileBusy(deadline, work)
    } finally {
      writeLock.release()
    }
  }
  return {
    provider: writer.provider,
    adapterName: writer.adapterName,
    getConnectionInfo: () => ({ maxBindValues: MAX_BIND_VALUES, supportsRelationJoins: false }),
    queryRaw: query =>
      isRead(query.sql)
        ? retryWhileBusy(performance.now() + DATABASE_WAIT_MS, () => reader.queryRaw(query))
        : write(() => writer.queryRaw(query)),
    executeRaw: query => write(() => writer.executeRaw(query)),
    executeScript: script => write(async () => writer.executeScript(script)),
    startTransaction: async () => {
      const deadline = performance.now() + DATABASE_WAIT_MS
      await writeLock.acquire(deadline)
      try {
        await retryWhileBusy(deadline, async () => writer.executeScript('BEGIN IMMEDIATE'))
        return openTransaction(writer, writeLock.release)
      } catch (error) {
        writeLock.release()
        throw error
      }
    },
    dispose: async () => {
      await reader.dispose()
      await writer.dispose()
    },
  }
}

/**
 * Returns Prisma's adapter for SQLite with three fixes:
 *
 * - Prisma uses one connection for everything, so a statement outside a transaction would become part of any open
 *   transaction and be rolled back with it. Here, reads have a separate connection, and writes queue with transactions.
 * - Prisma begins a transaction without the write lock, so a later write fails immediately if another process has
 *   written in between. Here, BEGIN takes the lock.
 * - Prisma blocks the thread while another process holds the lock. Here, we wait without blocking.
 *
 * The file must exist.
 */
export const sqliteAdapterFactory = ({ file }: SqliteTarget): SqlDriverAdapterFactory => ({
  provider: 'sqlite',
  adapterName: '@prisma/adapter-better-sqlite3',
  connect: () => createAdapter(file),
})
