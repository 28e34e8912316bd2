import { AppError } from '../kernel/index.ts'
import { MigrationError } from '../platform/db/index.ts'
import { MasterKeyError } from '../platform/master-keys.ts'
import { SealError } from '../platform/sealing.ts'
import { SettingsError } from '../platform/settings.ts'
import { printable } from './printable.ts'

/** Of Node's own errors, such as EPIPE. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Of an error that nobody thought of: it may be of any length. */
const MAX_REASON_CHARACTERS = 500

/** What the operating system says where a folder or file cannot be made or written. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG'])

/** A folder whose parent is no folder that is there: a link that leads nowhere, such as to a disk that is not mounted. */
const hasNoParent = (error: unknown): boolean =>
  codeOf(error) === 'ENOENT' && error instanceof Error && 'syscall' in error && error.syscall === 'mkdir'

const linesOfAppError = ({ message, errors = [], operatorNote }: AppError): string => {
  const details = errors
    .filter(error => !message.includes(error.message))
    .map(error => `${error.path} ${error.message}`)
  const notes = [...details, ...(operatorNote === undefined ? [] : [operatorNote])]
  return notes.length === 0 ? message : `${message.replace(/\.$/, '')} (${notes.join('; ')}).`
}

const linesOf = (error: unknown): readonly string[] => {
  if (error instanceof SettingsError) return error.lines
  if (error instanceof AppError) return [linesOfAppError(error)]
  if (error instanceof MigrationError || error instanceof MasterKeyError || error instanceof SealError) {
    return [error.message]
  }
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS)
  const code = codeOf(error) ?? ''
  if (code === 'ENOSPC') return [`The disk is full: ${reason}.`]
  if (NOT_WRITABLE.has(code) || hasNoParent(error)) {
    return [`The data folder cannot be written (${reason}): mend that, or set DATABASE_URL to a file elsewhere.`]
  }
  return [`Something failed that should not: ${reason}`]
}

/** What went wrong, for the person at the terminal: a line each, never a stack trace. */
export const failureLines = (error: unknown): string[] =>
  linesOf(error).map(line => printable(line.replace(/\s*\n\s*/g, ' ')))
