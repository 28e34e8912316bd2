import { type Command, CommanderError } from 'commander'
import { AppError } from '../kernel/index.ts'
import { MigrationError } from '../platform/db/index.ts'
import { MasterKeyError } from '../platform/master-keys.ts'
import { SealError } from '../platform/sealing.ts'
import { SettingsError } from '../platform/settings.ts'

const SUCCESS = 0
const FAILURE = 1
const BAD_USAGE = 2

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** What went wrong, for the person at the terminal: a line each, never a stack trace. */
const linesOf = (error: unknown): readonly string[] => {
  if (error instanceof SettingsError) return error.lines
  if (error instanceof AppError) {
    return [[error.message, ...(error.errors ?? []).map(({ path, message }) => `${path} ${message}`)].join(' ')]
  }
  if (error instanceof MigrationError || error instanceof MasterKeyError || error instanceof SealError) {
    return [error.message]
  }
  const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
  if (codeOf(error) === 'EADDRINUSE') {
    return ['The port is in use already: stop what uses it, or set PATCHBAY_PORT to another.']
  }
  if (codeOf(error) === 'EACCES') return [`Not allowed: ${reason}. Make the data folder writable for this user.`]
  return [`Something failed that should not: ${reason}`]
}

/** Runs one command and answers the exit code: 0 on success, 1 on failure, 2 on bad usage. */
export const runProgram = async (program: Command, argv: readonly string[]): Promise<number> => {
  try {
    await program.parseAsync([...argv])
    return Number(process.exitCode ?? SUCCESS)
  } catch (error) {
    // Commander has printed its own line by now; --help and --version come here too, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : BAD_USAGE
    for (const line of linesOf(error)) process.stderr.write(`patchbay: ${line}\n`)
    return FAILURE
  }
}
