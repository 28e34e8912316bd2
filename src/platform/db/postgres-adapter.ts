import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'
import { postgresConfig } from './postgres.ts'
import { toPostgresFailure } from './postgres-failures.ts'
import type { PostgresTarget } from './target.ts'

const named = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw toPostgresFailure(error)
  }
}

const nameFailuresOf = (transaction: Transaction): Transaction => ({
  provider: transaction.provider,
  adapterName: transaction.adapterName,
  options: transaction.options,
  queryRaw: query => named(transaction.queryRaw(query)),
  executeRaw: query => named(transaction.executeRaw(query)),
  commit: () => named(transaction.commit()),
  rollback: () => named(transaction.rollback()),
  createSavepoint: async name => named(Promise.resolve(transaction.createSavepoint?.(name))),
  rollbackToSavepoint: async name => named(Promise.resolve(transaction.rollbackToSavepoint?.(name))),
  releaseSavepoint: async name => named(Promise.resolve(transaction.releaseSavepoint?.(name))),
})

/** What Prisma's client is given to open a PostgreSQL database with; a lost server is told as such. */
export const postgresAdapterFactory = (target: PostgresTarget): SqlDriverAdapterFactory => {
  const factory = new PrismaPg(postgresConfig(target))
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => {
      const adapter = await named(factory.connect())
      return {
        provider: adapter.provider,
        adapterName: adapter.adapterName,
        queryRaw: query => named(adapter.queryRaw(query)),
        executeRaw: query => named(adapter.executeRaw(query)),
        executeScript: script => named(adapter.executeScript(script)),
        startTransaction: async level => nameFailuresOf(await named(adapter.startTransaction(level))),
        getConnectionInfo: () => adapter.getConnectionInfo(),
        dispose: () => adapter.dispose(),
      }
    },
  }
}
