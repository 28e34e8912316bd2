import { type DatabaseFailure, databaseBusy, isConflict, namingFailures } from './failures.ts'
import type { PrismaClient as PostgresClient } from './generated/postgresql/client.ts'
import type { Prisma, PrismaClient } from './generated/sqlite/client.ts'
import { probePostgres, toPgConfig } from './postgres.ts'
import type { DatabaseKind, DatabaseTarget } from './target.ts'
import { DATABASE_WAIT_MS, PROBE_TIMEOUT_MS, retryUntil } from './waiting.ts'

type Models<Client> = {
  [Name in keyof Client]: Client[Name] extends { findUnique: unknown } ? Name : never
}[keyof Client]
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/**
 * Client for either database. Its types are those of the SQLite client, whose queries also work on PostgreSQL. If the
 * two clients' models differ, this type is `never` and nothing compiles.
 */
export type Database =
  Same<Models<PrismaClient>, Models<PostgresClient>> extends true
    ? PrismaClient & { readonly kind: DatabaseKind }
    : never
/** Row types of the models, as returned by queries without `select`. */
export type * as Rows from './generated/sqlite/client.ts'
/** A database client within a transaction. */
export type Transaction = Prisma.TransactionClient
/** An open database. */
export type OpenDatabase = Database & {
  /** Waits for running queries to finish. */
  close: () => Promise<void>
  /** Calls `listener` when a query fails because of the database itself. */
  onFailure: (listener: (failure: DatabaseFailure) => void) => void
  /** Resolves if the database responds. On PostgreSQL, it does not wait for queries in progress. */
  probe: () => Promise<void>
  /** Returns when a query last succeeded, on the `performance.now()` clock. */
  lastSuccessAt: () => number
}

/** Longer than the wait for the lock, so that a busy database causes Patchbay's error instead of Prisma's. */
const TRANSACTION_START_MS = DATABASE_WAIT_MS + 5_000
/** Transactions that take longer are rolled back. Inside a transaction, await only database calls. */
const TRANSACTION_MS = 10_000
const OPTIONS = {
  transactionOptions: { maxWait: TRANSACTION_START_MS, timeout: TRANSACTION_MS },
  // Prisma's other error formats include the written values, which may be secrets.
  errorFormat: 'minimal',
} as const

/**
 * After this time without a result a query fails and its connection is closed, because a connection that a failover or
 * a firewall cut off would otherwise hang until TCP gives up. More than any query takes.
 */
const QUERY_TIMEOUT_MS = 30_000

const createClient = async (target: DatabaseTarget, queryTimeoutMs: number): Promise<PrismaClient> => {
  // Loads only the client that is needed, because each one has a query compiler of several megabytes.
  if (target.kind === 'sqlite') {
    const [{ PrismaClient }, { sqliteAdapterFactory }] = await Promise.all([
      import('./generated/sqlite/client.ts'),
      import('./sqlite-adapter.ts'),
    ])
    return new PrismaClient({ adapter: sqliteAdapterFactory(target), ...OPTIONS })
  }
  const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
    import('./generated/postgresql/client.ts'),
    import('@prisma/adapter-pg'),
  ])
  const client = new PrismaClient({
    adapter: new PrismaPg({ ...toPgConfig(target), query_timeout: queryTimeoutMs }),
    ...OPTIONS,
  })
  // This client is generated from the same models and only adds features (skipDuplicates, more isolation levels).
  return client as unknown as PrismaClient
}

/**
 * Opens a migrated database. If the database itself fails, queries throw an AppError: `unavailable` (the message says
 * whether it is busy, unreachable or damaged) or `storage_full`.
 */
export const openDatabase = (target: DatabaseTarget, queryTimeoutMs = QUERY_TIMEOUT_MS): Promise<OpenDatabase> =>
  namingFailures(target, async () => {
    const client = await createClient(target, queryTimeoutMs)
    try {
      await client.$connect()
      await client.$queryRaw`SELECT 1` // PostgreSQL's pool connects on the first query
    } catch (error) {
      await client.$disconnect()
      throw error
    }
    const listeners: ((failure: DatabaseFailure) => void)[] = []
    const report = (failure: DatabaseFailure): void => {
      for (const listener of listeners) listener(failure)
    }
    const probe = async (): Promise<void> => {
      if (target.kind === 'postgresql') await probePostgres(target, PROBE_TIMEOUT_MS)
      else await client.$queryRaw`SELECT 1`
    }
    let lastSuccessAt = performance.now()
    const named = client.$extends({
      query: {
        $allOperations: async ({ args, query }) => {
          const result: unknown = await namingFailures(target, () => query(args), report)
          lastSuccessAt = performance.now()
          return result
        },
      },
    })
    const $transaction: (...args: never) => Promise<unknown> = named.$transaction.bind(named)
    // An extended client has all members of the original client, but Prisma gives it a different type.
    return Object.assign(named, {
      // $allOperations does not cover BEGIN and COMMIT, so wrap $transaction too.
      $transaction: (...args: never) => namingFailures(target, () => $transaction(...args), report),
      close: () => client.$disconnect(),
      onFailure: (listener: (failure: DatabaseFailure) => void) => listeners.push(listener),
      probe: () => namingFailures(target, probe),
      lastSuccessAt: () => lastSuccessAt,
      kind: target.kind,
    }) as unknown as OpenDatabase
  })

/**
 * Runs `work` in a serializable transaction: its reads are still valid when it commits. `work` may run several times,
 * so it must have no effects except through `tx`. A write through `db` would deadlock. Rethrows errors from `work`.
 * Throws an AppError `unavailable` if other transactions block it for too long.
 */
export const transact = async <T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> => {
  const deadline = performance.now() + DATABASE_WAIT_MS
  try {
    return await retryUntil(deadline, isConflict, () => db.$transaction(work, { isolationLevel: 'Serializable' }))
  } catch (error) {
    throw isConflict(error) ? databaseBusy(error) : error
  }
}
