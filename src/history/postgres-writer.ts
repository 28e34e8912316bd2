import { Client, DatabaseError } from 'pg'
import { toPgConfig } from '../lib/db/postgres.ts'
import type { PostgresTarget } from '../lib/db/target.ts'
import { type ExecutionRow, POSITION } from './execution-row.ts'
import { ENTER_ON_POSTGRES, type FailedCallRow, failedCallsOf } from './failed-calls.ts'
import { inTransaction } from './in-transaction.ts'
import { ADD_TOKENS, INSERT_BODIES, INSERT_EXECUTIONS, INSERT_GAPS } from './postgres-statements.ts'
import {
  type BatchWriter,
  type MissingReason,
  type RecordingBatch,
  type RefusedRow,
  type TokensRow,
  toSummedTokens,
  type WriteOutcome,
} from './recording-batch.ts'
import { type ClientNames, createCallSums, createClientNames, type SummedCall, toSummedCall } from './sums/call-sums.ts'
import { storePostgresSums } from './sums/postgres-sums.ts'
import { doPostgresTask } from './upkeep/postgres-tasks.ts'

/** Time without a response after which the database server is considered gone. */
const QUERY_TIMEOUT_MS = 10_000
/** Shorter than PostgreSQL's deadlock_timeout of one second, so that a batch yields to a deletion. */
const LOCK_TIMEOUT_MS = 500

/**
 * Returns whether the values of a row caused the error: a data exception or a constraint violation (PostgreSQL,
 * appendix A, classes 22 and 23).
 */
const isRowAtFault = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')

const reasonOf = (error: unknown): MissingReason => {
  const code = error instanceof DatabaseError ? error.code : undefined
  // lock_not_available, deadlock_detected or serialization_failure. 53100 is disk_full.
  if (code === '55P03' || code === '40P01' || code === '40001') return 'the database was locked'
  return code === '53100' ? 'the database was full' : 'the database was unavailable'
}

/** A row and its tokens, which are null if they have not been counted. */
type CountedRow = readonly [
  ...ExecutionRow,
  ...([number | null, number, number, 0 | 1, number] | [null, null, null, null, null]),
]

const toCountedRow = (row: ExecutionRow, tokens: TokensRow | undefined): CountedRow => {
  if (tokens === undefined) return [...row, null, null, null, null, null]
  const [, ...amounts] = tokens
  return [...row, ...amounts]
}

type Written = { kept: number; refused: RefusedRow[] }

/** Creates the statements of a batch. `counts` are the tokens by execution id. */
const createBatch = (client: Client, clientNames: ClientNames, tokens: TokensRow[]) => {
  const counts = new Map(tokens.map(row => [row[0], row]))

  /** Inserts rows and adds those that are new to the sums. Returns the number of rows whose server exists. */
  const insertAll = (rows: readonly ExecutionRow[]): Promise<number> =>
    inTransaction(client, async () => {
      const counted = rows.map(row => toCountedRow(row, counts.get(row[POSITION.id])))
      const values = [JSON.stringify(counted)]
      const [found] = (
        await client.query<{ kept: number; inserted: string[] | null }>({ ...INSERT_EXECUTIONS, values })
      ).rows
      const inserted = new Set(found?.inserted)
      const sums = createCallSums(clientNames)
      for (const row of rows) {
        const id = row[POSITION.id]
        if (!inserted.has(id)) continue
        const counted = counts.get(id)
        sums.addCall(toSummedCall(row), counted && toSummedTokens(counted))
      }
      await storePostgresSums(client, sums, Date.now())
      return found?.kept ?? 0
    })

  const insertExecutions = async (rows: readonly ExecutionRow[]): Promise<Written> => {
    if (rows.length === 0) return { kept: 0, refused: [] }
    try {
      return { kept: await insertAll(rows), refused: [] }
    } catch (error) {
      if (!isRowAtFault(error)) throw error
      const [first] = rows
      if (first !== undefined && rows.length === 1) {
        const { message } = error
        return {
          kept: 0,
          refused: [{ serverId: first[POSITION.serverId], startedAt: first[POSITION.startedAt], message }],
        }
      }
      // Halving finds bad rows in a few attempts.
      const middle = rows.length >> 1
      const left = await insertExecutions(rows.slice(0, middle))
      const right = await insertExecutions(rows.slice(middle))
      return { kept: left.kept + right.kept, refused: [...left.refused, ...right.refused] }
    }
  }

  return {
    insertExecutions,
    /** Adds tokens to rows of earlier batches. The rows of this one already have theirs, so they are skipped. */
    addTokens: async (): Promise<void> => {
      if (tokens.length === 0) return
      await inTransaction(client, async () => {
        const { rows } = await client.query<SummedCall & { id: string }>({
          ...ADD_TOKENS,
          values: [JSON.stringify(tokens)],
        })
        const sums = createCallSums(clientNames)
        for (const row of rows) {
          const counted = counts.get(row.id)
          if (counted !== undefined) sums.addTokens(row, toSummedTokens(counted))
        }
        await storePostgresSums(client, sums, Date.now())
      })
    },
  }
}

