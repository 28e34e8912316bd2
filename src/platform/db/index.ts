export { type Database, type OpenDatabase, openDatabase, type Transaction, transact } from './client.ts'
export { isForeignKeyViolation, isRowMissing, isUniqueViolation, toDatabaseFailure } from './failures.ts'
export { Prisma } from './generated/sqlite/client.ts'
export { type ListenOptions, listen } from './listen.ts'
export { type MigrationOptions, type MigrationState, migrate, migrationState } from './migrate.ts'
export { MigrationError } from './migrations.ts'
export { toPgConfig } from './postgres.ts'
export { openRawSqlite, type RawSqlite, type RawSqliteOptions } from './sqlite.ts'
export {
  type DatabaseKind,
  type DatabaseTarget,
  type PostgresTarget,
  parseDatabaseUrl,
  type SqliteTarget,
} from './target.ts'
