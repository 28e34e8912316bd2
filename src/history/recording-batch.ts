import type { ExecutionTokens } from './execution-record.ts'
import type { ExecutionRow } from './execution-row.ts'
import type { SummedTokens } from './sums/amounts.ts'
import type { HistoryTask, TaskResult } from './upkeep/history-tasks.ts'

/** A gap as sent to the worker, with times in milliseconds since the epoch. */
export type GapRow = [id: string, serverId: string, missing: number, from: number, to: number, reason: string]

/** Tokens of a result as sent to the worker; the call's row is in this batch or an earlier one. */
export type TokensRow = [
  executionId: string,
  before: number | null,
  sent: number,
  otherwise: number,
  estimated: 0 | 1,
  size: number,
]

export const GAP_COLUMNS = ['id', 'serverId', 'missing', 'from', 'to', 'reason'] as const

/** The encrypted bodies of a call, as sent to the worker with the call's row. */
export type BodiesRow = [executionId: string, content: string, keyId: string]

/** A batch for the worker. It may be sent again: existing rows are skipped, so each row is counted once. */
export type RecordingBatch = { executions: ExecutionRow[]; bodies: BodiesRow[]; gaps: GapRow[]; tokens: TokensRow[] }

/** Why records are missing, as shown on the server's page. */
export type MissingReason =
  | 'the queue was full'
  | 'the database was full'
  | 'the database was damaged'
  | 'the database was locked'
  | 'the database was unavailable'
  | 'the database refused the record'
  | 'the recorder stopped'

/** A row that the database can never store, such as one with a number out of range. */
export type RefusedRow = { serverId: string; startedAt: number; message: string }

/**
 * The outcome of a batch. Written: all rows are stored, except those of deleted servers (dropped) and refused ones.
 * Failed: nothing is known to be stored, and the whole batch may be sent again.
 */
export type WriteOutcome =
  | { kind: 'written'; dropped: number; refused: RefusedRow[] }
  | { kind: 'failed'; reason: MissingReason; message: string }

/** Sent by the worker once it has loaded everything that a write needs. */
export const READY = 'ready'

export type WorkerRequest =
  | { kind: 'write'; batch: RecordingBatch }
  | { kind: 'task'; task: HistoryTask }
  | { kind: 'close' }

/** The outcome of a task. Failed: nothing is known to be done. */
export type TaskOutcome = { kind: 'task_done'; result: TaskResult } | { kind: 'task_failed'; message: string }

/** Writes batches, and does tasks between them, over its own connection. `write` and `run` never throw. */
export type BatchWriter = {
  write: (batch: RecordingBatch) => Promise<WriteOutcome>
  run: (task: HistoryTask) => Promise<TaskOutcome>
  close: () => Promise<void>
}

/** Returns the tokens of a row that are summed. */
export const toSummedTokens = ([, , sent, otherwise]: TokensRow): SummedTokens => ({ sent, otherwise })

export const toTokensRow = ({
  executionId,
  before,
  sent,
  otherwise,
  size,
  isEstimated,
}: ExecutionTokens): TokensRow => [executionId, before ?? null, sent, otherwise, isEstimated ? 1 : 0, size]
