import { MigrationError } from '../lib/db/migrations.ts'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import { MasterKeyError } from '../lib/process/master-keys.ts'
import { SealError } from '../lib/process/sealing.ts'
import { SettingsError } from '../lib/process/settings.ts'
import { printable } from './output.ts'

/** Returns the code of a Node error, such as EPIPE, or undefined for other errors. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Maximum length of the text shown for an unexpected error. */
const MAX_REASON_CHARACTERS = 500

/** Operating system error codes for a folder or file that cannot be created or written. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG'])

/**
 * Returns whether a folder could not be created because its parent does not exist. An example is a link to a disk that
 * is not mounted.
 */
const hasNoParent = (error: unknown): boolean =>
  codeOf(error) === 'ENOENT' && error instanceof Error && 'syscall' in error && error.syscall === 'mkdir'

/** Adds the errors that the message does not contain already, and the note. */
export const withDetails = (message: string, errors: readonly FieldError[] = [], note?: string): string => {
  const details = errors
    .filter(error => !message.includes(error.message))
    .map(error => `${error.path} ${error.message}`)
  const notes = [...details, ...(note === undefined ? [] : [note])]
  return notes.length === 0 ? message : `${message.replace(/\.$/, '')} (${notes.join('; ')}).`
}

const linesOf = (error: unknown): readonly string[] => {
  if (error instanceof SettingsError) return error.lines
  if (error instanceof AppError) return [withDetails(error.message, error.errors, error.operatorNote)]
  if (error instanceof MigrationError || error instanceof MasterKeyError || error instanceof SealError) {
    return [error.message]
  }
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS)
  const code = codeOf(error) ?? ''
  if (code === 'ENOSPC') return [`The disk is full: ${reason}.`]
  if (NOT_WRITABLE.has(code) || hasNoParent(error)) {
    return [`The data folder is not writable (${reason}): fix that, or set DATABASE_URL to a file elsewhere.`]
  }
  return [`Unexpected error: ${reason}`]
}

/** Describes an error for the person at the terminal: one line per problem, never a stack trace. */
export const failureLines = (error: unknown): string[] =>
  linesOf(error).map(line => printable(line.replace(/\s*\n\s*/g, ' ')))
