import { databaseBusy, isConflict, namingFailures } from './failures.ts'
import type { PrismaClient as PostgresClient } from './generated/postgresql/client.ts'
import type { Prisma, PrismaClient } from './generated/sqlite/client.ts'
import { toPgConfig } from './postgres.ts'
import type { DatabaseKind, DatabaseTarget } from './target.ts'
import { DATABASE_WAIT_MS, retryUntil } from './waiting.ts'

type Models<Client> = {
  [Name in keyof Client]: Client[Name] extends { findUnique: unknown } ? Name : never
}[keyof Client]
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/**
 * Client for either database. The types are the SQLite client's, whose queries PostgreSQL accepts too. If the two
 * clients do not have the same models, this is `never` and nothing compiles.
 */
export type Database =
  Same<Models<PrismaClient>, Models<PostgresClient>> extends true
    ? PrismaClient & { readonly kind: DatabaseKind }
    : never
/** The rows of each model, as queries without `select` return them. */
export type * as Rows from './generated/sqlite/client.ts'
/** A database client within a transaction. */
export type Transaction = Prisma.TransactionClient
/** An open database. `close` waits for running queries. */
export type OpenDatabase = Database & { close: () => Promise<void> }

/** Longer than the wait for the lock, so that a busy database gives our error and not Prisma's. */
const TRANSACTION_START_MS = DATABASE_WAIT_MS + 5_000
/** A transaction that takes longer is rolled back. Await nothing but the database inside. */
const TRANSACTION_MS = 10_000
const OPTIONS = {
  transactionOptions: { maxWait: TRANSACTION_START_MS, timeout: TRANSACTION_MS },
  // The other formats print the values being written, secrets included.
  errorFormat: 'minimal',
} as const

const createClient = async (target: DatabaseTarget): Promise<PrismaClient> => {
  // Load only the client that is needed: each brings a query compiler of several megabytes.
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
  const client = new PrismaClient({ adapter: new PrismaPg(toPgConfig(target)), ...OPTIONS })
  // Generated from the same models; it differs only in extra features (skipDuplicates, other isolation levels).
  return client as unknown as PrismaClient
}

/**
 * Opens a migrated database. If the database itself fails, any query throws an AppError: `unavailable` (busy,
 * unreachable, damaged; the message says which) or `storage_full`.
 */
export const openDatabase = (target: DatabaseTarget): Promise<OpenDatabase> =>
  namingFailures(target, async () => {
    const client = await createClient(target)
    try {
      await client.$connect()
      await client.$queryRaw`SELECT 1` // PostgreSQL's pool connects on the first query
    } catch (error) {
      await client.$disconnect()
      throw error
    }
    const named = client.$extends({
      query: { $allOperations: ({ args, query }) => namingFailures(target, () => query(args)) },
    })
    const $transaction: (...args: never) => Promise<unknown> = named.$transaction.bind(named)
    // The object can do everything the client can; Prisma only types an extended client differently.
    return Object.assign(named, {
      // $allOperations does not cover BEGIN and COMMIT.
      $transaction: (...args: never) => namingFailures(target, () => $transaction(...args)),
      close: () => client.$disconnect(),
      kind: target.kind,
    }) as unknown as OpenDatabase
  })

/**
 * Runs `work` in a serializable transaction: what it read is still true when it commits. `work` may run more than once,
 * so it must only read and write through `tx`; a write through `db` would deadlock. Throws what `work` throws, or an
 * AppError `unavailable` if other transactions keep it waiting too long.
 */
export const transact = async <T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> => {
  const deadline = performance.now() + DATABASE_WAIT_MS
  try {
    return await retryUntil(deadline, isConflict, () => db.$transaction(work, { isolationLevel: 'Serializable' }))
  } catch (error) {
    throw isConflict(error) ? databaseBusy(error) : error
  }
}
