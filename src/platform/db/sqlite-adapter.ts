import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'
import { DATABASE_WAIT_MS, retryUntil } from './failures.ts'
import { connectionPragmas } from './sqlite.ts'
import { isSqliteBusy, toSqliteFailure } from './sqlite-failures.ts'
import type { SqliteTarget } from './target.ts'
import { createTurns } from './turns.ts'

/** A lock that another process holds blocks this thread no longer than this; then we wait without blocking. */
const BUSY_TIMEOUT_MS = 10

/** Prisma writes its own SQL: what reads starts so, what writes never does. */
const isRead = (sql: string): boolean => /^\s*SELECT\b/i.test(sql)

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

/**
 * Prisma's adapter for SQLite, with three things of it put right. It runs everything on one connection, so that a
 * statement outside of a transaction becomes part of whichever is open, and is lost with it: here reads have a
 * connection of their own and writes take turns with transactions. It begins transactions without the write lock,
 * so that a later write fails at once if another process wrote in between: here they begin with it. And where it
 * would block the thread until another process lets go of the lock, this one waits without blocking.
 */
const createAdapter = async (file: string): Promise<SqlDriverAdapter> => {
  const { reader, writer } = await openConnections(file)
  const turns = createTurns()

  const named = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw toSqliteFailure(error, file)
    }
  }
  const patiently = <T>(work: () => Promise<T>): Promise<T> =>
    named(() => retryUntil(performance.now() + DATABASE_WAIT_MS, isSqliteBusy, work))
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    await turns.take(performance.now() + DATABASE_WAIT_MS)
    try {
      return await patiently(work)
    } finally {
      turns.pass()
    }
  }

  const rollback = async (): Promise<void> => {
    try {
      await writer.executeScript('ROLLBACK')
    } catch (error) {
      // SQLite itself has rolled back what it could not go on with, such as on a full disk.
      if (!String(error).includes('no transaction is active')) throw error
    }
  }
  const finish = async (end: () => Promise<void>): Promise<void> => {
    try {
      await named(end)
    } finally {
      turns.pass()
    }
  }
  const transaction: Transaction = {
    provider: writer.provider,
    adapterName: writer.adapterName,
    // Prisma sends no COMMIT or ROLLBACK of its own: after a COMMIT that failed, it would not roll back.
    options: { usePhantomQuery: true },
    queryRaw: query => named(() => writer.queryRaw(query)),
    executeRaw: query => named(() => writer.executeRaw(query)),
    commit: () =>
      finish(async () => {
        try {
          await writer.executeScript('COMMIT')
        } catch (error) {
          await rollback()
          throw error
        }
      }),
    rollback: () => finish(rollback),
    createSavepoint: name => named(async () => writer.executeScript(`SAVEPOINT ${name}`)),
    rollbackToSavepoint: name => named(async () => writer.executeScript(`ROLLBACK TO ${name}`)),
    releaseSavepoint: name => named(async () => writer.executeScript(`RELEASE ${name}`)),
  }

  return {
    provider: writer.provider,
    adapterName: writer.adapterName,
    queryRaw: query =>
      isRead(query.sql) ? patiently(() => reader.queryRaw(query)) : inTurn(() => writer.queryRaw(query)),
    executeRaw: query => inTurn(() => writer.executeRaw(query)),
    executeScript: script => inTurn(async () => writer.executeScript(script)),
    startTransaction: async () => {
      await turns.take(performance.now() + DATABASE_WAIT_MS)
      try {
        await patiently(async () => writer.executeScript('BEGIN IMMEDIATE'))
        return transaction
      } catch (error) {
        turns.pass()
        throw error
      }
    },
    dispose: async () => {
      await reader.dispose()
      await writer.dispose()
    },
  }
}

/** What Prisma's client is given to open the file with, which must be there. */
export const sqliteAdapterFactory = ({ file }: SqliteTarget): SqlDriverAdapterFactory => ({
  provider: 'sqlite',
  adapterName: '@prisma/adapter-better-sqlite3',
  connect: async (): Promise<SqlDriverAdapter> => {
    try {
      return await createAdapter(file)
    } catch (error) {
      throw toSqliteFailure(error, file)
    }
  },
})
