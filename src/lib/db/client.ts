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
 * Either database. The types are those of the SQLite client, whose queries PostgreSQL takes as well; where the two
 * do not have the same models this is `never`, and nothing compiles.
 */
export type Database =
  Same<Models<PrismaClient>, Models<PostgresClient>> extends true
    ? PrismaClient & { readonly kind: DatabaseKind }
    : never
/** A database inside of a transaction. */
export type Transaction = Prisma.TransactionClient
/** A database and the end of it: `close` waits for what is under way. */
export type OpenDatabase = Database & { close: () => Promise<void> }

/** Longer than the wait for the lock, so that the answer to a busy database is ours and not Prisma's. */
const TRANSACTION_START_MS = DATABASE_WAIT_MS + 5_000
/** A transaction that takes longer is rolled back: nothing may be awaited inside but the database. */
const TRANSACTION_MS = 10_000
const OPTIONS = {
  transactionOptions: { maxWait: TRANSACTION_START_MS, timeout: TRANSACTION_MS },
  // The other formats print what was to be written, secrets too.
  errorFormat: 'minimal',
} as const

const createClient = async (target: DatabaseTarget): Promise<PrismaClient> => {
  // Only the client that is asked for is loaded: each brings a query compiler of some megabytes.
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
  // Generated from the same models, it differs in what it can do besides (skipDuplicates, other isolation levels).
  return client as unknown as PrismaClient
}

/**
 * Opens a migrated database. Whatever is asked of it throws an AppError when the database as such is at fault:
 * `unavailable` (busy, gone, damaged; the message says which) or `storage_full`.
 */
export const openDatabase = (target: DatabaseTarget): Promise<OpenDatabase> =>
  namingFailures(target, async () => {
    const client = await createClient(target)
    try {
      await client.$connect()
      await client.$queryRaw`SELECT 1` // PostgreSQL's pool connects with the first question
    } catch (error) {
      await client.$disconnect()
      throw error
    }
    const named = client.$extends({
      query: { $allOperations: ({ args, query }) => namingFailures(target, () => query(args)) },
    })
    const $transaction: (...args: never) => Promise<unknown> = named.$transaction.bind(named)
    // It does all that the client does: the types of an extended client only say it in other words.
    return Object.assign(named, {
      // Its begin and its commit are no operations in the sense above.
      $transaction: (...args: never) => namingFailures(target, () => $transaction(...args)),
      close: () => client.$disconnect(),
      kind: target.kind,
    }) as unknown as OpenDatabase
  })

/**
 * Runs `work` in a transaction that holds, on either database, as if it were alone: what was read in it is still true
 * when it commits. `work` may run more than once, so it must do nothing but read and write through `tx`; a write
 * through `db` in it would wait for its own end. Throws what `work` throws, and an AppError `unavailable` when others
 * keep it waiting for too long.
 */
export const transact = async <T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> => {
  const deadline = performance.now() + DATABASE_WAIT_MS
  try {
    return await retryUntil(deadline, isConflict, () => db.$transaction(work, { isolationLevel: 'Serializable' }))
  } catch (error) {
    throw isConflict(error) ? databaseBusy(error) : error
  }
}
