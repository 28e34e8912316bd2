import { AppError } from '../../kernel/index.ts'
import { driverFaultOf } from './failures.ts'

const codeOf = (error: unknown): string =>
  driverFaultOf(error)?.code ?? (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Another connection holds the lock. */
export const isSqliteBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

/**
 * What is wrong with the file, or the error itself when it is about the statement. Codes: https://sqlite.org/rescode.html
 */
export const toSqliteFailure = (error: unknown, file: string): unknown => {
  const code = codeOf(error)
  const options = { cause: error }
  if (/^SQLITE_FULL/.test(code) || code === 'SQLITE_IOERR_SHMSIZE') {
    return new AppError('storage_full', `the disk that holds the database is full: ${file}`, options)
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    const advice = 'stop Patchbay and restore the file from a backup'
    return new AppError('unavailable', `the database file is damaged or no database: ${file}: ${advice}`, options)
  }
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|AUTH|NOLFS)/.test(code)) {
    return new AppError('unavailable', `the database file cannot be read or written (${code}): ${file}`, options)
  }
  return error
}
