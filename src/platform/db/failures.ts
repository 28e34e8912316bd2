import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../kernel/index.ts'

/** How long a write waits for the database, tries included, before it gives up. */
export const DATABASE_WAIT_MS = 5_000
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 100

/** What a driver said, as its adapter hands it on. */
type DriverFault = { kind: string; code: string; message: string }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An adapter's error holds what the driver said in `cause`; Prisma's own holds the adapter's in `meta`. */
export const driverFaultOf = (error: unknown): DriverFault | undefined => {
  if (!isRecord(error)) return undefined
  if (isRecord(error.meta) && isRecord(error.meta.driverAdapterError))
    return driverFaultOf(error.meta.driverAdapterError)
  if (error.name !== 'DriverAdapterError' || !isRecord(error.cause)) return undefined
  const { kind, originalCode, code, originalMessage, message } = error.cause
  return {
    kind: textOf(kind),
    code: textOf(originalCode) || textOf(code),
    message: textOf(originalMessage) || textOf(message),
  }
}

/** The code of one of Prisma's known request errors. */
const prismaCodeOf = (error: unknown): string | undefined =>
  isRecord(error) && error.name === 'PrismaClientKnownRequestError' ? textOf(error.code) : undefined

/** Another row holds the same unique value. */
export const isUniqueViolation = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2002' || driverFaultOf(error)?.kind === 'UniqueConstraintViolation'

/** The row to update or delete, or one to connect to, is not there. */
export const isRowMissing = (error: unknown): boolean => prismaCodeOf(error) === 'P2025'

/** A row that is referred to would go, or one is referred to that is not there. */
export const isForeignKeyViolation = (error: unknown): boolean => prismaCodeOf(error) === 'P2003'

/** Two transactions were in each other's way (PostgreSQL's serialization failure or deadlock): trying again helps. */
export const isConflict = (error: unknown): boolean =>
  prismaCodeOf(error) === 'P2034' || driverFaultOf(error)?.kind === 'TransactionWriteConflict'

export const databaseBusy = (cause?: unknown): AppError =>
  new AppError('unavailable', 'the database is busy: try again', { cause, retryAfterSeconds: 1 })

/**
 * Runs `attempt` until it succeeds, fails with what is not worth another try, or `deadline` (of `performance.now()`)
 * is over: then it throws an AppError `unavailable`. Waits between tries without blocking the thread.
 */
export const retryUntil = async <T>(
  deadline: number,
  isWorthAnother: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> => {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isWorthAnother(error)) throw error
      if (performance.now() + pauseMs > deadline) throw databaseBusy(error)
      await delay(pauseMs * (0.5 + Math.random()))
    }
  }
}
