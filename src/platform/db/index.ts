export { removeInBatches } from './batches.ts'
export { type Database, type OpenDatabase, openDatabase, type Transaction, transact } from './client.ts'
export { containing } from './containing.ts'
export { isForeignKeyViolation, isUniqueViolation } from './failures.ts'
export { listen } from './listen.ts'
export { measureDatabase } from './measure.ts'
export { migrate, migrationState } from './migrate.ts'
export { MigrationError } from './migrations.ts'
export { toPgConfig } from './postgres.ts'
export { isAnswering } from './probe.ts'
export { openRawSqlite, type RawSqlite } from './sqlite.ts'
export {
  type DatabaseKind,
  type DatabaseTarget,
  type PostgresTarget,
  parseDatabaseUrl,
  type SqliteTarget,
} from './target.ts'