/** Puts failed calls into the outbox. Leaves out those that the database refuses: the history is worth more. */
const enterFailedCalls = async (client: Client, calls: readonly FailedCallRow[]): Promise<void> => {
  if (calls.length === 0) return
  try {
    await client.query({ ...ENTER_ON_POSTGRES, values: [JSON.stringify(calls)] })
  } catch (error) {
    if (!isRowAtFault(error)) throw error
    const middle = calls.length >> 1
    if (middle === 0) return
    await enterFailedCalls(client, calls.slice(0, middle))
    await enterFailedCalls(client, calls.slice(middle))
  }
}

/**
 * Creates a writer with its own connection. It writes each batch with a few statements, and reconnects after a
 * failure.
 */
export const createPostgresWriter = (target: PostgresTarget): BatchWriter => {
  let connection: Client | undefined
  const clientNames = createClientNames()

  const disconnect = async (): Promise<void> => {
    const closing = connection
    connection = undefined
    await closing?.end().catch(() => undefined)
  }

  const connect = async (): Promise<Client> => {
    if (connection !== undefined) return connection
    const client = new Client({
      ...toPgConfig(target),
      application_name: 'patchbay history',
      query_timeout: QUERY_TIMEOUT_MS,
    })
    // Without a listener, a lost connection would end the thread.
    client.on('error', () => {
      if (connection === client) connection = undefined
    })
    connection = client
    await client.connect()
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`)
    return client
  }

  const write = async ({ executions, bodies, gaps, tokens }: RecordingBatch): Promise<WriteOutcome> => {
    const client = await connect()
    const batch = createBatch(client, clientNames, tokens)
    const { kept, refused } = await batch.insertExecutions(executions)
    if (bodies.length > 0) await client.query({ ...INSERT_BODIES, values: [JSON.stringify(bodies)] })
    if (gaps.length > 0) await client.query({ ...INSERT_GAPS, values: [JSON.stringify(gaps)] })
    await enterFailedCalls(client, failedCallsOf(executions))
    await batch.addTokens()
    return { kind: 'written', dropped: executions.length - kept - refused.length, refused }
  }

  return {
    write: async batch => {
      try {
        return await write(batch)
      } catch (error) {
        const reason = reasonOf(error)
        // Do not wait for it, because a server that is gone never responds.
        if (reason !== 'the database was locked') void disconnect()
        return { kind: 'failed', reason, message: String(error) }
      }
    },
    run: async task => {
      try {
        return { kind: 'task_done', result: await doPostgresTask(await connect(), clientNames, task) }
      } catch (error) {
        if (reasonOf(error) !== 'the database was locked') void disconnect()
        return { kind: 'task_failed', message: String(error) }
      }
    },
    close: disconnect,
  }
}
