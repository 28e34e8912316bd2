import { openRawSqlite } from '../lib/db/sqlite.ts'
import { toTimeText } from '../lib/db/sqlite-time.ts'
import type { SqliteTarget } from '../lib/db/target.ts'
import { newExecutionId } from './execution-id.ts'
import { EXECUTION_COLUMNS, type ExecutionRow, POSITION } from './execution-row.ts'
import { ENTER_ON_SQLITE, type FailedCallRow, failedCallsOf } from './failed-calls.ts'
import {
  type BatchWriter,
  type BodiesRow,
  GAP_COLUMNS,
  type GapRow,
  type MissingReason,
  type RecordingBatch,
  type RefusedRow,
  type TokensRow,
  toSummedTokens,
  type WriteOutcome,
} from './recording-batch.ts'
import { type CallSums, createCallSums, createClientNames, type SummedCall, toSummedCall } from './sums/call-sums.ts'
import { createSqliteSums } from './sums/sqlite-sums.ts'
import { createToolDaySums, isNameKnown, isSuccess, type ToolDaySums } from './tool-day-sums.ts'
import { createSqliteTasks } from './upkeep/sqlite-tasks.ts'

/** How long a write waits for another connection's lock. Waiting blocks only this thread. */
const BUSY_TIMEOUT_MS = 1_000

/** Number of rows per statement. With eight, a row takes a fifth less time than alone. More rows bring no benefit. */
const ROWS_AT_ONCE = 8

/** Columns of a row, its tokens, which are null if they have not been counted, and its server's organization. */
const INSERTED_COLUMNS = [...EXECUTION_COLUMNS, 'tokensBefore', 'tokensSent', 'tokensEstimated', 'organizationId']

const insertInto = (table: string, columns: readonly string[], rows = 1): string => {
  const names = [...columns, 'createdAt', 'updatedAt'].map(name => `"${name}"`)
  const row = `(${names.map(() => '?').join(', ')})`
  return `INSERT INTO "${table}" (${names.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ON CONFLICT DO NOTHING`
}

/** Skips rows that already have tokens. */
const ADD_TOKENS = `UPDATE "Execution" SET "tokensBefore" = ?, "tokensSent" = ?, "tokensEstimated" = ?, "updatedAt" = ?
  WHERE "id" = ? AND "tokensSent" IS NULL RETURNING "serverId", "instanceId", "tool", "userId", "client", "startedAt",
    "durationMs", "outcome", "status", "result"`
type CountedCall = Omit<SummedCall, 'startedAt'> & { startedAt: string }

const toSummed = (call: CountedCall): SummedCall => ({ ...call, startedAt: Date.parse(call.startedAt) })

const ADD_TO_DAY = `INSERT INTO "ToolDay"
  ("id", "serverId", "day", "tool", "calls", "counted", "estimated", "tokensSent", "tokensBefore", "succeeded", "largest", "createdAt", "updatedAt")
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT ("serverId", "day", "tool") DO UPDATE SET
    "calls" = "calls" + excluded."calls", "counted" = "counted" + excluded."counted",
    "estimated" = "estimated" + excluded."estimated",
    "tokensSent" = "tokensSent" + excluded."tokensSent", "tokensBefore" = "tokensBefore" + excluded."tokensBefore",
    "succeeded" = "succeeded" + excluded."succeeded", "largest" = MAX("largest", excluded."largest"),
    "updatedAt" = excluded."updatedAt"`

/** Returns the date in UTC. */
const dayOf = (time: number): string => toTimeText(time).slice(0, '2026-11-22'.length)

/** State while a batch is stored. `counts` are the tokens by execution id. */
type Batch = {
  counts: Map<string, TokensRow>
  days: ToolDaySums
  sums: CallSums
  organizationOf: (serverId: string) => string | null
}

const amountsOf = ([, , sent, otherwise, estimated, size]: TokensRow, status: number | null) => ({
  counted: 1,
  estimated,
  tokensSent: sent,
  tokensBefore: otherwise,
  ...(isSuccess(status) && { succeeded: 1, largest: size }),
})

