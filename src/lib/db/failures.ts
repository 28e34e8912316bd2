import { AppError, type AppErrorCode, type AppErrorOptions } from '../kernel/errors.ts'
import type { DatabaseTarget } from './target.ts'

/**
 * A database driver's error. `kind` is the name that Prisma's adapter gives it. `code` is SQLite's error name or
 * PostgreSQL's SQLSTATE.
 */
type DriverFault = { kind: string; code: string; message: string }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Extracts the driver's error: Prisma's error has the adapter's in `meta`, which has the driver's in `cause`. */
const faultOf = (error: unknown): DriverFault => {
  if (!isRecord(error)) return { kind: '', code: '', message: textOf(error) }
  if (isRecord(error.meta) && isRecord(error.meta.driverAdapterError)) return faultOf(error.meta.driverAdapterError)
  const fault = error.name === 'DriverAdapterError' && isRecord(error.cause) ? error.cause : error
  return {
    kind: textOf(fault.kind),
    code: textOf(fault.originalCode) || textOf(fault.code),
    message: textOf(fault.originalMessage) || textOf(fault.message) || textOf(fault.kind) || textOf(fault.code),
  }
}

/** Returns the code of a Prisma known request error, or '' for other errors. */
const prismaCodeOf = (error: unknown): string =>
  isRecord(error) && error.name === 'PrismaClientKnownRequestError' ? textOf(error.code) : ''

/** Returns whether the error means that another row already has the same unique value. */
export const isUniqueViolation = (error: unknown): boolean => prismaCodeOf(error) === 'P2002'

/**
 * Returns a `catch` handler that turns a unique constraint violation into `conflict`, with a message such as: This
 * server already has a tool named "search".
 */
export const rethrowTaken =
  (holder: string, noun: string, name = '') =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `This ${holder} already has ${noun} named "${name}".`, {
      errors: [{ path: 'name', message: `is already used in this ${holder}` }],
    })
  }

/** Returns whether the error means that a deleted row is still referenced or a referenced row does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2003' || faultOf(error).kind === 'ForeignKeyConstraintViolation'

/**
 * Returns whether the error is a conflict between two transactions (PostgreSQL: serialization failure, deadlock), so
 * that a retry may succeed.
 */
export const isConflict = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2034' || faultOf(error).kind === 'TransactionWriteConflict'

/** Returns whether the error means that another connection holds SQLite's lock. */
export const isSqliteBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(faultOf(error).code)

export const databaseBusy = (cause?: unknown): AppError =>
  new AppError('unavailable', 'The database is busy. Try again in a moment.', { cause, retryAfterSeconds: 1 })

/** A fault of the database itself. `unwritable`: it can be read, but the disk is full or read-only. */
export type DatabaseFault = 'unreachable' | 'damaged' | 'unwritable'

/** The database itself has failed, and will not work again before somebody or something repairs it. */
export class DatabaseFailure extends AppError {
  readonly fault: DatabaseFault
  constructor(
    fault: DatabaseFault,
    message: string,
    options: AppErrorOptions = {},
    code: AppErrorCode = 'unavailable',
  ) {
    super(code, message, options)
    this.fault = fault
  }
}

export const databaseUnreachable = (options: AppErrorOptions = {}): DatabaseFailure =>
  new DatabaseFailure('unreachable', 'The PostgreSQL database cannot be reached. Try again in a moment.', {
    ...options,
    retryAfterSeconds: 1,
  })

const diskFull = (options: AppErrorOptions): DatabaseFailure =>
  new DatabaseFailure(
    'unwritable',
    'The database disk is full. Nothing can be changed until space is freed.',
    options,
    'storage_full',
  )

const sqliteDamaged = (file: string, cause?: unknown): DatabaseFailure =>
  new DatabaseFailure(
    'damaged',
    'The database file is damaged or not a database: stop Patchbay and restore it from a backup.',
    { cause, operatorNote: file },
  )

export const sqliteEmpty = (file: string): DatabaseFailure =>
  new DatabaseFailure(
    'damaged',
    'The database file is empty (0 bytes): restore it from a backup, or delete it to start with a new database.',
    { operatorNote: file },
  )

/** Codes: https://sqlite.org/rescode.html */
const sqliteFailureOf = (error: unknown, file: string): AppError | undefined => {
  const { code } = faultOf(error)
  const options = { cause: error, operatorNote: file }
  if (isSqliteBusy(error)) return databaseBusy(error)
  if (/^SQLITE_FULL/.test(code) || code === 'SQLITE_IOERR_SHMSIZE') {
    return diskFull(options)
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return sqliteDamaged(file, error)
  }
  const advice = 'check the file permissions and the disk'
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|AUTH|NOLFS)/.test(code)) {
    const message = `The database file cannot be read or written (${code}): ${advice}.`
    return new DatabaseFailure('unwritable', message, options)
  }
  return undefined
}

const POSTGRES_DISK_FULL = '53100'
/**
 * Classes of SQLSTATE codes: connection, authorization, missing database, resources, and operator intervention. Source:
 * PostgreSQL, appendix A.
 */
const POSTGRES_GONE = /^(08|28|3D000|53|57P)/
const SOCKET_GONE = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EADDRNOTAVAIL)/
/** Connection failures without a code: the adapter's kinds and `pg`'s messages. */
const KIND_GONE = /^(ConnectionClosed|DatabaseNotReachable|SocketTimeout|TlsConnectionError)$/
const MESSAGE_GONE =
  /connection (terminated|ended|error)|timeout exceeded when trying to connect|query read timeout|not queryable/i

const postgresFailureOf = (error: unknown): AppError | undefined => {
  const { kind, code, message } = faultOf(error)
  const options = { cause: error, operatorNote: message }
  if (code === POSTGRES_DISK_FULL) {
    return diskFull(options)
  }
  const isGone =
    POSTGRES_GONE.test(code) || SOCKET_GONE.test(code) || KIND_GONE.test(kind) || MESSAGE_GONE.test(message)
  return isGone ? databaseUnreachable(options) : undefined
}

/** Prisma's code for a transaction that took too long or could not start in time. */
const TRANSACTION_EXPIRED = 'P2028'

/**
 * Converts a failure of the database itself to an AppError: `unavailable` (busy, unreachable or damaged) or
 * `storage_full`. Returns errors about the statement unchanged.
 */
const toDatabaseFailure = (error: unknown, target: DatabaseTarget): unknown => {
  if (error instanceof AppError) return error
  // Prisma wraps errors that have a code, so an AppError from our adapter arrives as the cause.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause
  if (prismaCodeOf(error) === TRANSACTION_EXPIRED) return databaseBusy(error)
  return (target.kind === 'sqlite' ? sqliteFailureOf(error, target.file) : postgresFailureOf(error)) ?? error
}

/**
 * Runs `work` and rethrows failures of the database itself as AppErrors (see `toDatabaseFailure`). Calls `onFailure`
 * with those that need a repair.
 */
export const namingFailures = async <T>(
  target: DatabaseTarget,
  work: () => Promise<T>,
  onFailure?: (failure: DatabaseFailure) => void,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const failure = toDatabaseFailure(error, target)
    if (failure instanceof DatabaseFailure) onFailure?.(failure)
    throw failure
  }
}
