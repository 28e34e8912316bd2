import { openRawSqlite, type SqliteTarget } from '../platform/db/index.ts'
import {
  type BatchWriter,
  EXECUTION_COLUMNS,
  type ExecutionRow,
  GAP_COLUMNS,
  type GapRow,
  type MissingReason,
  type RecordingBatch,
  type RefusedRow,
  type WriteOutcome,
} from './recording-batch.ts'
import { createTimeWriter } from './sqlite-time.ts'

/** How long a write waits for another connection's. It holds up this thread alone. */
const BUSY_TIMEOUT_MS = 1_000

/** Rows of one statement: each takes a fifth less work than alone; more at once gain nothing. */
const ROWS_AT_ONCE = 8

const insertInto = (table: string, columns: readonly string[], rows = 1): string => {
  const names = [...columns, 'createdAt', 'updatedAt'].map(name => `"${name}"`)
  const row = `(${names.map(() => '?').join(', ')})`
  return `INSERT INTO "${table}" (${names.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ON CONFLICT DO NOTHING`
}

/** Stored, of a server that is gone, or of a kind that the database never takes. */
type RowFate = 'stored' | 'dropped' | { refused: string }

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** What one row's failure says of that row alone; anything else ends the transaction. */
const fateOf = (error: unknown): RowFate => {
  const code = codeOf(error)
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return 'dropped'
  if (code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG') return { refused: code }
  // No valid time, or a value that cannot be bound.
  if (error instanceof RangeError || error instanceof TypeError) return { refused: error.message }
  throw error
}

const reasonOf = (code: string): MissingReason => {
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'the database was locked'
  return code === 'SQLITE_FULL' ? 'the database was full' : 'the database was unavailable'
}

const open = (target: SqliteTarget) => {
  // NORMAL: a record may be lost to a power cut, never to the end of the process.
  const db = openRawSqlite(target, { busyTimeoutMs: BUSY_TIMEOUT_MS, synchronous: 'NORMAL' })
  const toTimeText = createTimeWriter()
  const insertExecution = db.prepare(insertInto('Execution', EXECUTION_COLUMNS))
  const insertExecutions = db.prepare(insertInto('Execution', EXECUTION_COLUMNS, ROWS_AT_ONCE))
  const insertGap = db.prepare(insertInto('ExecutionGap', GAP_COLUMNS))

  const valuesOf = (row: ExecutionRow, now: string): (string | number | null)[] => {
    const [id, serverId, instanceId, tool, userId, client, startedAt, ...rest] = row
    return [id, serverId, instanceId, tool, userId, client, toTimeText(startedAt), ...rest, now, now]
  }

  const storeExecution = (row: ExecutionRow, now: string): RowFate => {
    try {
      insertExecution.run(valuesOf(row, now))
      return 'stored'
    } catch (error) {
      return fateOf(error)
    }
  }

  /** True when all of them are stored. Else none is: one of them is at fault, and each is to be tried alone. */
  const storeTogether = (rows: readonly ExecutionRow[], now: string): boolean => {
    if (rows.length < ROWS_AT_ONCE) return false
    try {
      insertExecutions.run(rows.flatMap(row => valuesOf(row, now)))
      return true
    } catch (error) {
      // Throws what is no row's fault.
      fateOf(error)
      return false
    }
  }

  const storeGap = ([id, serverId, missing, from, to, reason]: GapRow, now: string): RowFate => {
    try {
      insertGap.run(id, serverId, missing, toTimeText(from), toTimeText(to), reason, now, now)
      return 'stored'
    } catch (error) {
      return fateOf(error)
    }
  }

  const storeBatch = db.transaction(({ executions, gaps }: RecordingBatch): WriteOutcome => {
    const now = toTimeText(Date.now())
    const refused: RefusedRow[] = []
    let dropped = 0
    for (let first = 0; first < executions.length; first += ROWS_AT_ONCE) {
      const rows = executions.slice(first, first + ROWS_AT_ONCE)
      if (storeTogether(rows, now)) continue
      for (const row of rows) {
        const fate = storeExecution(row, now)
        if (fate === 'dropped') dropped++
        else if (fate !== 'stored') refused.push({ serverId: row[1], startedAt: row[6], message: fate.refused })
      }
    }
    for (const gap of gaps) storeGap(gap, now)
    return { kind: 'written', dropped, refused }
  })

  return { store: storeBatch.immediate, close: () => db.close() }
}

/** Writes each batch in one transaction over a connection of its own, opened again after it failed. */
export const createSqliteWriter = (target: SqliteTarget): BatchWriter => {
  let connection: ReturnType<typeof open> | undefined
  const disconnect = (): void => {
    connection?.close()
    connection = undefined
  }

  return {
    write: async batch => {
      try {
        connection ??= open(target)
        return connection.store(batch)
      } catch (error) {
        const reason = reasonOf(codeOf(error))
        if (reason !== 'the database was locked') disconnect()
        return { kind: 'failed', reason, message: String(error) }
      }
    },
    close: async () => disconnect(),
  }
}