/** The outcome for a row: stored, already present, dropped with its deleted server, or rejected by the database. */
type RowFate = 'stored' | 'known' | 'dropped' | { refused: string }

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Inserts rows and returns the outcome. Throws errors that the rows did not cause. */
const fateOf = (insert: () => { changes: number }): RowFate => {
  try {
    return insert().changes > 0 ? 'stored' : 'known'
  } catch (error) {
    const code = codeOf(error)
    if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return 'dropped'
    if (code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG') return { refused: code }
    // An invalid time, or a value that cannot be bound.
    if (error instanceof RangeError || error instanceof TypeError) return { refused: error.message }
    throw error
  }
}

const reasonOf = (code: string): MissingReason => {
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'the database was locked'
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'the database was damaged'
  return code === 'SQLITE_FULL' ? 'the database was full' : 'the database was unavailable'
}

const open = (target: SqliteTarget) => {
  // NORMAL means that a power failure may lose records but a process crash does not.
  const db = openRawSqlite(target, { busyTimeoutMs: BUSY_TIMEOUT_MS, synchronous: 'NORMAL' })
  const insertExecution = db.prepare(insertInto('Execution', INSERTED_COLUMNS))
  const insertExecutions = db.prepare(insertInto('Execution', INSERTED_COLUMNS, ROWS_AT_ONCE))
  const insertBodies = db.prepare(insertInto('CallBodies', ['executionId', 'content', 'keyId']))
  const insertGap = db.prepare(insertInto('ExecutionGap', GAP_COLUMNS))
  const addTokens = db.prepare<[number | null, number, 0 | 1, string, string], CountedCall>(ADD_TOKENS)
  const addToDay = db.prepare(ADD_TO_DAY)
  const enterFailedCall = db.prepare(ENTER_ON_SQLITE)
  const storeSums = createSqliteSums(db)
  const findOrganization = db.prepare<[string], string>('SELECT "organizationId" FROM "Server" WHERE "id" = ?').pluck()
  const clientNames = createClientNames()

  const parametersOf = (
    rows: readonly ExecutionRow[],
    { counts, organizationOf }: Batch,
    now: string,
  ): (string | number | null)[] => {
    const parameters: (string | number | null)[] = []
    for (const row of rows) {
      const first = parameters.length
      for (const value of row) parameters.push(value)
      parameters[first + POSITION.startedAt] = toTimeText(row[POSITION.startedAt])
      const [, before = null, sent = null, , estimated = null] = counts.get(row[POSITION.id]) ?? []
      parameters.push(before, sent, estimated, organizationOf(row[POSITION.serverId]), now, now)
    }
    return parameters
  }

  /**
   * Stores rows, in one statement if there are enough of them. If the statement fails because of an invalid row, stores
   * each row separately. If the batch was sent before, either all of its rows are already stored or none.
   */
  const storeExecutions = (rows: readonly ExecutionRow[], batch: Batch, now: string) => {
    if (rows.length === ROWS_AT_ONCE) {
      const fate = fateOf(() => insertExecutions.run(parametersOf(rows, batch, now)))
      if (fate === 'stored' || fate === 'known') return rows.map(row => ({ row, fate }))
    }
    return rows.map(row => ({ row, fate: fateOf(() => insertExecution.run(parametersOf([row], batch, now))) }))
  }

  /** Adds a new row and its tokens to the sums. */
  const countCall = (row: ExecutionRow, { counts, days, sums }: Batch): void => {
    const [id, serverId, instanceId, tool, , , startedAt, , outcome, status] = row
    const tokens = counts.get(id)
    counts.delete(id)
    sums.addCall(toSummedCall(row), tokens && toSummedTokens(tokens))
    if (!isNameKnown({ instanceId, outcome, tool })) return
    const key = { serverId, day: dayOf(startedAt), tool }
    days.add(key, { calls: 1, ...(tokens && amountsOf(tokens, status)) })
  }

  /** Adds tokens to a row of an earlier batch. */
  const storeTokens = (tokens: TokensRow, now: string, { days, sums }: Batch): void => {
    const [id, before, sent, , estimated] = tokens
    const found = addTokens.get(before, sent, estimated, now, id)
    // Undefined if the row is gone, was never stored, or already has tokens.
    if (found === undefined) return
    const call = toSummed(found)
    sums.addTokens(call, toSummedTokens(tokens))
    if (isNameKnown(call)) days.add({ ...call, day: dayOf(call.startedAt) }, amountsOf(tokens, call.status))
  }

  const storeDays = (days: ToolDaySums, now: string): void => {
    for (const { serverId, day, tool, ...sum } of days.list()) {
      const { calls, counted, estimated, tokensSent, tokensBefore, succeeded, largest } = sum
      const amounts = [calls, counted, estimated, tokensSent, tokensBefore, succeeded, largest]
      addToDay.run(newExecutionId(), serverId, day, tool, ...amounts, now, now)
    }
  }

  /** Looks up each server once per batch. Returns null for a deleted server, whose rows are dropped. */
  const createOrganizationLookup = () => {
    const known = new Map<string, string | null>()
    return (serverId: string): string | null => {
      const found = known.get(serverId) ?? findOrganization.get(serverId) ?? null
      known.set(serverId, found)
      return found
    }
  }

  /** Stores the bodies of a call, unless the call was dropped or refused. */
  const storeBodies = (row: BodiesRow, now: string): void => {
    fateOf(() => insertBodies.run(...row, now, now))
  }

  /** Stores a gap, unless its server is gone. */
  const storeGap = ([id, serverId, missing, from, to, reason]: GapRow, now: string): void => {
    fateOf(() => insertGap.run(id, serverId, missing, toTimeText(from), toTimeText(to), reason, now, now))
  }

  const storeEvent = ([id, serverId, startedAt, data]: FailedCallRow, now: string): void => {
    fateOf(() => enterFailedCall.run(id, data, toTimeText(startedAt), now, now, serverId))
  }

  const storeBatch = db.transaction(({ executions, bodies, gaps, tokens }: RecordingBatch): WriteOutcome => {
    const time = Date.now()
    const now = toTimeText(time)
    const refused: RefusedRow[] = []
    const batch: Batch = {
      counts: new Map(tokens.map(row => [row[0], row])),
      days: createToolDaySums(),
      sums: createCallSums(clientNames),
      organizationOf: createOrganizationLookup(),
    }
    let dropped = 0
    for (let first = 0; first < executions.length; first += ROWS_AT_ONCE) {
      const rows = executions.slice(first, first + ROWS_AT_ONCE)
      for (const { row, fate } of storeExecutions(rows, batch, now)) {
        if (fate === 'stored') countCall(row, batch)
        else if (fate === 'dropped') dropped++
        else if (fate !== 'known') {
          refused.push({ serverId: row[POSITION.serverId], startedAt: row[POSITION.startedAt], message: fate.refused })
        }
      }
    }
    for (const row of bodies) storeBodies(row, now)
    for (const gap of gaps) storeGap(gap, now)
    for (const row of failedCallsOf(executions)) storeEvent(row, now)
    for (const row of batch.counts.values()) storeTokens(row, now, batch)
    storeDays(batch.days, now)
    storeSums(batch.sums, time)
    return { kind: 'written', dropped, refused }
  })

  return { store: storeBatch.immediate, run: createSqliteTasks(db, clientNames), close: () => db.close() }
}

/**
 * Creates a writer with its own connection. It writes each batch in one transaction, and reopens the connection after a
 * failure.
 */
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
    run: async task => {
      try {
        connection ??= open(target)
        return { kind: 'task_done', result: connection.run(task) }
      } catch (error) {
        return { kind: 'task_failed', message: String(error) }
      }
    },
    close: async () => disconnect(),
  }
}
