import { AppError } from '../kernel/errors.ts'
import type { DatabaseTarget } from './target.ts'

/** What a driver said: `kind` is the adapter's name for it, `code` the driver's (SQLite's name, PostgreSQL's state). */
type DriverFault = { kind: string; code: string; message: string }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Prisma's errors hold the adapter's in `meta`, which holds what the driver said in `cause`; a driver's own are bare. */
const faultOf = (error: unknown): DriverFault => {
  if (!isRecord(error)) return { kind: '', code: '', message: textOf(error) }
  if (isRecord(error.meta) && isRecord(error.meta.driverAdapterError)) return faultOf(error.meta.driverAdapterError)
  const said = error.name === 'DriverAdapterError' && isRecord(error.cause) ? error.cause : error
  return {
    kind: textOf(said.kind),
    code: textOf(said.originalCode) || textOf(said.code),
    message: textOf(said.originalMessage) || textOf(said.message) || textOf(said.kind) || textOf(said.code),
  }
}

/** The code of one of Prisma's known request errors. */
const prismaCodeOf = (error: unknown): string =>
  isRecord(error) && error.name === 'PrismaClientKnownRequestError' ? textOf(error.code) : ''

/** Another row holds the same unique value. */
export const isUniqueViolation = (error: unknown): boolean => prismaCodeOf(error) === 'P2002'

/** A row that others refer to was to go, or one was referred to that is not there. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2003' || faultOf(error).kind === 'ForeignKeyConstraintViolation'

/** Two transactions were in each other's way (PostgreSQL: serialization failure, deadlock): trying again helps. */
export const isConflict = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2034' || faultOf(error).kind === 'TransactionWriteConflict'

/** Another connection holds SQLite's lock. */
export const isSqliteBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(faultOf(error).code)

export const databaseBusy = (cause?: unknown): AppError =>
  new AppError('unavailable', 'The database is busy: try again in a moment.', { cause, retryAfterSeconds: 1 })

const DISK_FULL = 'The disk that holds the database is full: nothing can be changed until there is room.'

/** Codes: https://sqlite.org/rescode.html */
const sqliteFailureOf = (error: unknown, file: string): AppError | undefined => {
  const { code } = faultOf(error)
  const options = { cause: error, operatorNote: file }
  if (isSqliteBusy(error)) return databaseBusy(error)
  if (/^SQLITE_FULL/.test(code) || code === 'SQLITE_IOERR_SHMSIZE') {
    return new AppError('storage_full', DISK_FULL, options)
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    const advice = 'stop Patchbay and restore it from a backup'
    return new AppError('unavailable', `The database file is damaged or no database: ${advice}.`, options)
  }
  const advice = 'see that this user may, and that the disk is sound'
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|AUTH|NOLFS)/.test(code)) {
    return new AppError('unavailable', `The database file cannot be read or written (${code}): ${advice}.`, options)
  }
  return undefined
}

const POSTGRES_DISK_FULL = '53100'
/** Connection, authorization, no such database, resources, operator intervention: PostgreSQL, appendix A. */
const POSTGRES_GONE = /^(08|28|3D000|53|57P)/
const SOCKET_GONE = /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EADDRNOTAVAIL)/
/** The same without a code: what the adapter names, and what `pg` says of its connections. */
const KIND_GONE = /^(ConnectionClosed|DatabaseNotReachable|SocketTimeout|TlsConnectionError)$/
const MESSAGE_GONE = /connection (terminated|ended|error)|timeout exceeded when trying to connect|not queryable/i

const postgresFailureOf = (error: unknown): AppError | undefined => {
  const { kind, code, message } = faultOf(error)
  const options = { cause: error, operatorNote: message }
  if (code === POSTGRES_DISK_FULL) {
    return new AppError('storage_full', DISK_FULL, options)
  }
  const isGone =
    POSTGRES_GONE.test(code) || SOCKET_GONE.test(code) || KIND_GONE.test(kind) || MESSAGE_GONE.test(message)
  if (!isGone) return undefined
  return new AppError('unavailable', 'PostgreSQL cannot be used at the moment.', { ...options, retryAfterSeconds: 1 })
}

/** Prisma rolled back a transaction that took too long, or did not get to begin it. */
const TRANSACTION_EXPIRED = 'P2028'

/**
 * What is wrong with the database as such, as an AppError: `unavailable` (busy, gone, damaged) or `storage_full`. An
 * error that is about the statement comes back as it is.
 */
const toDatabaseFailure = (error: unknown, target: DatabaseTarget): unknown => {
  if (error instanceof AppError) return error
  // Prisma makes an error with a code its own, so what our adapter found itself travels as a cause.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause
  if (prismaCodeOf(error) === TRANSACTION_EXPIRED) return databaseBusy(error)
  return (target.kind === 'sqlite' ? sqliteFailureOf(error, target.file) : postgresFailureOf(error)) ?? error
}

/** Runs `work`; what is wrong with the database as such is thrown as `toDatabaseFailure` names it. */
export const namingFailures = async <T>(target: DatabaseTarget, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw toDatabaseFailure(error, target)
  }
}
